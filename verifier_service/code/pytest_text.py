"""Tests written for pytest, as tests of unittest: from one text to another, before it is read.

| pytest | becomes |
|---|---|
| `@pytest.mark.parametrize("a, b", [(1, 2), ...])` | a test for each row, with assignments |
| `with pytest.raises(E, match=m) as e:`, `e.value` | `assertRaisesRegex`, `e.exception` |
| `assert x == pytest.approx(y, rel=r, abs=a)` | a comparison with pytest's tolerances |
| a class `Test...` with `setup_method` | a class of unittest with `setUp` |
| `capsys.readouterr()`, `capfd.readouterr()` | the output of the program since the last look |
| a fixture of the text that takes nothing | an assignment in each test that names it |

Rows have to stand in the text, so that the number of tests follows from it.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

MAX_ROWS = 1000
"""Most tests that one test becomes."""
_WITH_PYTEST = re.compile(
    r"\b(?:pytest|capsys|capfd)\b|^class Test\w*(?:\(\s*(?:object)?\s*\))?:", re.MULTILINE
)
_HARMLESS_MARKS = frozenset({"timeout", "slow", "fast", "unit", "integration", "smoke", "order"})
_SETUPS = {
    "setup_method": "setUp",
    "teardown_method": "tearDown",
    "setup_class": "setUpClass",
    "teardown_class": "tearDownClass",
}
_APPROX = "_is_near"
_HELPER = f"""
import numbers
_size = abs
def {_APPROX}(found, expected, rel=None, abs=None):
    # arrays
    if isinstance(expected, dict):
        return isinstance(found, dict) and found.keys() == expected.keys() and all(
            [{_APPROX}(found[key], expected[key], rel, abs) for key in expected])
    if isinstance(expected, (list, tuple)):
        return isinstance(found, (list, tuple)) and len(found) == len(expected) and all(
            [{_APPROX}(one, other, rel, abs) for one, other in zip(found, expected)])
    if found == expected:
        return True
    if not isinstance(found, numbers.Number) or not isinstance(expected, numbers.Number):
        return False
    try:
        size = float(_size(expected))
        if not size < float("inf"):
            return False
        share = 0.0 if rel is None and abs is not None else (1e-6 if rel is None else rel) * size
        return _size(found - expected) <= max(share, 1e-12 if abs is None else abs)
    except (TypeError, OverflowError):
        return False
"""
"""pytest's `approx`: near by a share of the expected number, or by 1e-12."""

_ARRAYS = """
    found = found.tolist() if type(found).__module__ == "numpy" else found
    expected = expected.tolist() if type(expected).__module__ == "numpy" else expected
"""
"""Lines for texts that name numpy. In others the program would answer for `tolist`."""
_NUMPY = re.compile(r"\b(?:np|numpy)\b")
_CAPTURES = frozenset({"capsys", "capfd"})
_CAPTURE = "_Captured"
_CAPTURE_HELPER = f"""
import collections
_CaptureResult = collections.namedtuple("CaptureResult", "out err")
class {_CAPTURE}:
    def __init__(self):
        __capture__()
    def readouterr(self):
        return _CaptureResult(*__capture__())
"""
"""pytest's `capsys`; `__capture__` is the program's, see `program_process`."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class UnsupportedPytest(Exception):
    """The text needs something of pytest's that is not there; the message names it."""


def in_unittest(code: str) -> str:
    """Test code without pytest; the same text if it has none.

    Raises:
        UnsupportedPytest: it uses more of pytest than the table above.
        SyntaxError, ValueError: it is not Python.
    """
    if _WITH_PYTEST.search(code) is None:
        return code
    tree = ast.parse(code)
    names = _Names(tree)
    if not names.is_imported and not any(names.is_plain_class(one) for one in tree.body):
        return code
    functions = [node for node in tree.body if isinstance(node, _Function)]
    fixtures = {node.name: node for node in functions if names.is_fixture(node)}
    body: list[ast.stmt] = []
    for statement in tree.body:
        body += _rewritten(statement, names, fixtures)
    rewriting = _Rewriting(names)
    tree.body = [rewriting.visit(statement) for statement in body]
    _check_rest(tree, names)
    arrays = _ARRAYS if _NUMPY.search(code) else ""
    near = _HELPER.replace("    # arrays\n", arrays)
    helpers = [near] * rewriting.uses_approx + [_CAPTURE_HELPER] * rewriting.uses_capture
    imports = ast.parse("\n".join(["import unittest", *helpers])).body
    first = _num_head(tree.body)
    tree.body[first:first] = imports
    return ast.unparse(ast.fix_missing_locations(tree))


