"""Every way in which a provider answers or fails, for each API, through the whole stack to the journal on disk."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cwm.llm.api import Completion, ConfigurationError, LanguageModelError, Message, QuotaExhaustedError, Request
from cwm.llm.budget import Budget, Budgeted, Price
from cwm.llm.journaled import Journaled
from cwm.llm.line import Line
from cwm.llm.provider_table import PROVIDERS
from cwm.llm.providers.factory import make
from cwm.llm.retry import GaveUpError, GaveUpWaitingError, RetryPolicy
from cwm.record.record import RunRecord

CANARY = "sk-canary-0123456789abcdef"
REQUEST = Request((Message("user", "Hello"),), "transition", 100)
_EVENTS = {"Content-Type": "text/event-stream"}
WORST = 4 + 2
"""Input tokens set aside for the request: four for the message, two for five characters."""
PATIENT_S = 20.0
IMPATIENT_S = 0.6
"""Time limit where the server hangs or drips; the answer that follows must still fit."""


@dataclass(frozen=True)
class Api:
    """How one API is named, and what its server says."""

    spec: str
    stream: bool = False

    @property
    def name(self) -> str:
        return self.spec.split(":", maxsplit=1)[0] + (" streaming" if self.stream else "")

    def answer(self, text: str = "hi", end: str = "stop", refusal: str | None = None) -> tuple[Any, dict[str, str]]:
        """Returns body and headers of an answer that ends with `stop`, `length` or `safety`."""
        if self.spec.startswith("google"):
            reason = {"stop": "STOP", "length": "MAX_TOKENS", "safety": "SAFETY"}[end]
            content = {"role": "model", "parts": [{"text": text}] if text else []}
            usage = {"promptTokenCount": 7, "candidatesTokenCount": 3}
            whole = {"candidates": [{"content": content, "finishReason": reason}], "usageMetadata": usage}
            if not self.stream:
                return whole, {}
            pieces = [
                *(
                    {"candidates": [{"content": {"parts": [{"text": piece}]}}], "usageMetadata": usage}
                    for piece in text
                ),
                {"candidates": [{"content": {"parts": []}, "finishReason": reason}], "usageMetadata": usage},
            ]
            return "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces), _EVENTS
        if self.spec.startswith("anthropic"):
            return self._of_anthropic(text, {"stop": "end_turn", "length": "max_tokens", "safety": "refusal"}[end])
        reason = "content_filter" if end == "safety" else end
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        about = {"id": "c-1", "created": 1, "model": "m-1"}
        if not self.stream:
            message = {"role": "assistant", "content": text, "refusal": refusal}
            choice = {"index": 0, "finish_reason": reason, "message": message}
            return {**about, "object": "chat.completion", "choices": [choice], "usage": usage}, {}
        pieces = [{"index": 0, "delta": {"content": piece}} for piece in text]
        chunks: list[dict[str, Any]] = [
            {**about, "object": "chat.completion.chunk", "choices": [choice]}
            for choice in [*pieces, {"index": 0, "delta": {}, "finish_reason": reason}]
        ]
        chunks.append({**about, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        return "".join(lines) + "data: [DONE]\n\n", _EVENTS

    def _of_anthropic(self, text: str, reason: str) -> tuple[Any, dict[str, str]]:
        about = {"id": "c-1", "type": "message", "role": "assistant", "model": "m-1"}
        if not self.stream:
            content = [{"type": "text", "text": text}] if text else []
            usage = {"input_tokens": 7, "output_tokens": 3}
            return {**about, "content": content, "stop_reason": reason, "usage": usage}, {}
        begun = {**about, "content": [], "stop_reason": None, "usage": {"input_tokens": 7, "output_tokens": 1}}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": begun},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": x}} for x in text),
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}},
            {"type": "message_stop"},
        ]
        return "".join(f"event: {item['type']}\ndata: {json.dumps(item)}\n\n" for item in events), _EVENTS

    def refusal(self, status: int, *details: dict[str, Any], code: str = "x") -> dict[str, Any]:
        """Returns the body of an HTTP error, which names the key as a careless server would."""
        message = f"no: {CANARY}"
        if self.spec.startswith("google"):
            return {"error": {"code": status, "message": message, "status": "X", "details": list(details)}}
        if self.spec.startswith("anthropic"):
            kind = "billing_error" if code == "insufficient_quota" else "x_error"
            return {"type": "error", "error": {"type": kind, "message": message}}
        return {"error": {"message": message, "code": code}}

    def quota(self) -> dict[str, Any]:
        """Returns the body of the 429 that says that the account is empty."""
        return self.refusal(429, {"violations": [{"quotaId": "RequestsPerDay"}]}, code="insufficient_quota")


APIS = [
    *(Api(spec, stream) for spec in ("openai:m-1", "google:m-1") for stream in (False, True)),
    *(pytest.param(Api("anthropic:m-1", stream), marks=pytest.mark.extra("anthropic")) for stream in (False, True)),
]


class Script:
    """Builds the scripted replies of one API."""

    def __init__(self, api: Api, reply: Any) -> None:
        self._api = api
        self._reply = reply

    def good(self, **wire: Any) -> Any:
        body, headers = self._api.answer()
        return self._reply(body=body, headers=headers, **wire)

    def ending(self, text: str, end: str) -> Any:
        body, headers = self._api.answer(text, end)
        return self._reply(body=body, headers=headers)

    def status(self, status: int, headers: dict[str, str] | None = None) -> Any:
        return self._reply(status, self._api.refusal(status), headers or {})

    def quota(self) -> Any:
        return self._reply(429, self._api.quota(), {"Retry-After": "1"})

    def text(self, body: str) -> Any:
        return self._reply(body=body, headers=self._api.answer()[1])


@dataclass(frozen=True)
class Case:
    """What a server does, and what must come of one question.

    Attributes:
        replies: in order.
        outcome: of the answer, or the class of the error.
        waits: seconds waited between the attempts.
        lost: attempts that may be on the bill without an answer.
        timeout_s: time limit of one attempt.
    """

    replies: Callable[[Script], list[Any]]
    outcome: str | type[LanguageModelError] = "ok"
    waits: list[float] = field(default_factory=list)
    lost: int = 0
    timeout_s: float = PATIENT_S


CASES = {
    "success": Case(lambda s: [s.good()]),
    "429 with Retry-After": Case(lambda s: [s.status(429, {"Retry-After": "7"}), s.good()], waits=[7.0]),
    "429 with a short Retry-After": Case(
        lambda s: [*(s.status(429, {"Retry-After": "1"}) for _ in range(3)), s.good()], waits=[1.0, 2.0, 4.0]
    ),
    "429 with a Retry-After that is too long": Case(
        lambda s: [s.status(429, {"Retry-After": "900"}), s.good()], GaveUpError
    ),
    "429 without Retry-After": Case(lambda s: [s.status(429), s.status(429), s.good()], waits=[1.0, 2.0]),
    "429 for ever": Case(lambda s: [s.status(429) for _ in range(9)], GaveUpError, [1.0, 2.0, 4.0, 8.0, 16.0]),
    "insufficient_quota": Case(lambda s: [s.quota(), s.good()], QuotaExhaustedError),
    "400": Case(lambda s: [s.status(400), s.good()], ConfigurationError),
    "401": Case(lambda s: [s.status(401), s.good()], ConfigurationError),
    "403": Case(lambda s: [s.status(403), s.good()], ConfigurationError),
    "404": Case(lambda s: [s.status(404), s.good()], ConfigurationError),
    "burst of 500": Case(lambda s: [*(s.status(500) for _ in range(5)), s.good()], waits=[1.0, 2.0, 4.0, 8.0, 16.0]),
    "500 for ever": Case(lambda s: [s.status(500) for _ in range(9)], GaveUpError, [1.0, 2.0, 4.0, 8.0, 16.0]),
    "503 with Retry-After": Case(lambda s: [s.status(503, {"Retry-After": "5"}), s.good()], waits=[5.0]),
    "burst, then a wrong key": Case(lambda s: [s.status(500), s.status(401)], ConfigurationError, [1.0]),
    "hang, then success": Case(lambda s: [s.good(hang_s=30.0), s.good()], waits=[1.0], lost=1, timeout_s=IMPATIENT_S),
    "hang for ever": Case(
        lambda s: [s.good(hang_s=30.0) for _ in range(9)], GaveUpWaitingError, [1.0, 2.0], lost=3, timeout_s=IMPATIENT_S
    ),
    "reset in the body": Case(lambda s: [s.good(cut_after=20), s.good()], waits=[1.0], lost=1),
    "reset before the body": Case(lambda s: [s.good(cut_after=0), s.good()], waits=[1.0], lost=1),
    "slow drip": Case(lambda s: [s.good(drip_s=0.05), s.good()], waits=[1.0], lost=1, timeout_s=IMPATIENT_S),
    "invalid JSON": Case(lambda s: [s.text('data: {"choices": [{]\n\n'), s.good()], waits=[1.0], lost=1),
    "a page of a proxy": Case(lambda s: [s.text("<html>gateway</html>"), s.good()], waits=[1.0], lost=1),
    "no body at all": Case(lambda s: [s.text(""), s.good()], waits=[1.0], lost=1),
    "empty": Case(lambda s: [s.ending("", "stop")], "empty"),
    "truncated": Case(lambda s: [s.ending("half", "length")], "truncated"),
    "truncated to nothing": Case(lambda s: [s.ending("", "length")], "truncated"),
    "refused": Case(lambda s: [s.ending("", "safety")], "refused"),
    "refused half-way": Case(lambda s: [s.ending("half", "safety")], "refused"),
}


class Stack:
    """Journal on disk around budget around retries around a client library; waits are noted, not waited."""

    def __init__(self, api: Api, server: Any, folder: Path, timeout_s: float = PATIENT_S) -> None:
        self.waits: list[float] = []
        self.budget = Budget()
        self.record = RunRecord.create_or_resume(folder, "synthesis", {})
        self.budget.restore_from(self.record.calls.calls(), {api.spec: Price(1.0, 1.0)})
        provider_name = api.spec.split(":", maxsplit=1)[0]
        if provider_name == "anthropic":
            pytest.importorskip("anthropic")
        provider = make(
            api.spec,
            base_url=f"{server.address}/v1" if provider_name == "openai" else server.address,
            line=Line(timeout_s, api.stream),
            retry=RetryPolicy(jitter=0.0),
            sleep=self.waits.append,
            environment={PROVIDERS[provider_name].keys[0]: CANARY},
        )
        self.model = Journaled(Budgeted(provider, self.budget, Price(1.0, 1.0)), self.record.calls)

    def ask(self) -> Completion | LanguageModelError:
        try:
            return self.model.complete(REQUEST)
        except LanguageModelError as error:
            return error

    def rows(self) -> list[tuple[str, int, int]]:
        return [(call.status, call.occurrence, call.lost) for call in self.record.calls.calls()]


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
@pytest.mark.parametrize("name", CASES)
def test_attempts_waits_journal_and_bill(name: str, api: Api, server: Any, reply: Any, tmp_path: Path) -> None:
    case = CASES[name]
    server.replies = case.replies(Script(api, reply))
    stack = Stack(api, server, tmp_path, case.timeout_s)
    found = stack.ask()
    stack.record.close()

    answered = isinstance(case.outcome, str)
    if isinstance(found, Completion):
        assert found.outcome == case.outcome
    else:
        assert type(found) is case.outcome, found
    assert stack.waits == case.waits
    assert len(server.received) == len(case.waits) + 1

    stack.record = RunRecord.open(tmp_path)
    assert stack.rows() == [("answered" if answered else "failed", 0, case.lost)]
    (row,) = stack.record.calls.calls()
    assert row.completion == (found if answered else None)
    assert row.message == ("" if answered else str(found))
    stack.record.close()

    bill = stack.budget.total()
    assert (bill.calls, bill.lost) == (int(answered) + case.lost, case.lost)
    assert (bill.input_tokens, bill.output_tokens) == (
        7 * answered + WORST * case.lost,
        3 * answered + 100 * case.lost,
    )
    on_disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert CANARY.encode() not in on_disk
    assert CANARY not in repr(found)


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_the_same_question_twice_is_two_calls_and_a_resumed_run_makes_neither_again(
    api: Api, server: Any, reply: Any, tmp_path: Path
) -> None:
    script = Script(api, reply)
    server.replies = [script.good(), script.good()]
    first = Stack(api, server, tmp_path)
    answers = [first.ask(), first.ask()]
    assert first.rows() == [("answered", 0, 0), ("answered", 1, 0)]
    first.record.close()

    again = Stack(api, server, tmp_path)
    assert [again.ask(), again.ask()] == answers
    assert len(server.received) == 2
    assert again.budget.total() == first.budget.total()
    again.record.close()


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_a_failed_call_is_made_again_by_a_resumed_run_and_its_lost_attempts_stay_on_the_bill(
    api: Api, server: Any, reply: Any, tmp_path: Path
) -> None:
    script = Script(api, reply)
    server.replies = [script.good(cut_after=5) for _ in range(6)]
    first = Stack(api, server, tmp_path)
    assert isinstance(first.ask(), GaveUpError)
    first.record.close()
    server.replies = [script.good()]
    again = Stack(api, server, tmp_path)
    found = again.ask()
    assert isinstance(found, Completion)
    assert again.rows() == [("answered", 0, 6)]
    assert (again.budget.total().calls, again.budget.total().lost) == (7, 6)
    assert len(server.received) == 7
    again.record.close()


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_a_server_that_nobody_runs_is_asked_three_times_and_costs_nothing(
    api: Api, closed_address: str, tmp_path: Path
) -> None:
    stack = Stack(api, type("Nowhere", (), {"address": closed_address}), tmp_path)
    found = stack.ask()
    assert type(found) is ConfigurationError
    assert stack.waits == [1.0, 2.0]
    assert stack.rows() == [("failed", 0, 0)]
    assert stack.budget.total().calls == 0
    stack.record.close()
