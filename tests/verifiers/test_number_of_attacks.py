"""Each verifier of docs/tasks.md has enough completions that try to be paid for nothing."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import pytest

from tests.verifiers import (
    test_citations,
    test_instruction_following,
    test_puzzle,
    test_reasoning_gym,
    test_sql,
    test_string_similarity,
    test_structured_output,
    test_tool_calls,
)

FEWEST = 40
ATTACKS: dict[str, list[Callable[..., Any]]] = {
    "instruction_following": [
        test_instruction_following.test_a_check_is_met_by_its_words_alone,
        test_instruction_following.test_a_hidden_keyword_is_none,
        test_instruction_following.test_a_forbidden_word_is_found_in_other_letters,
    ],
    "tool_calls": [
        test_tool_calls.test_nothing_but_the_wanted_call_scores,
        test_tool_calls.test_a_call_in_a_form_of_other_models_is_no_silence,
    ],
    "structured_output": [
        test_structured_output.test_nothing_but_the_wanted_document_scores,
        test_structured_output.test_what_the_reader_of_yaml_raises_is_a_wrong_document,
    ],
    "sql": [
        test_sql.test_a_query_can_only_read_and_only_so_much,
        test_sql.test_a_query_with_other_rows_scores_0,
    ],
    "puzzle": [test_puzzle.test_a_hostile_answer_scores_0],
    "reasoning_gym": [
        test_reasoning_gym.test_what_is_no_notation_is_not_read,
        test_reasoning_gym.test_a_literal_is_not_run,
        test_reasoning_gym.test_numbers_of_bits_are_bounded,
        test_reasoning_gym.test_exponents_are_bounded,
        test_reasoning_gym.test_24_is_made_of_the_numbers_of_the_puzzle,
        test_reasoning_gym.test_halting_is_the_word_and_not_any_text,
        test_reasoning_gym.test_a_probability_has_the_share_of_its_digits,
    ],
    "string_similarity": [
        test_string_similarity.test_padding_and_lists_of_everything_score_little,
        test_string_similarity.test_mrcr_wants_its_prefix,
        test_string_similarity.test_a_reason_says_why_nothing_is_similar,
    ],
    "citations": [
        test_citations.test_only_visible_citations_of_valid_sources_count,
        test_citations.test_a_claim_stands_between_its_tags,
        test_citations.test_marks_are_no_claim,
        test_citations.test_no_citation_where_none_is_wanted,
    ],
}


def number_of_cases(test: Callable[..., Any]) -> int:
    """The parameters of a test, of which each is a completion."""
    marks = [mark for mark in test.__dict__["pytestmark"] if mark.name == "parametrize"]
    return prod(len(list(mark.args[1])) for mark in marks)


@pytest.mark.parametrize("verifier", ATTACKS)
def test_a_verifier_has_enough_attacks(verifier: str) -> None:
    assert sum(map(number_of_cases, ATTACKS[verifier])) >= FEWEST
