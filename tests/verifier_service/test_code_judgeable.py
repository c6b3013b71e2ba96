"""Whether a test of `code` can be judged follows from its text; no program can choose it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.verifier_service.test_code import PLAN, Grader, asserts
from verifier_service.code.findings import Findings
from verifier_service.code.reasons import UNVERIFIABLE
from verifier_service.code.reference_tests import Tests, read_tests
from verifier_service.code.repeated_program import Plan

ODD = """
class Odd:
    def __init__(self, *a, **k): pass
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return self
    def __call__(self, *a, **k): return True
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __bool__(self): return True
    def __len__(self): return 3
    def __iter__(self): return iter([1, 2, 3])
    def __getitem__(self, key): return 1
    def __contains__(self, x): return True
    def __str__(self): return "a"
    def __add__(self, other): return self
    __radd__ = __sub__ = __rsub__ = __mul__ = __add__
"""
ALONE = """
class Alone(Odd):
    only = object.__new__(Odd)
    def __new__(cls, *a): return cls.only
"""
HASTY = dataclasses.replace(PLAN, limits=dataclasses.replace(PLAN.limits, cpu_seconds=0.5))
"""Limits of programs that must not pass: some never end."""
HOSTILE = {
    "an object that agrees": "{odd}\ndef {name}(*a, **k): return Odd()",
    "a list of such objects": "{odd}\ndef {name}(*a, **k): return [Odd(), Odd()]",
    "one object for all": "{odd}{alone}\n{name} = Alone",
    "a class": "{odd}\nclass {name}(Odd): pass",
    "a class of errors": "class {name}(Exception): pass",
    "errors": "class E(Exception): pass\ndef {name}(*a, **k): raise E({name})",
    "a function": "def {name}(*a, **k): return {name}",
    "a generator": "def {name}(*a, **k):\n    while True: yield {name}",
    "a coroutine": "async def {name}(*a, **k): return 1",
    "too much": "def {name}(*a, **k): return 'a' * 20_000_000",
    "what grows": "def {name}(*a, **k): return 'a' * 1_000_000",
    "endless nesting": "def {name}(*a, **k):\n    x = []\n    for _ in range(190): x = [x]\n"
    "    return x",
    "nothing": "def {name}(*a, **k): return None",
    "zero": "def {name}(*a, **k): return 0",
    "no program": "raise SystemExit(0)",
}
"""Values that a program may give for a name, to get no verdict or to be believed."""


@dataclass(frozen=True)
class Case:
    """Test code, a right program, and the names that a hostile one provides."""

    code: str
    honest: str
    names: tuple[str, ...] = ("f",)


VEC = """
class Vec:
    def __init__(self, x, y=0): self.x, self.y = x, y
    def __add__(self, other): return Vec(self.x + other.x, self.y + other.y)
    def __eq__(self, other): return (self.x, self.y) == (other.x, other.y)
    def __hash__(self): return hash((self.x, self.y))
    def __lt__(self, other): return self.x < other.x
    def __abs__(self): return self.x + self.y
    def __neg__(self): return Vec(-self.x, -self.y)
    def __bool__(self): return bool(self.x)
    def __contains__(self, x): return x in (self.x, self.y)
    def plus(self, other): return self + other
def vec(*a): return Vec(*a)
"""
STACK = """
class Stack:
    def __init__(self): self.data = []
    def push(self, x): self.data.append(x); return self
    def pop(self): return self.data.pop()
    def count(self, x): return self.data.count(x)
    def __len__(self): return len(self.data)
    def __getitem__(self, key): return self.data[key]
    def __iter__(self): return iter(self.data)
"""
CODEC = "def enc(x): return [x]\ndef dec(x): return x[0]"
ANIMALS = """
class Animal:
    def name(self): return type(self).__name__
class Dog(Animal): pass
class Cat(Animal): pass
def adopt(): return Dog()
class Lost(Exception): pass
class LostDog(Lost): pass
"""

SEARCH = "import re\ndef f(x): return re.search(r'(a)(?P<b>b+)', x)"
PAIR = (
    "from collections import namedtuple\nP = namedtuple('P', 'lo count')\n"
    "def f(x): return P(x, [x])"
)
ARRAY = "import numpy as np\ndef f(x): return np.array([[x, 2], [3, 4]])"
NODE = """
class Node:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next

def chain(*values):
    head = None
    for value in reversed(values):
        head = Node(value, head)
    return head

