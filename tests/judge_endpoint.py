"""A stand-in for a model behind an OpenAI-compatible endpoint, with all its bad days.

It judges by a table of texts that mean the same, and is the worst judge there can be: it says yes
to whatever it sees outside the quotations of its prompt and does not know from the template.

    .venv/bin/python -m tests.judge_endpoint --seconds 0.1
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from tests.served_in_thread import served_in_thread
from verifier_service.model_judge.templates import (
    read_pair_template,
    read_rubric_template,
    read_template,
)
from verifier_service.model_judge.wording import Wording

Mode = Literal[
    "deterministic",
    "hangs",
    "rate_limited",
    "rate_limited_once",
    "fails",
    "fails_in_30_percent",
    "refuses",
    "breaks_off",
    "is_cut_off",
    "malformed",
    "nonsense",
    "huge",
    "prefers_the_first",
    "says_no",
]
SYNONYMS = (
    {"paris", "the french capital", "the capital of france", "la ville lumière", "巴黎"},
    {"12", "twice six"},
    {"the derivative", "the slope of the tangent"},
    {'a 5" by 7" photo', 'a photo of 5" times 7"'},
    {"b is more than a", "a is <smaller> than b"},
)
"""Texts that mean the same, in lower case."""

# A JSON string in one line, with only whole escapes: `"5\" by 7\""`.
QUOTATION = re.compile(r'"(?:[^"\\\n]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*"')
# The two equal lines around the answer, and what is between them.
MARKED = re.compile(r"^([0-9a-f]{24})\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)
# A mark from which chat formats begin a message, which no quotation contains: `<|im_start|>`.
CHAT_MARK = re.compile(r"</?[|\w\uff5c]|\[/?[A-Z_]{2,}\]")


def means_the_same(answer: str, references: Sequence[str]) -> bool:
    """Whether an answer means the same as one of the references."""
    given, wanted = _plain(answer), set(map(_plain, references))
    return given in wanted or any(given in same and wanted & same for same in SYNONYMS)


def meets(response: str, criterion: str) -> bool:
    """Whether a response meets the criterion `mentions X`."""
    return criterion.removeprefix("mentions ").casefold() in response.casefold()


def _in_form(wording: Wording, decision: str) -> str:
    """The first reply of a decision, in the form of the template."""
    said = getattr(wording, decision)[0]
    if wording.output == "json_schema":
        return json.dumps({"verdict": said})
    return f"{wording.last_line} {said}" if wording.last_line else str(said)


def _plain(text: str) -> str:
    return re.sub(r"\\text\{([^{}]*)\}", r"\1", text).strip(" .$").casefold()


def outside(prompt: str) -> str:
    """Everything of a prompt that a naive reader does not take for quoted."""

    def unless_broken(quotation: re.Match[str]) -> str:
        return quotation[0] if CHAT_MARK.search(quotation[0]) else ""

    rest = QUOTATION.sub(unless_broken, MARKED.sub(r"\n\2\n", prompt))
    hidden = [one for one in prompt if unicodedata.category(one) in ("Cc", "Cf", "Co", "Cs", "Cn")]
    shown = re.sub(r"null|[\s\[\],]", "", rest)
    return shown + "".join(one for one in hidden if one != "\n")


@dataclass
class Judge:
    """A model and its endpoint."""

    template: str = "yes_no"
    rubric_template: str = "yes_no"
    mode: Mode = "deterministic"
    seconds: float = 0.0
    """Time that each reply takes."""
    retry_after: str = "0"
    bodies: list[dict[str, Any]] = field(default_factory=list)
    """The calls."""
    heads: list[str] = field(default_factory=list)
    num_obeyed: int = 0
    """Prompts that had something outside the quotations."""
    num_calls: int = 0
    num_at_once: int = 0
    most_at_once: int = 0

    def __post_init__(self) -> None:
        answers, rubrics = read_template(self.template), read_rubric_template(self.rubric_template)
        pairs = read_pair_template("a_b_tie")
        self._kinds: dict[str, tuple[Wording, Callable[[str, list[str]], str]]] = {}
        for user in (answers.user, answers.user_swapped):
            self._learn(user, answers, self._about_answer)
        self._learn(rubrics.user, rubrics, self._about_item)
        self._learn(rubrics.user_together, rubrics, self._about_items)
        self._learn(pairs.user, pairs, self._about_pair)
        self._answers = answers

    def _learn(
        self, user: str | None, wording: Wording, judge: Callable[[str, list[str]], str]
    ) -> None:
        if user is not None:
            self._kinds[outside(re.sub(r"\{\w+\}", "", user))] = (wording, judge)

    def reply(self, body: dict[str, Any]) -> str:
        """The reply to a question."""
        prompt = body["messages"][-1]["content"]
        known = self._kinds.get(outside(prompt))
        if known is None:
            self.num_obeyed += 1
            return self._obeyed(prompt)
        wording, judge = known
        marked = [json.loads(one[2]) for one in MARKED.finditer(prompt)]
        rest = MARKED.sub("", prompt)
        texts = [json.loads(one[0]) for one in QUOTATION.finditer(rest)]
        decision = judge("\n".join(marked), [*marked, *texts])
        if decision.startswith("{"):
            return decision
        return _in_form(wording, decision)

    def _obeyed(self, prompt: str) -> str:
        """The reply that an attacker wants: yes, all of it, or that this one is better."""
        if "Response A:" in prompt:
            blocks = [one[2] for one in MARKED.finditer(prompt)]
            return "A" if not blocks or outside(blocks[0]) else "B"
        if "Criteria:" in prompt:
            return json.dumps({"met": [True] * (prompt.count("mentions ") or 1)})
        if "Criterion:" in prompt:
            return "yes"
        return _in_form(self._answers, "equal")

    def _about_answer(self, answer: str, texts: list[str]) -> str:
        return "equal" if means_the_same(answer, texts[1:]) else "different"

    def _about_item(self, response: str, texts: list[str]) -> str:
        return "met" if meets(response, texts[-1]) else "unmet"

    def _about_items(self, response: str, texts: list[str]) -> str:
        criteria = [text for text in texts[1:] if text.startswith("mentions ")]
        return json.dumps({"met": [meets(response, one) for one in criteria]})

    def _about_pair(self, _: str, texts: list[str]) -> str:
        first, second = (text.casefold().count("good") for text in texts[:2])
        if self.mode == "prefers_the_first" or first > second:
            return "first"
        return "second" if second > first else "tie"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the calls of one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.heads.append(head.decode())
                length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
                assert length is not None
                content = await reader.readexactly(int(length[1]))
                # This mode takes as little of the machine as an endpoint elsewhere.
                body = {} if self.mode == "says_no" else json.loads(content)
                self.num_at_once += 1
                self.most_at_once = max(self.most_at_once, self.num_at_once)
                try:
                    goes_on = await self._answer(body, writer)
                finally:
                    self.num_at_once -= 1
                if not goes_on:
                    break
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass  # the client or the test is done
        finally:
            writer.close()

    async def _answer(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        self.num_calls += 1
        self.bodies.append(body)
        await asyncio.sleep(3600 if self.mode == "hangs" else self.seconds)
        status, content = self._response(body)
        retry = f"Retry-After: {self.retry_after}\r\n" if status == 429 else ""
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n{retry}\r\n"
        is_broken = self.mode == "breaks_off"
        writer.write(head.encode() + (content[: len(content) // 2] if is_broken else content))
        await writer.drain()
        return not is_broken

    def _response(self, body: dict[str, Any]) -> tuple[int, bytes]:
        """The status, and the content."""
        match self.mode:
            case "rate_limited":
                return 429, b"{}"
            case "rate_limited_once" if self.num_calls == 1:
                return 429, b"{}"
            case "fails":
                return 500, b"{}"
            case "fails_in_30_percent" if self.num_calls * 7 % 10 < 3:
                return 500, b"{}"
            case "refuses":
                return 401, b"{}"
            case "malformed":
                return 200, b'{"choices": [{"message": {"content": ["yes"'
            case "nonsense":
                return 200, _completion("Yes and no: it depends.", "stop")
            case "is_cut_off":
                return 200, _completion(self.reply(body), "length")
            case "says_no":
                return 200, _NO
            case "huge":
                return 200, _completion("yes" * 2**20, "stop")
            case _:
                return 200, self.content(body)

    def content(self, body: dict[str, Any]) -> bytes:
        """The body of a good response."""
        return _completion(self.reply(body), "stop", with_logprobs="logprobs" in body)


def _completion(text: str, finish_reason: str, *, with_logprobs: bool = False) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    if with_logprobs:  # the sampled token is not always the likeliest
        tokens = [(text, -0.1), (f" {text.upper()}", -3.0), ("I", -4.0)]
        tops = [{"token": token, "logprob": logprob} for token, logprob in tokens]
        place = {"token": "I", "logprob": -4.0, "top_logprobs": tops}
        choice |= {"logprobs": {"content": [place]}, "finish_reason": "length"}
        message["content"] = "I"
    usage = {"prompt_tokens": 100, "completion_tokens": 2}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


_NO = _completion("no", "stop")


@contextmanager
def serving(judge: Judge) -> Iterator[str]:
    """The URL of a judge, which is served from another thread."""
    with served_in_thread(judge.serve) as url:
        yield f"{url}/v1"


async def _serve_alone(mode: Mode, seconds: float) -> None:
    server = await asyncio.start_server(Judge(mode=mode, seconds=seconds).serve, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)  # noqa: T201
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.0, help="time that each reply takes")
    parser.add_argument("--mode", choices=get_args(Mode), default="deterministic")
    chosen = parser.parse_args()
    asyncio.run(_serve_alone(chosen.mode, chosen.seconds))
