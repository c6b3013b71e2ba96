"""Fields by which a task names a rule of judging, whoever made the task.

A protocol passes on what a data set has, and data sets name their rules in fields of their own
(`tolerance`, `scorer`, `ignore_case`). A field that no reader here knows is either about the task
(`subject`, `difficulty`) or changes the rule. Its name tells which.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

# The name of a field that chooses or changes a rule: `scorer`, `eval_type`, `numeric_tolerance`,
# `ignore_case`, `accepted_answers`. Not the name of a finding: `score`, `judge_output`.
_NAMES_A_RULE = re.compile(
    r"""(?:.*_)?(?:
        rubrics? | rules? | criteri(?:a|on)s?
      | (?:grad(?:e|er|ing)|scor(?:e|er|ing)|eval(?:uat(?:e|or|ion))?|compar(?:e|ator|ison)
          |match(?:er|ing)?|check(?:er|ing)?|validat(?:or|e)|verif(?:ier|y|ication)|reward|judge
          |answer|response|output|reference|normali[sz]\w+|extract(?:or|ion)?)
        _(?:type|mode|fn|func|function|method|name|kind|rule|rules|style|strategy|config|kwargs
          |prompt|template|model|class|format|pattern|regex|schema)
        (?:_(?:name|template|type|id|path|url|config|args|kwargs))?
      | graders? | grading | scorers? | scoring | evaluators? | comparators? | comparison
      | matchers? | matching | checkers? | validators? | normali[sz](?:e\w*|er|ation)
      | (?<!for_)metrics? | rm_type | data_source_type
      | toleran\w+ | rtol | atol | (?:abs|rel)_tol | epsilon | max_error | error_margin | precision
      | decimals | num_digits | rounding
      | case_(?:in)?sensitive | (?:in)?sensitivity | ignore_\w+ | order(?:ed|_matters|_sensitive)
      | unordered | any_order | partial(?:_credit)? | penalt(?:y|ies) | negative_mark\w* | threshold
      | regex(?:es)? | patterns? | constraints? | asserts? | assertions? | test_?cases?
      | unit_tests? | keywords | must_(?:not_)?\w+ | forbidden\w* | required_\w+
      | (?:dis)?allowed_(?:answers?|values?)
      | accept(?:ed|able)_\w+ | alternatives? | aliases | (?:in)?correct_answers | wrong_answers
    )""",
    re.VERBOSE | re.IGNORECASE,
)

MATH_ANSWER_TYPES = (
    *("expression", "equation", "number", "numeric", "numerical", "integer", "fraction"),
    *("interval", "tuple", "set", "formula", "math", "mathematical", "open"),
)
"""Values of `answer_type` that describe an answer which `accuracy` compares."""


def rule_fields(fields: Mapping[str, Any], known: frozenset[str]) -> list[str]:
    """The names of fields that name a rule and that no reader knows.

    >>> rule_fields({"answer": "4", "tolerance": 0.1, "difficulty": 3}, frozenset())
    ['tolerance']
    >>> rule_fields({"answer_type": "Expression"}, frozenset())
    []
    >>> rule_fields({"answer_type": "essay"}, frozenset())
    ['answer_type']

    Args:
        fields: the fields of a task; one that is null names nothing, nor one that is false, unless
            it is about an order.
        known: names that are read, or that do not change the rule.
    """
    return [
        name
        for name, value in fields.items()
        if value is not None
        and (value is not False or name.lower().startswith("order"))
        and name not in known
        and len(name) <= MAX_NAME_CHARACTERS
        and _NAMES_A_RULE.fullmatch(name)
        and not (name == "answer_type" and str(value).lower() in MATH_ANSWER_TYPES)
    ]


MAX_NAME_CHARACTERS = 100
"""Longest name of a field that is looked at."""


class RuledBody(BaseModel):
    """A body of which unknown fields are ignored, unless one names a rule of judging."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _names_no_other_rule(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        names = rule_fields(value, frozenset(cls.model_fields))
        if names:
            raise ValueError(
                f"{names[:5]} name a rule that this route does not read: another one would give a "
                "reward that looks right; put the rule into the label or a `profile`"
            )
        return value