def listed(node):
    found = []
    while node:
        found.append(node.val)
        node = node.next
    return found

"""
"""Test code with a class whose objects cross by value."""
POINT = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0

"""
RECORDS = [
    Case(NODE + "assert listed(f(chain(1, 2))) == [0, 1, 2]", "def f(x): return Node(0, x)"),
    Case(
        NODE + "assert listed(f(chain(*range(3000)))) == list(range(1, 3000))",
        "def f(x): return x.next",
    ),
    Case(
        NODE + "h = chain(1, 2)\nassert f(h) == h.next and f(h) != h and f(h) in [h.next]",
        "def f(x): return x.next",
    ),
    Case(NODE + "h = chain(1)\nh.next = h\nassert f(h).next.val == 1", "def f(x): return x.next"),
    Case(
        NODE + "a, b = chain(1), chain(2)\nassert [n.val for n in f({a: 3, b: 1})] == [2, 1]",
        "def f(x): return sorted(x, key=x.get)",
    ),
    Case(NODE + "assert f(chain(3)).val == 4 and not f(None)", "def f(x): return x and Node(4)"),
    Case(
        NODE + "assert listed(f(Node(1))) == [1]",
        "class Node:\n    __slots__ = ('val', 'next')\ndef f(x): return x",
    ),
    Case(
        POINT + "assert f(Point(1)) == Point(2) and f(Point(3, 4)).y == 4",
        "def f(p): return Point(p.x + 1, p.y)",
    ),
    Case(POINT + "assert f(Point(1)) in {Point(1): 3}", "def f(p): return p"),
]
"""Objects of classes that the tests define and that only keep values."""
OF_VALUES = [
    Case("assert f('xab') and not f('a')\nassert f('abb').group(2) == 'bb'", SEARCH),
    Case("m = f('xabb')\nassert m and m.span() == (1, 4) and m['b'] == 'bb'", SEARCH),
    Case("assert bool(f('ab')) is True and f('ab').groupdict() == {'b': 'b'}", SEARCH),
    Case("r = f(3)\nassert r.lo == 3 and r.count == [3]", PAIR),
    Case("assert f(3)._asdict() == {'lo': 3, 'count': [3]} and len(f(3)) == 2", PAIR),
    Case(
        "from pathlib import Path\nassert f('a') == Path('a/b') and f('x').name == 'b'",
        "from pathlib import Path\ndef f(x): return Path(x) / 'b'",
    ),
    Case("import numpy as np\nassert (f(1) == np.array([[1, 2], [3, 4]])).all()", ARRAY),
    Case("import numpy as np\nr = f(5)\nassert r.shape == (2, 2) and r.sum() == 14", ARRAY),
    Case("assert f(7).tolist() == [[7, 2], [3, 4]] and f(1).shape == (2, 2)", ARRAY),
    Case(
        "import numpy as np\nassert np.array_equal(f(np.array([3, 1])), np.array([6, 2]))",
        "def f(x): return 2 * x",
    ),
    Case("assert f(int) == 0 and f(str) == ''", "def f(x): return x()"),
    Case("assert f([1, 'a'], int) == [1]", "def f(x, t): return [y for y in x if type(y) is t]"),
    Case("assert f(3) is int and f('a') == str", "def f(x): return type(x)"),
    Case("assert type(f(3)) == int and f(3) == 9", "def f(x): return x * x"),
    Case("assert sum(10, 15) == 6", "def sum(a, b): return 6", ("sum",)),
    Case("assert set(max([3, 1])) == {3}", "def max(x): return [3]", ("max",)),
    Case("assert list({'a': 1}) == [('a', 1)]", "def list(x): return [*x.items()]", ("list",)),
    Case("from solution import min\nassert min(3) == 9", "def min(x): return x * x", ("min",)),
]
"""Values that only some types of Python have, and names and types of Python."""

