"""Reasons of `answer_judge`. Each that is `failed` is the service's fault, not the answer's."""

from __future__ import annotations

from verifier_service.reason import Reason


class JudgeReason(Reason):
    """Reasons of `answer_judge`: of scores first, then why there is none."""

    EQUAL = "equal", "1: the final answer means the same as the reference, or as one of several."
    DIFFERENT = "different", "0: the final answer means the same as none."
    NO_ANSWER = (
        "no_answer",
        "0: the completion has no final answer, or one that only announces an answer.",
    )
    AMBIGUOUS_ANSWER = (
        "ambiguous_answer",
        "0: the completion offers different values for one answer.",
    )
    NO_JUDGE = (
        "no_judge",
        "unverifiable: rules leave the answer open, and the service has no model to ask "
        "(VERIFIER_JUDGE_URL).",
    )
    UNAVAILABLE = (
        "judge_unavailable",
        "failed: the endpoint cannot be reached, broke off, or had an error of its own.",
    )
    TIMED_OUT = "judge_timed_out", "failed: the endpoint took longer than VERIFIER_JUDGE_SECONDS."
    RATE_LIMITED = (
        "judge_rate_limited",
        "failed: the endpoint asks to wait longer than VERIFIER_JUDGE_SECONDS allow.",
    )
    REFUSED = (
        "judge_refused",
        "failed: the endpoint refuses the question, as with a wrong key or model; the log has its "
        "status.",
    )
    UNREADABLE = (
        "judge_unreadable",
        "failed: the reply was cut off, or is neither of the two that the template asks for.",
    )
    OVER_BUDGET = (
        "judge_over_budget",
        "failed: the request's questions, or the minute's calls, are used up.",
    )