def _num_head(body: Sequence[ast.stmt]) -> int:
    """The number of statements that must stand first: a docstring, imports from `__future__`."""
    count = 0
    for statement in body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (is_text or is_future):
            break
        count += 1
    return count


class _Names:
    """Names under which a text has pytest and its parts."""

    def __init__(self, tree: ast.Module) -> None:
        self.modules = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.name == "pytest"
        }
        self.parts = {
            alias.asname or alias.name: alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "pytest"
            for alias in node.names
        }
        self.is_imported = bool(self.modules or self.parts)
        self._loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        if not self.is_imported and "pytest." in ast.unparse(tree):
            self.modules, self.is_imported = {"pytest"}, True
        arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        self.is_imported |= bool(arguments & _CAPTURES)

    def part(self, node: ast.expr) -> str:
        """The part of pytest that an expression names, such as `mark.skip`; empty if none."""
        path: list[str] = []
        while isinstance(node, ast.Attribute):
            path.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        if node.id in self.modules and path:
            return ".".join(path)
        return ".".join([self.parts[node.id], *path]) if node.id in self.parts else ""

    def called(self, node: ast.expr) -> str:
        """The part of pytest that a decorator or a call is of; empty if none."""
        return self.part(node.func if isinstance(node, ast.Call) else node)

    def is_fixture(self, node: ast.stmt) -> bool:
        """Whether a statement defines a fixture."""
        return isinstance(node, _Function) and any(
            self.called(one) == "fixture" for one in node.decorator_list
        )

    def is_plain_class(self, node: ast.stmt) -> bool:
        """Whether pytest would look for tests in a class, and unittest would not.

        A class that the text uses itself is left as it is.
        """
        if not isinstance(node, ast.ClassDef) or not node.name.startswith("Test"):
            return False
        methods = [one.name for one in node.body if isinstance(one, _Function)]
        bases = {ast.unparse(base) for base in node.bases}
        has_tests = any(name.startswith("test") for name in methods)
        is_used = "__init__" in methods or node.name in self._loaded
        return has_tests and not is_used and bases <= {"object"}

    def is_start(self, node: ast.stmt) -> bool:
        """Whether a statement starts pytest, at once or where the text is run as a program."""
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            return any(isinstance(one, ast.expr) and self.part(one) for one in ast.walk(node))
        return isinstance(node, ast.Expr) and self.called(node.value) == "main"

    def is_import(self, node: ast.stmt) -> bool:
        """Whether a statement imports nothing but pytest."""
        if isinstance(node, ast.ImportFrom):
            return node.module == "pytest"
        return isinstance(node, ast.Import) and all(one.name == "pytest" for one in node.names)


_Fixtures = Mapping[str, ast.stmt]


def _rewritten(statement: ast.stmt, names: _Names, fixtures: _Fixtures) -> list[ast.stmt]:
    """The statements that stand for one at the top."""
    if names.is_import(statement) or names.is_start(statement):
        return []
    if names.is_fixture(statement):
        return [_plain_fixture(statement)]
    if isinstance(statement, ast.ClassDef) and names.is_plain_class(statement):
        return [_case(statement, names, fixtures)]
    if isinstance(statement, ast.FunctionDef) and statement.name.startswith("test"):
        return list(_expanded(statement, [], names, fixtures))
    return [statement]


def _plain_fixture(statement: ast.stmt) -> ast.stmt:
    """A fixture as a function. Raises UnsupportedPytest."""
    assert isinstance(statement, _Function)
    has_yield = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(statement))
    options = [one for one in statement.decorator_list if isinstance(one, ast.Call)]
    has_parameters = bool(_parameters(statement))
    if has_yield or has_parameters or any(one.args or one.keywords for one in options):
        raise UnsupportedPytest(
            f"its fixture {statement.name} yields, takes parameters or has options"
        )
    if isinstance(statement, ast.AsyncFunctionDef):
        raise UnsupportedPytest(f"its fixture {statement.name} is a coroutine")
    statement.decorator_list = []
    statement.name = _fixture_name(statement.name)
    return statement


def _fixture_name(name: str) -> str:
    # A test assigns its value to the fixture's own name, which a call of it could not have.
    return f"_fixture_{name}"