JUDGED = [
    *OF_VALUES,
    *RECORDS,
    Case("assert dec(enc('abc')) == 'abc'", CODEC, ("enc", "dec")),
    Case("assert dec(enc('abc') * 1) == 'abc'", CODEC, ("enc", "dec")),
    Case("x = enc('q')\nx = enc(x) * 5\nassert dec(dec(x)) == 'q'", CODEC, ("enc", "dec")),
    Case("assert dec(list(map(enc, [1, 2]))) == [1]", CODEC, ("enc", "dec")),
    Case("assert dec(enc({1: 2}.items())) == {(1, 2)}", CODEC, ("enc", "dec")),
    Case("assert Check(2) == 4", "def Check(x): return 2 * x", ("Check",)),
    Case("assert Diff([1, 2], [2]) == [1]", "def Diff(a, b): return a[:1]", ("Diff",)),
    Case("assert f([3, 1])[:1] == [1]", "def f(x): return sorted(x)"),
    Case("assert f('ba').endswith('b')", "def f(x): return x[::-1]"),
    Case("r = f('ba')\nassert r.startswith('a') and len(r) == 2", "def f(x): return x[::-1]"),
    Case("assert f(2) and f(2) == True", "def f(x): return x == 2"),
    Case("assert not f(2) and f(2) is False", "def f(x): return x != 2"),
    Case("assert len(f(2)) == 2 and f(3)[1] == 1", "def f(x): return list(range(x))"),
    Case("assert 2 in f(3) and 7 not in f(3)", "def f(x): return list(range(x))"),
    Case("assert isinstance(f(3), list) and f(3)[2] == 2", "def f(x): return list(range(x))"),
    Case("assert f(1) + f(2) == 3", "def f(x): return x"),
    Case("assert abs(f(2) - 4) < 1e-6 and f(2) < 5", "def f(x): return 2.0 * x"),
    Case("assert sorted(f(3)) == [0, 1, 2]", "def f(x): return (i for i in range(x))"),
    Case("assert set(f({1: 2})) == {1} and len(f({1: 2})) == 1", "def f(x): return x.keys()"),
    Case(
        "r = f([3, 1, 2])\nassert all(a <= b for a, b in zip(r, r[1:])) and sum(r) == 6",
        "def f(x): return sorted(x)",
    ),
    Case(
        "x = [5, 1, 4]\nr = f(x)\nassert sorted(r) == sorted(x)\n"
        "for a, b in zip(list(r), list(r)[1:]): assert a < b",
        "def f(x): return sorted(x)",
    ),
    Case("for a, b in [(1, 2), (2, 4)]: assert f(a) == b", "def f(x): return 2 * x"),
    Case("import ast\nassert ast.literal_eval(f(1)) == [1]", "def f(x): return repr([x])"),
    Case("import json\nassert json.loads(f(1)) == [1]", "def f(x): return '[1]'"),
    Case("assert f(3) == eval('1 + 2')", "def f(x): return x"),
    Case("s = Stack()\ns.push(7)\nassert s.pop() == 7", STACK, ("Stack",)),
    Case(
        "s = Stack()\ns.push(4)\nassert (len(s), s[0], list(s)) == (1, 4, [4])", STACK, ("Stack",)
    ),
    Case("s = Stack()\ns.push(4)\nassert s[:1] == [4] and s.count(4) == 1", STACK, ("Stack",)),
    Case("assert Stack().push(3).data == [3]", STACK, ("Stack",)),
    Case("exec('assert f(3) == 9')\nassert f(2) == 4", "def f(x): return x * x"),
    Case("exec('from solution import f\\nassert f(3) == 9')", "def f(x): return x * x"),
    Case("def g(x): return 9\nassert f(3) == eval('g(1)')", "def f(x): return x * x"),
    Case("n = [1]\nassert f(3) == eval('sum(x for x in [9] if n)')", "def f(x): return x * x"),
    Case("assert isinstance(Dog(), Dog)\nassert Dog().name() == 'Dog'", ANIMALS, ("Dog",)),
    Case(
        "for a in [Dog(), Cat()]:\n    assert a.name() == ('Dog' if isinstance(a, Dog) else 'Cat')",
        ANIMALS,
        ("Dog", "Cat"),
    ),
    Case(
        "a = Dog()\nassert not isinstance(a, Cat) and issubclass(Dog, Cat) is False\n"
        "assert a.name() == 'Dog'",
        ANIMALS,
        ("Dog",),
    ),
    Case("assert isinstance(adopt(), Dog) and adopt().name() == 'Dog'", ANIMALS, ("adopt",)),
    Case("v = vec(1, 2).plus(vec(3, 4))\nassert (v.x, v.y) == (4, 6)", VEC, ("vec",)),
]
"""Tests that are judged: the honest program passes, and nobody has no verdict."""

