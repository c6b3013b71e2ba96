"""`code`: does the completion's program pass the tests?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from verifier_service.code.extraction import last_block
from verifier_service.code.languages.language import LanguageName
from verifier_service.code.languages.names import refuse_unknown
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reasons import CodeReason
from verifier_service.code.tested_names import defines_tested
from verifier_service.reason import Reason
from verifier_service.verifier import Verifier

if TYPE_CHECKING:
    from verifier_service.code.reference_tests import Tests


class Code(Verifier):
    """Runs the completion's program against `reference.tests` in the sandbox.

    Tests of type `asserts` have `code`, and may have `entry_point`, the function that it tests, and
    `module`, the module that it imports the program from.
    """

    purpose: ClassVar[str] = (
        "runs the program in the completion's last fenced block against reference.tests in a "
        "sandbox; 1 if every test passed, else 0, or the share that passed"
    )
    needs: ClassVar[tuple[str, ...]] = ("tests",)
    reasons: ClassVar[Iterable[Reason]] = CodeReason
    workers: ClassVar[Literal["text", "code"]] = "code"
    unavailable: ClassVar[Reason] = CodeReason.SANDBOX_ERROR

    type: Literal["code"] = "code"
    language: Annotated[LanguageName, BeforeValidator(refuse_unknown)] = Field(
        default="python", description="language of the program"
    )
    part: Literal["last_block", "completion"] = Field(
        default="last_block",
        description="last_block: the program is the last fenced block; completion: all of the text",
    )
    tags: tuple[str, ...] | None = Field(
        default=None,
        description="tags of the fenced blocks to look for; default: the language's usual ones",
    )
    scoring: Literal["all", "fraction"] = Field(
        default="all", description="all: 1 or 0; fraction: the share of tests that passed"
    )
    run_all: bool = Field(
        default=False,
        description="go on after the first test that fails; with scoring: fraction always, but "
        "after a case that met a time limit",
    )
    cpu_seconds: float = Field(
        default=4.0, gt=0, le=60, description="CPU time of one stdio case, or of all calls"
    )
    total_cpu_seconds: float = Field(
        default=30.0, gt=0, le=600, description="CPU time of all stdio cases together"
    )
    memory_bytes: int = Field(
        default=512 * 2**20, ge=2**24, le=2**33, description="memory of the program"
    )
    output_bytes: int = Field(
        default=2**20,
        ge=1,
        le=2**26,
        description="largest standard output, and standard error, of one run",
    )
    reveal_expected: bool = Field(
        default=False,
        description="put the result that the first failed test expects into `details`",
    )

    @property
    def task_size(self) -> int:
        """One: running a program takes milliseconds at least."""
        return 1

    def program_in(self, text: str, tests: Tests | None = None) -> str | None:
        """The program in a completion, or None.

        It is the last block that counts and defines a name that the tests call: a block without one
        behind it shows how the program is used.
        """
        if self.part == "completion":
            return text
        tags = tuple(tag.lower() for tag in self.tags or LANGUAGES[self.language].tags)
        if self.language != "python" or tests is None:
            return last_block(text, tags)
        return last_block(text, tags, is_preferred=lambda block: defines_tested(block, tests))
