"""Every way of writing a value is right for every other, and for no other value.

Each structure has values, the forms in which people and programs write one, and values that are
near misses. All pairs of forms are judged: one of `n` forms that is read alone would pass tests
that have a reference in one form.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from tests.verifier_service.judging import judge
from verifier_service.verifiers.accuracy import Accuracy

NUM_VALUES = 2
OR, AND, ROW = r" \text{ or } ", r" \text{ and } ", r" \\ "


class Structure(NamedTuple):
    """A kind of value: how one is made, how people write it, and which others are near."""

    value: Callable[[random.Random], Any]
    forms: Callable[[Any], Iterator[str]]
    others: Callable[[Any], Iterator[Any]]


def tuple_of(values: Any) -> str:
    return f"({', '.join(map(str, values))})"


def named(names: str, values: Any, joint: str = ", ") -> str:
    return joint.join(f"{name} = {one}" for name, one in zip(names, values, strict=True))


def cases(rows: str) -> str:
    return rf"\begin{{cases}} {rows} \end{{cases}}"


# Solutions of a system of two equations: three pairs.


def forms_of_solutions(pairs: list[tuple[int, int]]) -> Iterator[str]:
    yield ", ".join(map(tuple_of, pairs))
    yield " and ".join(map(tuple_of, pairs[::-1]))
    yield rf"\{{{', '.join(map(tuple_of, pairs))}\}}"
    yield "(x, y) = " + ", ".join(map(tuple_of, pairs))
    yield OR.join(f"(x, y) = {tuple_of(pair)}" for pair in pairs)
    yield OR.join(named("xy", pair) for pair in pairs)
    yield "; ".join(named("yx", pair[::-1]) for pair in pairs[::-1])
    yield OR.join(named("xy", pair, AND) for pair in pairs)
    yield ", ".join(named("xy", pair) for pair in pairs)
    yield OR.join(cases(named("xy", pair, ROW)) for pair in pairs)


def other_solutions(pairs: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    (a, b), (c, d), *rest = pairs
    yield [(a, d), (c, b), *rest]  # each value, and no solution
    yield [(y, x) for x, y in pairs]
    yield pairs[:-1]
    yield [*pairs, (a + 100, b)]
    yield [(a + 100, b), (c, d), *rest]


def three_pairs(chance: random.Random) -> list[tuple[int, int]]:
    values = chance.sample(range(-9, 30), 6)
    return list(zip(values[::2], values[1::2], strict=True))


# Values of three letters.


def forms_of_letters(values: list[int]) -> Iterator[str]:
    a, b, c = values
    yield named("abc", values)
    yield f"c = {c}, a = {a}, b = {b}"
    yield f"(a, b, c) = {tuple_of(values)}"
    yield named("abc", values, "; ")
    yield named("abc", values, r" \quad ")
    yield named("abc", values, ROW)
    yield named("abc", values, "\n")
    yield f"a: {a}, b: {b}, c: {c}"
    yield f'{{"a": {a}, "b": {b}, "c": {c}}}'
    yield cases(named("abc", values, ROW))


def other_letters(values: list[int]) -> Iterator[list[int]]:
    a, b, c = values
    yield [b, a, c]
    yield [c, a, b]
    yield [a, b, c + 100]


# Two points.


def forms_of_points(points: list[tuple[int, int]]) -> Iterator[str]:
    one, other = map(tuple_of, points)
    yield f"A{one}, B{other}"
    yield f"B{other}, A{one}"
    yield rf"A{one} \text{{ and }} B{other}"
    yield f"A = {one}, B = {other}"


def other_points(points: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    (a, b), (c, d) = points
    yield points[::-1]
    yield [(b, a), (c, d)]
    yield [(a, d), (c, b)]


def two_points(chance: random.Random) -> list[tuple[int, int]]:
    return three_pairs(chance)[:2]


# A set of three numbers, and a matrix.


def forms_of_set(values: list[int]) -> Iterator[str]:
    a, b, c = values
    yield f"{a}, {b}, {c}"
    yield f"{c}, {a} and {b}"
    yield rf"\{{{b}, {c}, {a}\}}"
    yield f"x = {b}, {a}, {c}"
    yield rf"x = {a} \text{{ or }} x = {c} \text{{ or }} x = {b}"
    yield rf"x \in \{{{c}, {b}, {a}\}}"
    yield f"{{{a}, {c}, {b}}}"


def other_sets(values: list[int]) -> Iterator[list[int]]:
    a, b, c = values
    yield [a + 100, b, c]
    yield [-a - 50, b, c]


def forms_of_matrix(rows: list[tuple[int, int]]) -> Iterator[str]:
    inside = ROW.join(f"{a} & {b}" for a, b in rows)
    for name in ("pmatrix", "bmatrix"):
        yield rf"\begin{{{name}}} {inside} \end{{{name}}}"
    yield rf"\left[\begin{{array}}{{cc}} {inside} \end{{array}}\right]"
    yield rf"A = \left(\begin{{array}}{{rr}} {inside} \end{{array}}\right)"
    yield str([list(row) for row in rows])
    yield f"Matrix({[list(row) for row in rows]})"


def other_matrices(rows: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    (a, b), (c, d) = rows
    yield [(a, c), (b, d)]
    yield [(c, d), (a, b)]
    yield [(a, b), (c, d + 100)]


# A complex number, and a fraction.


def forms_of_complex(parts: tuple[int, int]) -> Iterator[str]:
    a, b = parts
    yield f"{a} {b:+d}i"
    yield f"{b}i {a:+d}"
    yield f"z = {a} {b:+d} \\mathrm{{i}}"
    yield f"{a} {b:+d}*I"
    yield rf"\frac{{{2 * a} {2 * b:+d} i}}{{2}}"


def other_complex(parts: tuple[int, int]) -> Iterator[tuple[int, int]]:
    a, b = parts
    yield a, -b
    yield -a, b
    yield b, a + 100


def forms_of_fraction(number: int) -> Iterator[str]:
    yield rf"\frac{{{number}}}{{8}}"
    yield f"{number}/8"
    yield str(number / 8)
    yield rf"x = \frac{{{number}}}{{8}}"
    yield rf"\frac{{{number}}}{{8}} = {number / 8}"
    yield rf"\frac{{{3 * number}}}{{24}}"


def other_fractions(number: int) -> Iterator[int]:
    yield -number
    yield number + 8
    yield 10 * number


# Verdicts on four statements, and an order of four names.


def forms_of_verdicts(verdicts: list[bool]) -> Iterator[str]:
    yield ", ".join("True" if one else "False" for one in verdicts)
    yield ", ".join("T" if one else "F" for one in verdicts)
    yield ", ".join("yes" if one else "no" for one in verdicts)
    yield rf"\text{{{', '.join('true' if one else 'false' for one in verdicts)}}}"


def other_verdicts(verdicts: list[bool]) -> Iterator[list[bool]]:
    yield [not one for one in verdicts]
    yield verdicts[2:] + verdicts[:2]
    yield verdicts[:3]


def forms_of_order(names: list[str]) -> Iterator[str]:
    yield " < ".join(names)
    yield " > ".join(names[::-1])
    yield r" \lt ".join(names)


def other_orders(names: list[str]) -> Iterator[list[str]]:
    a, b, *rest = names
    yield names[::-1]
    yield [b, a, *rest]


STRUCTURES = {
    "verdicts": Structure(
        lambda chance: [True, chance.random() < 0.5, False, False],
        forms_of_verdicts,
        other_verdicts,
    ),
    "order": Structure(lambda chance: chance.sample("abcd", 4), forms_of_order, other_orders),
    "solutions of a system": Structure(three_pairs, forms_of_solutions, other_solutions),
    "letters": Structure(
        lambda chance: chance.sample(range(-9, 30), 3), forms_of_letters, other_letters
    ),
    "points": Structure(two_points, forms_of_points, other_points),
    "set": Structure(lambda chance: chance.sample(range(-9, 30), 3), forms_of_set, other_sets),
    "matrix": Structure(two_points, forms_of_matrix, other_matrices),
    "complex number": Structure(
        lambda chance: (chance.randint(2, 9), chance.randint(2, 9)), forms_of_complex, other_complex
    ),
    "fraction": Structure(
        lambda chance: chance.randint(10, 40) * 2 + 1, forms_of_fraction, other_fractions
    ),
}


def is_right(reference: str, answer: str) -> bool:
    return judge(Accuracy(), {"answer": reference}, rf"\boxed{{{answer}}}").score == 1


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("seed", range(NUM_VALUES))
def test_a_value_is_the_same_in_every_form(name: str, seed: int) -> None:
    structure = STRUCTURES[name]
    value = structure.value(random.Random(seed))
    forms = list(structure.forms(value))
    refused = [(one, other) for one in forms for other in forms if not is_right(one, other)]
    assert refused == []


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("seed", range(NUM_VALUES))
def test_no_form_of_another_value_is_right(name: str, seed: int) -> None:
    structure = STRUCTURES[name]
    value = structure.value(random.Random(seed))
    paid = [
        (reference, answer)
        for reference in structure.forms(value)
        for other in structure.others(value)
        for answer in structure.forms(other)
        if is_right(reference, answer)
    ]
    assert paid == []


def test_a_list_of_a_program_is_the_set_of_its_elements() -> None:
    for form in (r"\{3, 11, -5\}", r"x \in \{11, 3, -5\}", "x = 3 or x = 11 or x = -5"):
        assert is_right(form, "[-5, 3, 11]")
        assert not is_right(form, "[-5, 3, 12]")
    assert is_right("-5, 3, 11", "[-5, 3, 11]")
    assert not is_right(r"\{1, 3\}", "[1, 3]")  # an interval


CONTEXTS = [
    "The answer is $@$.",
    "**Answer:** $@$",
    "So the final answer is: @",
    "#### @",
    "<think>Perhaps 7.</think>\n\n<answer> $@$ </answer>",
    "We get 17 and 19.\n\n**Final Answer**\n\n\\[\n\\boxed{@}\n\\]",
    "Final Answer: The final answer is $@$. I hope it is correct.",
    "Let me compute.\n\n\\[ @ \\]",
]
"""Ways to state an answer, which stands in the place of `@`."""


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("context", CONTEXTS)
def test_a_value_is_whole_wherever_it_is_stated(name: str, context: str) -> None:
    structure = STRUCTURES[name]
    value = structure.value(random.Random(1))
    reference = {"answer": next(structure.forms(value))}
    others = list(structure.others(value))
    for form in structure.forms(value):
        if "\n" not in form:
            assert judge(Accuracy(), reference, context.replace("@", form)).score == 1, form
    for other in others:
        for form in structure.forms(other):
            assert judge(Accuracy(), reference, context.replace("@", form)).score == 0, form