def _case(statement: ast.ClassDef, names: _Names, fixtures: _Fixtures) -> ast.ClassDef:
    """A class of unittest. Raises UnsupportedPytest."""
    rows = [one for one in statement.decorator_list if names.called(one)]
    statement.decorator_list = [one for one in statement.decorator_list if one not in rows]
    body: list[ast.stmt] = []
    for inner in statement.body:
        if names.is_fixture(inner):
            raise UnsupportedPytest("it defines a fixture in a class")
        if isinstance(inner, ast.FunctionDef) and inner.name in _SETUPS:
            inner.args.args = inner.args.args[:1]
            inner.name = _SETUPS[inner.name]
        if isinstance(inner, ast.FunctionDef) and inner.name.startswith("test"):
            body += _expanded(inner, rows, names, fixtures)
        else:
            body.append(inner)
    statement.bases = [ast.parse("unittest.TestCase", mode="eval").body]
    statement.body = body
    return statement


def _expanded(
    function: ast.FunctionDef, outer: list[ast.expr], names: _Names, fixtures: _Fixtures
) -> Iterator[ast.stmt]:
    """The tests that one test stands for. Raises UnsupportedPytest."""
    tables, kept = [], []
    for decorator in [*outer, *function.decorator_list]:
        mark = names.called(decorator)
        if mark == "mark.parametrize":
            assert isinstance(decorator, ast.Call)
            tables.append(list(_rows(decorator, names)))
        elif mark == "mark.skip":
            return
        elif not mark:
            kept.append(decorator)
        elif mark.removeprefix("mark.") not in _HARMLESS_MARKS:
            raise UnsupportedPytest(f"it uses pytest.{mark}, which is not supported")
    function.decorator_list = kept
    given = {name for table in tables for row in table[:1] for name, _ in row}
    prelude = _fixture_values(function, given, fixtures)
    if not tables:
        function.body = [*prelude, *function.body]
        yield function
        return
    combined = list(itertools.islice(itertools.product(*tables), MAX_ROWS + 1))
    if len(combined) > MAX_ROWS:
        raise UnsupportedPytest(f"{function.name} has more than {MAX_ROWS} rows")
    for number, rows in enumerate(combined):
        test = ast.parse(ast.unparse(function)).body[0]
        assert isinstance(test, ast.FunctionDef)
        test.name = f"{function.name}_{number:04}"
        values = [pair for row in rows for pair in row]
        test.body = [*prelude, *(_assigned(name, value) for name, value in values), *test.body]
        yield test


def _fixture_values(
    function: ast.FunctionDef, given: set[str], fixtures: _Fixtures
) -> list[ast.stmt]:
    """Assignments of the fixtures that a test names, whose parameters it loses."""
    parameters = _parameters(function)
    kept = function.args.args[:1] if parameters[:1] == ["self"] else []
    found: list[ast.stmt] = []
    for name in parameters[len(kept) :]:
        if name in given:
            continue
        if name in _CAPTURES and name not in fixtures:
            found += ast.parse(f"{name} = {_CAPTURE}()").body
            continue
        if name not in fixtures:
            raise UnsupportedPytest(f"{function.name} uses the fixture {name}, which is not there")
        found += ast.parse(f"{name} = {_fixture_name(name)}()").body
    function.args = ast.arguments(
        posonlyargs=[], args=kept, kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    return found


def _parameters(function: _Function) -> list[str]:
    """Names of the parameters. Raises UnsupportedPytest."""
    arguments = function.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        raise UnsupportedPytest(f"{function.name} has parameters with defaults, or any number")
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args)]


def _rows(mark: ast.Call, names: _Names) -> Iterator[list[tuple[str, ast.expr]]]:
    """The rows of a parametrization: names with values. Raises UnsupportedPytest."""
    others = {keyword.arg: keyword.value for keyword in mark.keywords}
    arguments = [*mark.args, *(others[key] for key in ("argnames", "argvalues") if key in others)]
    if len(arguments) != 2 or not others.keys() <= {"ids", "argnames", "argvalues"}:
        raise UnsupportedPytest("it uses options of pytest.mark.parametrize that are not supported")
    parameters = _names_in(arguments[0])
    if not isinstance(arguments[1], ast.List | ast.Tuple):
        raise UnsupportedPytest("the rows of pytest.mark.parametrize do not stand in the text")
    for row in arguments[1].elts:
        values = [row]
        if isinstance(row, ast.Call) and names.called(row) == "param":
            if any(keyword.arg != "id" for keyword in row.keywords):
                raise UnsupportedPytest("it uses marks of pytest.param, which are not supported")
            values = row.args
        elif len(parameters) > 1:
            values = row.elts if isinstance(row, ast.List | ast.Tuple) else []
        if len(values) != len(parameters) or any(isinstance(one, ast.Starred) for one in values):
            raise UnsupportedPytest(
                "a row of pytest.mark.parametrize has not a value for each name"
            )
        yield list(zip(parameters, values, strict=True))


