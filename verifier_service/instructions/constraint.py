"""A constraint on a response: its check, its arguments, and what it found."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, get_args, get_origin, get_type_hints

from verifier_service.instructions.sentences import sentences, word_tokens
from verifier_service.instructions.visible import without_markup
from verifier_service.validation import did_you_mean

CountRelation = Literal["at least", "less than"]
"""How a number is compared with the one that the constraint names."""
MAX_ARGUMENT_CHARACTERS = 50_000
MAX_LIST_ITEMS = 200
MAX_NUMBER = 10**9


# Text that a page does not show: the image `![sea](x.png)`, the address of `[here](sea.html)` and
# of `[1]: https://sea.org`, the tag `<img alt="sea">`.
_UNREAD = re.compile(
    r"!\[[^\]\n]{0,300}\]\([^()\n]{0,500}\)|(?<=\])\([^()\s]{0,500}\)"
    r"|^[ ]{0,3}\[[^\]\n]{1,300}\]:[ \t]*(?:https?://|www\.|#)\S*[ \t]*$"
    r"|<[a-z][a-z0-9]{0,20}\s[^<>\n]{0,300}=[^<>\n]{0,300}>",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Finding:
    """Whether a response follows a constraint, and what it has instead or beside."""

    followed: bool
    found: str


class Response:
    """A response, and its parts, which are found once.

    Args:
        text: of the response.
        closed: whether what satisfies a source's check and not its words is refused.
    """

    def __init__(self, text: str, *, closed: bool) -> None:
        self.text = text
        self.closed = closed

    @cached_property
    def plain(self) -> Response:
        """The response without markup that shows nothing; itself where it has none."""
        text = without_markup(self.text)
        return self if text == self.text else Response(text, closed=self.closed)

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    @cached_property
    def read(self) -> str:
        """The text in lower case; a closed one without images, addresses and attributes of tags."""
        return _UNREAD.sub(" ", self.lower) if self.closed else self.lower

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences of the text; a source counts those of signs alone too."""
        return sentences(self.text, with_signs=not self.closed)

    @cached_property
    def tokens(self) -> list[str]:
        """The words and signs of the text."""
        return word_tokens(self.text)

    @cached_property
    def words(self) -> list[str]:
        """The text between white space."""
        return self.text.split()


Constraint = Callable[..., Finding]
CheckResponse = Callable[[Response], Finding]
CONSTRAINTS: dict[str, Constraint] = {}
"""Every constraint by its id."""
FEWEST_WORDS: dict[str, int] = {}
"""The fewest words of a closed response by the constraint's id."""


class MissingPackage(Exception):
    """A constraint needs a package of the extra `instructions`, which is not installed."""


class BadArguments(ValueError):
    """A constraint's arguments are missing or wrong."""


def constraint(*names: str, fewest_words: int = 1) -> Callable[[Constraint], Constraint]:
    """Register a function as the constraint with these ids.

    Its keyword arguments, with their types, are those of the constraint in a data set.

    Args:
        names: its ids.
        fewest_words: words without which a closed response follows it by having nothing. A text
            that is to be copied may have none.
    """

    def register(function: Constraint) -> Constraint:
        CONSTRAINTS.update(dict.fromkeys(names, function))
        FEWEST_WORDS.update(dict.fromkeys(names, fewest_words))
        return function

    return register


def check_of(name: str, arguments: Mapping[str, Any]) -> CheckResponse:
    """The check of a constraint with its arguments; those that it does not have are ignored.

    Raises:
        BadArguments: there is no such constraint, or an argument is missing or of another kind.
    """
    function = CONSTRAINTS.get(name)
    if function is None:
        nearest = did_you_mean(name, CONSTRAINTS)
        raise BadArguments(f"there is no constraint {name[:80]!r}{nearest}")
    hints = get_type_hints(function)
    given = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        value = arguments.get(parameter.name)
        if value is None and parameter.default is not inspect.Parameter.empty:
            continue
        given[parameter.name] = _read(name, parameter.name, value, hints[parameter.name])
    is_less = any(hints[key] == CountRelation and one == "less than" for key, one in given.items())
    if is_less and 0 in given.values():
        raise BadArguments(f"{name}: no count is less than 0")
    check = partial(function, **given)
    fewest = FEWEST_WORDS[name]
    return partial(_with_words, check, fewest) if fewest else check


def _with_words(check: CheckResponse, fewest: int, response: Response) -> Finding:
    """The finding of a check; one about nothing where a closed response has too few words."""
    if not response.closed:
        return check(response)
    response = response.plain
    number = sum(any(map(str.isalnum, word)) for word in response.words)
    return check(response) if number >= fewest else Finding(False, f"{number} words")


def _read(constraint_id: str, name: str, value: Any, kind: Any) -> Any:
    """An argument, of the kind that the constraint wants. Raises BadArguments."""
    place = f"{constraint_id}: {name}"
    if value is None:
        raise BadArguments(f"{place} is missing")
    if kind is int:
        return _number(place, value)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise BadArguments(f"{place}: expected one of {get_args(kind)}")
        return value
    if get_origin(kind) is list:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not 1 <= len(items) <= MAX_LIST_ITEMS:
            raise BadArguments(f"{place}: expected a list of 1 to {MAX_LIST_ITEMS} texts")
        return [_text(place, one) for one in items]
    return _text(place, value)


def _number(place: str, value: Any) -> int:
    """A whole number; data sets that went through pandas have 3.0 for 3."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= MAX_NUMBER or value != int(value):
        raise BadArguments(f"{place}: expected a whole number from 0")
    return int(value)


def _text(place: str, value: Any) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]  # some rows of IF-RLVR have a word in a list
    if not isinstance(value, str) or not 0 < len(value.strip()) <= MAX_ARGUMENT_CHARACTERS:
        raise BadArguments(f"{place}: expected a text")
    return value


def holds(number: float, relation: str, bound: float) -> bool:
    """Whether a number is at least, or less than, a bound."""
    return number >= bound if relation == "at least" else number < bound


def compared(number: int, relation: str, bound: int, what: str) -> Finding:
    """The finding about a number of things."""
    return Finding(holds(number, relation, bound), f"{number} {what}")
