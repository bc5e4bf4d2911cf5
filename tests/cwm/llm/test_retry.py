"""The retry layer on a fake clock: which failures are asked again, and exactly how long it waits."""

import random

import pytest

from cwm.llm.api import Completion, ConfigurationError, LanguageModelError, Message, QuotaExhaustedError, Request
from cwm.llm.line import Secret
from cwm.llm.providers.failures import Refusal, Service, explain_refusal, public_address, retry_after_s
from cwm.llm.providers.scripted import Answer, Scripted
from cwm.llm.retry import GaveUpError, Retrying, RetryPolicy, TransientError, lost_calls

REQUEST = Request((Message("user", "Hello"),), "test")
SERVICE = Service("openai:m-1", "m-1", "http://localhost:1/v1", "OPENAI_API_KEY", Secret("sk-canary-1234"))
PLAIN = RetryPolicy(jitter=0.0)


def busy(wait: float | None = None) -> TransientError:
    return TransientError("busy.", "rate_limit", retry_after_s=wait)


def late() -> TransientError:
    return TransientError("late.", "timeout", maybe_billed=True)


def absent() -> TransientError:
    return TransientError("No connection to http://localhost:1/v1.", "unreachable")


class Run:
    def __init__(self, answers: list[Answer], policy: RetryPolicy = PLAIN, seed: int = 0) -> None:
        self.waits: list[float] = []
        self.script = Scripted(answers)
        self.model = Retrying(self.script, policy, seed=seed, sleep=self.waits.append)

    def complete(self) -> Completion:
        return self.model.complete(REQUEST)


def test_waits_double_up_to_their_cap() -> None:
    run = Run([busy()] * 5 + ["hi"], RetryPolicy(first_wait_s=2.0, longest_wait_s=10.0, jitter=0.0))
    assert run.complete().text == "hi"
    assert run.waits == [2.0, 4.0, 8.0, 10.0, 10.0]


def test_jitter_comes_from_the_seed() -> None:
    run = Run([busy(), busy(), "hi"], RetryPolicy(jitter=0.5), seed=3)
    run.complete()
    rng = random.Random(3)
    assert run.waits == [1.0 * (0.5 + 0.5 * rng.random()), 2.0 * (0.5 + 0.5 * rng.random())]


def test_the_server_is_never_asked_before_its_retry_after() -> None:
    run = Run([busy(30.0), busy(0.1), "hi"])
    run.complete()
    assert run.waits == [30.0, 2.0]


def test_a_wait_that_is_too_long_ends_the_call_at_once() -> None:
    run = Run([busy(3600.0), "hi"])
    with pytest.raises(GaveUpError, match="3600 s"):
        run.complete()
    assert run.waits == []


def test_attempts_are_bounded() -> None:
    run = Run([busy()] * 100)
    with pytest.raises(GaveUpError, match="after 6 attempts"):
        run.complete()
    assert len(run.script.requests) == 6
    assert run.waits == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_timeouts_are_tried_less_often_since_each_may_be_billed() -> None:
    run = Run([late()] * 100)
    with pytest.raises(GaveUpError) as caught:
        run.complete()
    assert len(run.script.requests) == 3
    assert lost_calls(caught.value) == 3


def test_attempts_and_lost_ones_are_in_the_metadata() -> None:
    run = Run([busy(), late(), "hi"])
    completion = run.complete()
    assert completion.metadata["attempts"] == 3
    assert lost_calls(completion) == 1


def test_a_server_that_never_answered_is_given_up_soon_as_a_wrong_address() -> None:
    run = Run([absent()] * 100)
    with pytest.raises(ConfigurationError, match="http://localhost:1/v1"):
        run.complete()
    assert run.waits == [1.0, 2.0]


def test_a_server_that_answered_before_is_waited_for() -> None:
    run = Run(["hi", *[absent()] * 4, "back"])
    run.complete()
    assert run.complete().text == "back"
    assert run.waits == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("error", [ConfigurationError("no"), QuotaExhaustedError("empty"), LanguageModelError("never")])
def test_failures_that_stay_are_not_asked_again(error: LanguageModelError) -> None:
    run = Run([error, "hi"])
    with pytest.raises(type(error)):
        run.complete()
    assert (len(run.script.requests), run.waits) == (1, [])


def test_lost_attempts_are_known_after_a_final_failure_too() -> None:
    run = Run([late(), QuotaExhaustedError("empty")])
    with pytest.raises(QuotaExhaustedError) as caught:
        run.complete()
    assert lost_calls(caught.value) == 1


@pytest.mark.parametrize("outcome", ["truncated", "refused", "empty"])
def test_an_answer_that_is_not_good_is_still_an_answer(outcome: str) -> None:
    answer = Completion("half", outcome, "m-1")  # type: ignore[arg-type]
    run = Run([answer, "hi"])
    assert run.complete() == answer


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_statuses_that_may_pass(status: int) -> None:
    assert isinstance(explain_refusal(SERVICE, Refusal(status, message="x")), TransientError)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 422])
def test_statuses_that_stay(status: int) -> None:
    assert isinstance(explain_refusal(SERVICE, Refusal(status, message="x")), ConfigurationError)


def test_a_missing_key_and_a_wrong_one_are_told_apart() -> None:
    keyless = Service("openai:m-1", "m-1", "http://localhost:1/v1", "OPENAI_API_KEY", None)
    assert "is not set" in str(explain_refusal(keyless, Refusal(401)))
    assert "did not accept the key" in str(explain_refusal(SERVICE, Refusal(401)))


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "12"}, 12.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"Retry-After-Ms": "250", "Retry-After": "9"}, 0.25),
        ({"Retry-After": "Thu, 01 Jan 1970 00:02:00 GMT"}, 20.0),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-1"}, None),
        ({}, None),
    ],
)
def test_retry_after_in_each_of_its_forms(headers: dict[str, str], wait: float | None) -> None:
    assert retry_after_s(headers, now=lambda: 100.0) == wait


def test_an_address_is_shown_without_its_secrets() -> None:
    assert public_address("https://me:pw@host.example:8443/v1?key=x#y") == "https://host.example:8443/v1"


def test_a_secret_shows_nowhere() -> None:
    secret = Secret("sk-canary-1234")
    assert "canary" not in f"{secret} {secret!r} {SERVICE}"
    with pytest.raises(TypeError):
        secret.__reduce__()