UNSUPPORTED = [
    Case(NODE + "h = chain(1)\nassert f(h) is h", "def f(x): return x"),
    Case(NODE + "h = chain(1, 2)\nf(h)\nassert listed(h) == [1]", "def f(x): x.next = None"),
    Case(
        "a = [2, 1]\nSolution().f(a)\nassert a == [1, 2]",
        "class Solution:\n    def f(self, a): a.sort()",
    ),
    Case(
        "class A:\n    def __init__(self, x):\n        self.x = sorted(x)\nassert f(A([2])) == 2",
        "def f(a): return a.x[0]",
    ),
    Case("class A:\n    limit = 9\nassert f(A()) == 9", "def f(a): return a.limit"),
    Case(
        "import pytest\n@pytest.mark.parametrize('x', range(1))\ndef test_f(x):\n    assert f(x)",
        "def f(x): return x",
    ),
    Case(
        "import pytest\n@pytest.fixture\ndef x(): yield 1\ndef test_f(x): assert f(x)",
        "def f(x): return x",
    ),
    Case("assert Vec(1, 2) + Vec(3, 4) == Vec(4, 6)", VEC, ("Vec",)),
    Case("assert Vec(1) == Vec(1)", VEC, ("Vec",)),
    Case("assert [Vec(1)] == [Vec(1)] and {1: Vec(1)} != {1: Vec(2)}", VEC, ("Vec",)),
    Case("a = Vec(1)\nb = a\nassert b < Vec(2)", VEC, ("Vec",)),
    Case("a = vec(1)\nassert a.x == 1\nassert a.plus(a) == vec(2)", VEC, ("vec",)),
    Case("a = vec(1)\nassert a.x == 1 and a in [vec(1)]", VEC, ("vec",)),
    Case("a = vec(1)\nassert a.x == 1 and 1 in a", VEC, ("vec",)),
    Case("a = vec(1)\nassert a.x == 1 and a", VEC, ("vec",)),
    Case("a = vec(1)\nif not a: assert False\nassert a.x == 1", VEC, ("vec",)),
    Case("a = vec(1)\nassert (-a).x == -1", VEC, ("vec",)),
    Case("a = Vec(1, 2)\nassert a.x == 1 and abs(a) == 3", VEC, ("Vec",)),
    Case("assert len({Vec(1), Vec(1)}) == 1", VEC, ("Vec",)),
    Case("v = [Vec(2), Vec(1)]\nassert min(v).x == 1 and sorted(v)[0].x == 1", VEC, ("Vec",)),
    Case(
        "def same(a, b): assert a == b\nsame(Vec(1, 2).plus(Vec(1, 0)), Vec(2, 2))", VEC, ("Vec",)
    ),
    Case(
        "import unittest\nclass T(unittest.TestCase):\n    def setUp(self): self.a = Vec(1)\n"
        "    def make(self): return self.a\n"
        "    def test(self): self.assertEqual(self.make(), Vec(1))",
        VEC,
        ("Vec",),
    ),
    Case("a = Vec(1)\nassert a is Vec(1) or a.x == 1", VEC, ("Vec",)),
    Case("assert f(lambda x: x)", "def f(x): return True"),
    Case("def g(x): return x\nassert f([g])", "def f(x): return True"),
    Case("class A:\n    def g(self): pass\na = A()\nassert f(x=a)", "def f(x): return True"),
    Case("assert f(map(str, [1])) == ['1']", "def f(x): return list(x)"),
    Case("assert f(i for i in [1]) == 1", "def f(x): return sum(x)"),
    Case("import hashlib\nassert f(hashlib.md5(f(b'a'))) == 1", "def f(x): return 1"),
    Case("import asyncio\nc = f(1)\nassert asyncio.run(c) == 2", "async def f(x): return x + 1"),
    Case(
        "import asyncio\na = Slow()\nassert asyncio.run(a.get()) == 2",
        "class Slow:\n    async def get(self): return 2",
        ("Slow",),
    ),
    Case("assert eval(f(3)) == 27", "def f(x): return '27'"),
    Case("exec(f(3))\nassert True", "def f(x): return '27'"),
    Case("e = eval\nassert e(f(3)) == 27", "def f(x): return '27'"),
    Case("assert list(map(eval, [f(3)])) == [27]", "def f(x): return '27'"),
    Case("def run(s): return eval(s)\nassert run(f(3)) == 27", "def f(x): return '27'"),
    Case("xs = []\nxs.append(f(3))\nassert eval(xs[0]) == 27", "def f(x): return '27'"),
    Case("s = f(3)\nt = f'{s} + 1'\nassert eval(t) == 28", "def f(x): return '27'"),
    Case("import builtins as b\nassert b.eval(f(3)) == 27", "def f(x): return '27'"),
    Case("import pickle\nassert pickle.loads(f(3)) == 3", "import pickle\nf = pickle.dumps"),
    Case("from pickle import loads as l\nassert l(f(3)) == 3", "import pickle\nf = pickle.dumps"),
    Case("import sympy\nassert sympy.sympify(f(3)) == 3", "def f(x): return '3'"),
    Case("from sympy import Matrix\nassert Matrix(f(3)) == 3", "def f(x): return ['3']"),
    Case("from sympy import Symbol as S\nassert S('x').subs('x', f(3)) == 3", "f = str"),
    Case("import numpy as np\nassert np.load(f(3), allow_pickle=True) == 3", "f = str"),
    Case("import yaml\nassert yaml.load(f(3)) == 3", "f = str"),
    Case("try: f(3)\nexcept Exception as e: assert eval(str(e)) == 3", "def f(x): return 3"),
    Case("from solution import f as g\nassert eval(g(3)) == 3", "f = str"),
    Case("exec('assert f(3) == 9')", "def f(x): return x * x"),
    Case("exec('assert f(3) == 9', globals())", "def f(x): return x * x"),
    Case("for n in [1, 2]: exec(f'assert f({n}) == {n}')", "def f(x): return x"),
    Case("code = 'assert f(3) == 9'\nexec(compile(code, 'c', 'exec'))", "def f(x): return x * x"),
    Case("for text in ['f(1) == 1', 'f(2) == 4']: assert eval(text)", "def f(x): return x * x"),
    Case("exec('def g(x): return f(x)')\nexec('assert g(3) == 9')", "def f(x): return x * x"),
    Case("assert isinstance(Dog(), Animal)", ANIMALS, ("Dog", "Animal")),
    Case("a = [Dog(), Cat()]\nfor one in a: assert isinstance(one, Animal)", ANIMALS, ("Dog",)),
    Case("assert issubclass(Dog, Animal)", ANIMALS, ("Dog", "Animal")),
    Case("assert issubclass(Dog, (Animal, int)) and Dog().name() == 'Dog'", ANIMALS, ("Dog",)),
    Case("assert issubclass(LostDog, Lost)", ANIMALS, ("Lost", "LostDog")),
    Case("from solution import Dog as D, Animal as A\nassert issubclass(D, A)", ANIMALS, ("Dog",)),
    Case(
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def setUp(self): self.dog = Dog()\n"
        "    def test(self): self.assertIsInstance(self.dog, Animal)",
        ANIMALS,
        ("Dog", "Animal"),
    ),
    Case("import solution as s\nassert eval(s.f(3)) == 3", "f = str"),
]
"""Tests for which there is no verdict, whatever the program is."""


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    found = Grader()
    yield found
    found.close()