def _names_in(node: ast.expr) -> list[str]:
    """The names of a parametrization: a text with commas, or a list of texts."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        value = None
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        raise UnsupportedPytest("the names of pytest.mark.parametrize do not stand in the text")
    return [one.strip() for one in names if one.strip()]


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


class _Rewriting(ast.NodeTransformer):
    """Puts unittest's words in the place of pytest's."""

    def __init__(self, names: _Names) -> None:
        self._names = names
        self._raised: set[str] = set()
        """Names of the records of raised exceptions."""
        self.uses_approx = self.uses_capture = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Rewrite a function, whose names of raised exceptions are its own."""
        outer, self._raised = self._raised, set()
        found = self.generic_visit(node)
        self._raised = outer
        return found

    def visit_With(self, node: ast.With) -> ast.AST:
        """Rewrite `with pytest.raises(...)`."""
        for item in node.items:
            if self._names.called(item.context_expr) == "raises":
                if isinstance(item.optional_vars, ast.Name):
                    self._raised.add(item.optional_vars.id)
                item.context_expr = _assert_raises(item.context_expr)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rewrite `pytest.raises(E, function, ...)` and `pytest.fail(...)`."""
        part = self._names.part(node.func)
        if part == "raises" and len(node.args) > 1:
            node.func = ast.parse("unittest.TestCase().assertRaises", mode="eval").body
        elif part == "fail":
            message = node.args[0] if node.args else ast.Constant("failed")
            return self.generic_visit(_called("unittest.TestCase().fail", message))
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Rewrite `e.value` of a raised exception."""
        if isinstance(node.value, ast.Name) and node.value.id in _CAPTURES:
            if node.attr != "readouterr":
                raise UnsupportedPytest(f"it uses {node.attr} of {node.value.id}")
            self.uses_capture = True
        if isinstance(node.value, ast.Name) and node.value.id in self._raised:
            if node.attr == "type":
                return _called("type", ast.Attribute(node.value, "exception", ast.Load()))
            if node.attr != "value":
                raise UnsupportedPytest(f"it uses {node.attr} of pytest.raises")
            node.attr = "exception"
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Rewrite `x == pytest.approx(y)`."""
        sides = [node.left, *node.comparators]
        near = [one for one in sides if self._names.called(one) == "approx"]
        if not near:
            return self.generic_visit(node)
        if len(sides) != 2 or len(near) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            raise UnsupportedPytest("it compares with pytest.approx by another way than == or !=")
        (other,) = [one for one in sides if one is not near[0]]
        call = near[0]
        if not (isinstance(call, ast.Call) and len(call.args) in (1, 2, 3)) or any(
            keyword.arg not in ("rel", "abs") for keyword in call.keywords
        ):
            raise UnsupportedPytest("it uses options of pytest.approx that are not supported")
        self.uses_approx = True
        found = _called(_APPROX, other, *call.args, keywords=call.keywords)
        made: ast.expr = found
        if isinstance(node.ops[0], ast.NotEq):
            made = ast.UnaryOp(ast.Not(), found)
        return self.generic_visit(made)


def _called(function: str, *arguments: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    return ast.Call(ast.parse(function, mode="eval").body, list(arguments), list(keywords))


def _assert_raises(call: ast.expr) -> ast.expr:
    """unittest's form of `pytest.raises(E, match=m)`. Raises UnsupportedPytest."""
    if not isinstance(call, ast.Call) or len(call.args) != 1:
        raise UnsupportedPytest("it uses pytest.raises without an exception")
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    if not options.keys() <= {"match"}:
        raise UnsupportedPytest("it uses options of pytest.raises that are not supported")
    if "match" in options:
        return _called("unittest.TestCase().assertRaisesRegex", call.args[0], options["match"])
    return _called("unittest.TestCase().assertRaises", call.args[0])


def _check_rest(tree: ast.Module, names: _Names) -> None:
    """Raise UnsupportedPytest if something of pytest's is left."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and (part := names.part(node)):
            raise UnsupportedPytest(f"it uses pytest.{part}, which is not supported")
        if isinstance(node, ast.Name) and node.id in names.modules:
            raise UnsupportedPytest("it uses pytest itself, which is not there")
