"""Numbers and words of the client and the trainer that have to fit those of the service."""

from __future__ import annotations

from reward_verifier.client import MAX_LINE_BYTES
from reward_verifier.request_content import MIN_COMPRESSED_BYTES
from trainer_client.run import rollout_log
from trainer_client.service_process import URL_IN_LOG
from verifier_service.audit import scored_rows
from verifier_service.engine.body_limit import MAX_HELD_BYTES
from verifier_service.engine.response_json import MAX_RESPONSE_BYTES
from verifier_service.logs import LISTENING


def test_the_client_reads_every_line_that_the_service_may_send() -> None:
    assert MAX_LINE_BYTES >= MAX_RESPONSE_BYTES


def test_the_client_compresses_bodies_that_get_a_process_of_their_own_anyway() -> None:
    """A smaller one would get its process only by being compressed."""
    assert MIN_COMPRESSED_BYTES == MAX_HELD_BYTES


def test_an_audit_takes_for_passed_what_the_run_took_for_passed() -> None:
    assert scored_rows.PASSING_SCORE == rollout_log.PASSING_SCORE


def test_the_trainer_finds_the_address_in_the_log_of_a_service() -> None:
    found = URL_IN_LOG.search(LISTENING % ("[::1]", 8080))
    assert found
    assert found[1] == "http://[::1]:8080"