def hostile_programs(case: Case) -> list[str]:
    """Programs in which each name is one of `HOSTILE`, and other names are as they should be."""
    return [
        f"{case.honest}\n" + template.format(name=name, odd=ODD, alone=ALONE)
        for template in HOSTILE.values()
        for name in case.names
    ]


def findings_of(
    grader: Grader, case: Case, programs: list[str], plan: Plan = PLAN
) -> list[Findings]:
    tests: Tests = read_tests({"tests": asserts(case.code)})
    return grader.all([(program, tests) for program in programs], plan)


@pytest.mark.slow
@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case.code)
def test_no_program_chooses_to_have_no_verdict_or_to_be_believed(
    grader: Grader, case: Case
) -> None:
    (honest,) = findings_of(grader, case, [case.honest])
    hostile = findings_of(grader, case, hostile_programs(case), HASTY)
    assert (honest.reason, honest.shown, honest.expected) == ("passed", "", "")
    forbidden = {"passed", *UNVERIFIABLE}
    assert [(n, h.reason, h.shown) for n, h in enumerate(hostile) if h.reason in forbidden] == []


@pytest.mark.parametrize("case", UNSUPPORTED, ids=lambda case: case.code)
def test_what_cannot_be_judged_cannot_for_any_program(grader: Grader, case: Case) -> None:
    programs = [case.honest, "raise SystemExit(0)", *hostile_programs(case)[:4]]
    found = findings_of(grader, case, programs)
    assert {one.reason for one in found} == {"unsupported_test"}
