"""The tests of a program, as `reference.tests` holds them.

Besides the types below, the form of APPS, TACO and verl is read: parallel lists `inputs` and
`outputs`. With `fn_name` they are the arguments and results of a function. Without, outputs are
compared as these data sets' own code does it, which takes 0.50 for 0.5.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from verifier_service import strict_json
from verifier_service.code.languages.language import LanguageName
from verifier_service.code.languages.names import refuse_unknown
from verifier_service.code.node_helpers import with_node_helpers
from verifier_service.code.output_checkers import CheckerName
from verifier_service.code.usual_names import INSTALLED
from verifier_service.reason import EngineReason
from verifier_service.reference import bad, missing
from verifier_service.sandbox.file_names import check_name
from verifier_service.strict_json import FlawedJson
from verifier_service.validation import first_problem
from verifier_service.verifier import Unverifiable

MAX_CASES = 10_000
MAX_MEMBERSHIPS = 100_000
"""Most cases of all subtasks together; a case may be in several."""
MAX_FILES = 64
MAX_FILE_BYTES = 4 * 2**20
"""Most bytes of all files beside a program."""
FORMS = (
    "tests are {type: stdio, cases}, {type: interactive, interactor, cases}, "
    "{type: function, entry_point, cases}, {type: asserts, code}, or {inputs, outputs}"
)

OTHER_FORMS = "with reference_format `auto` a row's tests are read as its data set ships them"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _fit(files: dict[str, str]) -> dict[str, str]:
    """Raises ValueError: a name is not allowed, or the files are too many or too large."""
    for name in files:
        check_name(name)
    num_bytes = sum(len(content.encode("utf-8", "surrogatepass")) for content in files.values())
    if len(files) > MAX_FILES or num_bytes > MAX_FILE_BYTES:
        raise ValueError(
            f"{len(files)} files of {num_bytes} bytes; at most {MAX_FILES} of {MAX_FILE_BYTES}"
        )
    return files


# Texts by name, such as {"data/prices.csv": "day,price\n1,2\n"}.
Files = Annotated[dict[str, str], AfterValidator(_fit)]


class _Tests(_Strict):
    files: Files = {}
    """Files in the working directory of the program."""


class JudgingProgram(_Strict):
    """A program of the tests, in a sandbox of its own."""

    source: str = Field(min_length=1)
    language: Annotated[LanguageName, BeforeValidator(refuse_unknown)] = "python"
    files: Files = {}
    """Files beside its source, such as `testlib.h`."""


class CheckerProgram(JudgingProgram):
    """A program that decides whether an output is right; see `checker_programs`."""

    convention: Literal["testlib", "cms"] = "testlib"


def _kind_of_checker(value: Any) -> str:
    return "program" if isinstance(value, dict | CheckerProgram) else "name"


# The name of a comparison, or a program. The discriminator has an error name one of the two.
Checker = Annotated[
    Annotated[CheckerName, Tag("name")] | Annotated[CheckerProgram, Tag("program")],
    Discriminator(_kind_of_checker),
]


class Subtask(_Strict):
    """Cases that give points together: as large a share of them as the worst case has."""

    cases: tuple[int, ...] = Field(min_length=1, max_length=MAX_CASES)
    """Indices of the cases, from 0."""
    points: float = Field(default=1.0, gt=0, le=1e9)


def _check_subtasks(subtasks: tuple[Subtask, ...], num_cases: int) -> None:
    """Raise ValueError unless each case is in a subtask and each index is that of a case."""
    if not subtasks:
        return
    if sum(len(subtask.cases) for subtask in subtasks) > MAX_MEMBERSHIPS:
        raise ValueError(f"the subtasks have more than {MAX_MEMBERSHIPS} cases in all")
    named = {index for subtask in subtasks for index in subtask.cases}
    if strangers := sorted(named - set(range(num_cases))):
        raise ValueError(f"subtasks name case {strangers[0]}; there are cases 0 to {num_cases - 1}")
    if left_out := sorted(set(range(num_cases)) - named):
        raise ValueError(f"case {left_out[0]} is in no subtask")


class StdioCase(_Strict):
    """The standard input of one run, and the output that it must have."""

    stdin: str
    stdout: str


class Stdio(_Tests):
    """Whole programs, which read standard input and write standard output."""

    type: Literal["stdio"]
    cases: tuple[StdioCase, ...] = Field(min_length=1, max_length=MAX_CASES)
    checker: Checker = "exact"
    tolerance: float = Field(default=1e-6, ge=0)
    """Tolerance of the checkers `float` and `decimals`: absolute below 1, relative above."""
    program: str | None = None
    """Python source of a special judge. It reads a JSON object with `stdin`, `stdout` (of the
    program) and `expected`, and accepts by ending with exit code 0."""
    subtasks: tuple[Subtask, ...] = Field(default=(), max_length=MAX_CASES)

    @model_validator(mode="after")
    def _has_its_cases(self) -> Self:
        _check_subtasks(self.subtasks, len(self.cases))
        if self.program is not None and isinstance(self.checker, CheckerProgram):
            raise ValueError("program and checker are two judges of an output; give one")
        return self


class InteractiveCase(_Strict):
    """One conversation: the interactor's input file, and its answer file."""

    stdin: str = ""
    stdout: str = ""


class Interactive(_Tests):
    """Whole programs, which talk with a program of the tests; see `interaction`."""

    type: Literal["interactive"]
    interactor: JudgingProgram
    cases: tuple[InteractiveCase, ...] = Field(min_length=1, max_length=MAX_CASES)
    subtasks: tuple[Subtask, ...] = Field(default=(), max_length=MAX_CASES)

    @model_validator(mode="after")
    def _has_its_cases(self) -> Self:
        _check_subtasks(self.subtasks, len(self.cases))
        return self


class FunctionCase(_Strict):
    """Arguments of a call, and the result that it must return."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    returns: Any
    also: tuple[Any, ...] = ()
    """Other results that are right: what else the text of a row may mean."""


class Function(_Tests):
    """One function and its calls, in JSON."""

    type: Literal["function"]
    entry_point: str
    cases: tuple[FunctionCase, ...] = Field(min_length=1, max_length=MAX_CASES)
    tolerance: float = Field(default=0.0, ge=0)
    """Tolerance for floats in results: absolute below 1, relative above."""


def _is_free(module: str) -> str:
    """Raises ValueError: the module is Python's, and cannot be the program as well."""
    if module.partition(".")[0] in sys.stdlib_module_names | INSTALLED:
        raise ValueError(f"{module} is a module of Python's or of an installed package")
    return module


# A module's name, which may be dotted: `two_sum`, `src.bank_account`.
Module = Annotated[
    str,
    Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$", max_length=200),
    AfterValidator(_is_free),
]


class Asserts(_Tests):
    """Test code: assertions, HumanEval's `check(candidate)`, unittest classes."""

    type: Literal["asserts"]
    code: Annotated[str, AfterValidator(with_node_helpers)] = Field(min_length=1)
    """The code, and the helpers of LeetCodeDataset's tests that it calls without a definition."""
    entry_point: str | None = None
    """Function that the code tests. `check` is called with it, if the code does not call `check`
    itself."""
    module: Module | None = None
    """Module that the code imports the program from. `solution`, `main`, `your_module` and other
    usual ones, and the name of the entry point, need not be given."""


Tests = Stdio | Interactive | Function | Asserts

_adapter: TypeAdapter[Tests] = TypeAdapter(Annotated[Tests, Field(discriminator="type")])


def read_tests(reference: Mapping[str, Any]) -> Tests:
    """The tests of a reference.

    Raises:
        Unverifiable: the tests are missing, or have none of the forms of this module.
    """
    tests = reference.get("tests")
    if tests is None:
        raise missing("tests", reference)
    if isinstance(tests, dict) and "type" not in tests and tests.keys() >= {"inputs", "outputs"}:
        try:
            tests = _from_lists(tests)
        except RecursionError:
            raise bad("tests", "an input or an output is nested too deeply") from None
    try:
        return _adapter.validate_python(tests)
    except ValidationError as error:
        message = first_problem(error, "reference", "tests")
        if isinstance(tests, dict):  # pydantic puts the type into the location
            message = message.replace(f".tests.{tests.get('type')}", ".tests", 1)
        no_form = len(error.errors()[0]["loc"]) == 0
        message += f"; {FORMS}" * no_form
        message += f"; {OTHER_FORMS}" * isinstance(tests, str | list)
        raise Unverifiable(EngineReason.BAD_REFERENCE, message) from error


def _from_lists(tests: dict[str, Any]) -> dict[str, Any]:
    """Tests with one case for each pair of an input and an output."""
    inputs, outputs, name = tests["inputs"], tests["outputs"], tests.get("fn_name")
    lists = isinstance(inputs, list) and isinstance(outputs, list)
    if not lists or len(inputs) != len(outputs):
        raise bad("tests", "`inputs` and `outputs` must be lists of the same length")
    pairs = zip(inputs, outputs, strict=True)
    if name:
        wrapped = all(isinstance(one, list) and len(one) == 1 for one in outputs)
        calls = [
            {"args": _arguments(given), **_results(given, result, may_be_wrapped=wrapped)}
            for given, result in pairs
        ]
        return {"type": "function", "entry_point": name, "cases": calls}
    cases = [{"stdin": _text(given), "stdout": _text(result)} for given, result in pairs]
    return {"type": "stdio", "cases": cases, "checker": "decimals"}


def _text(value: Any) -> str:
    """An input or output as text; a list is one of lines, as in TACO."""
    if isinstance(value, list):
        return "\n".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value)


def _arguments(given: Any) -> list[Any]:
    """The arguments of a call: a list, or a text with a JSON value on each line, as in verl."""
    if isinstance(given, str):
        return [_value(line) for line in given.split("\n") if line.strip()]
    return given if isinstance(given, list) else [given]


def _results(given: Any, result: Any, *, may_be_wrapped: bool) -> dict[str, Any]:
    """The result of a call, and the other results that are right.

    APPS and TACO put results into lists of one, and their own code takes `[3]` and 3 for `[3]`.
    Where the arguments are values and no text, a text is itself, and may be JSON.
    """
    if may_be_wrapped:
        found = _results(given, result[0], may_be_wrapped=False)
        return {**found, "also": [*found.get("also", ()), result]}
    value = _value(result)
    if isinstance(given, list) and isinstance(result, str) and value != result:
        return {"returns": result, "also": [value]}
    return {"returns": value}


def _value(given: Any) -> Any:
    """The JSON value that a text holds; a text that is not JSON stands for itself."""
    if not isinstance(given, str):
        return given
    try:
        return strict_json.loads(given)
    except FlawedJson as error:
        raise bad("tests", f"the JSON text of an input or an output: {error}") from error
    except ValueError:
        return given
