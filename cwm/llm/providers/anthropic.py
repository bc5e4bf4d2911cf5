"""Anthropic's models through anthropic, the client library of the extra of that name."""

import importlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from cwm.llm.api import Completion, ConfigurationError, LanguageModelError, Outcome, Request, Usage
from cwm.llm.providers.failures import (
    Refusal,
    Service,
    broken_off,
    explain_refusal,
    retry_after_s,
    timed_out,
    unreachable,
    unreadable,
)
from cwm.llm.providers.transport import Clients, DeadlinePassedError, Pulse, patience, streams, wire_text
from cwm.llm.providers.wishes import Wishes
from cwm.llm.tokens import estimate_usage

DEFAULT_BASE_URL: Final = "https://api.anthropic.com"

# A reason that no list holds counts as truncated: the answer is not known to be whole.
_WHOLE: Final = frozenset({"end_turn", "stop_sequence"})
_REFUSED: Final = frozenset({"refusal"})
_NO_KEY: Final = "none"
_STATUS_OF: Final[Mapping[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Of an error that is told within a stream, whose own status is 200; 500 of others."""


@dataclass
class _Answer:
    """What a whole answer or the pieces of one say; `reason` is empty where none said why the answer ended."""

    text: str = ""
    reason: str = ""
    model: str = ""
    identifier: str = ""
    sent: int | None = None
    received: int | None = None

    def begin(self, message: Any) -> None:
        self.model = _text(getattr(message, "model", None))
        self.identifier = _text(getattr(message, "id", None))
        self.count(getattr(message, "usage", None))

    def count(self, usage: Any) -> None:
        kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        sent = [count for kind in kinds if isinstance(count := getattr(usage, kind, None), int)]
        received = getattr(usage, "output_tokens", None)
        # Later pieces count what was received so far, and often leave out what was sent.
        self.sent = max(sum(sent), self.sent or 0) if sent else self.sent
        self.received = received if isinstance(received, int) else self.received

    def end(self, told: Any) -> None:
        self.reason = _text(getattr(told, "stop_reason", None)) or self.reason


class AnthropicModel:
    """One model of Anthropic's messages API. It makes one attempt a call: `Retrying` makes the others."""

    def __init__(self, model: str, wishes: Wishes) -> None:
        """Prepares the client; nothing is sent yet.

        Args:
            model: the model's name.
            wishes: key, address (without `/v1`), times, headers.

        Raises:
            ConfigurationError: the client library is not installed.
        """
        self._library = _installed()
        self._base_url = wishes.base_url or DEFAULT_BASE_URL
        self._service = Service.of("anthropic", model, self._base_url, wishes)
        # The key is kept where nobody prints it.
        self._wishes = replace(wishes, key=None)
        self._clients: Clients[Any] = Clients(self._client)

    @property
    def name(self) -> str:
        """Returns `anthropic:MODEL`."""
        return self._service.name

    def complete(self, request: Request) -> Completion:
        """Answers one request with one attempt.

        Raises:
            TransientError: another attempt may succeed.
            ConfigurationError: key, model, address or request are wrong.
            QuotaExhaustedError: the account is empty.
        """
        result = self._attempt(request)
        if isinstance(result, LanguageModelError):
            raise result
        return result

    def close(self) -> None:
        """Closes idle connections."""
        self._clients.close()

    @property
    def _read_s(self) -> float:
        return self._wishes.answer_s or self._wishes.timeout_s

    def _client(self) -> Any:
        key = self._service.key
        client = self._library.Anthropic(
            api_key=key.reveal() if key else _NO_KEY,
            base_url=self._base_url,
            max_retries=0,
            timeout=self._read_s,
            default_headers={name: value.reveal() for name, value in self._wishes.headers},
        )
        # The library would send a token of the environment in place of the key, wherever the address leads.
        client.auth_token = None
        return client

    # Failures are returned, and raised only after the except block has ended: an exception of the client library,
    # chained to ours, would hold the request and with it the key.
    def _attempt(self, request: Request) -> Completion | LanguageModelError:
        started = time.monotonic()
        try:
            answer = self._clients.call(
                lambda client, pulse: self._ask(client, request, pulse), patience(self._wishes, request)
            )
        except DeadlinePassedError as error:
            return timed_out(self._service, error.seconds, error.silent)
        except self._library.APIConnectionError as error:
            return self._disconnected(error)
        except self._library.APIStatusError as error:
            return explain_refusal(self._service, _refusal(error))
        except (self._library.AnthropicError, ValueError, TypeError, AttributeError, LookupError) as error:
            # The library takes a body apart without looking at its shape first.
            return unreadable(self._service, f"{type(error).__name__}: {error}")
        except Exception as error:
            # Broken off within a stream, the HTTP package's own error arrives, and which one that is has changed.
            if not type(error).__module__.startswith(("httpx", "httpcore")):
                raise
            return broken_off(self._service, f"{type(error).__name__}: {error}")
        if isinstance(answer, str):
            return unreadable(self._service, answer)
        return self._completion(request, answer, time.monotonic() - started)

    def _ask(self, client: Any, request: Request, pulse: Pulse) -> _Answer | str:
        arguments = _arguments(self._service.model, request)
        if not streams(self._wishes, request):
            return _whole(client.messages.create(**arguments, timeout=self._read_s))
        with client.messages.create(**arguments, timeout=self._read_s, stream=True) as pieces:
            return _joined(pieces, pulse)

    def _disconnected(self, error: Exception) -> LanguageModelError:
        cause = error.__cause__
        kind = type(cause).__name__
        if kind.startswith(("Connect", "UnsupportedProtocol")):
            return unreachable(self._service, f"{kind}: {cause}")
        if isinstance(error, self._library.APITimeoutError):
            return timed_out(self._service, self._read_s)
        return broken_off(self._service, f"{kind}: {cause}" if cause else str(error))

    def _completion(self, request: Request, answer: _Answer, latency_s: float) -> Completion | LanguageModelError:
        if not answer.reason:
            return broken_off(self._service, "the answer ended without a stop reason")
        counted = answer.sent is not None and answer.received is not None
        return Completion(
            text=answer.text,
            outcome=_outcome(answer),
            model=answer.model or self._service.model,
            usage=Usage(answer.sent or 0, answer.received or 0) if counted else estimate_usage(request, answer.text),
            latency_s=latency_s,
            metadata={
                "finish_reason": answer.reason,
                "response_id": answer.identifier,
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
            },
        )


def opened(model: str, wishes: Wishes) -> AnthropicModel:
    """Returns a model of Anthropic's server, or of one that speaks its API.

    Raises:
        ConfigurationError: the client library is not installed.
    """
    return AnthropicModel(model, wishes)


def _installed() -> Any:
    try:
        return importlib.import_module("anthropic")
    except ImportError:
        raise ConfigurationError(
            "anthropic:MODEL needs Anthropic's client library, which is not installed; run: "
            "pip install 'code-world-models[anthropic]'."
        ) from None


def _arguments(model: str, request: Request) -> dict[str, Any]:
    system = "\n\n".join(wire_text(message.text) for message in request.messages if message.role == "system")
    messages = [
        {"role": message.role, "content": wire_text(message.text)}
        for message in request.messages
        if message.role != "system"
    ]
    arguments: dict[str, Any] = {"model": model, "max_tokens": request.max_output_tokens, "messages": messages}
    if system:
        arguments["system"] = system
    # Not every version of the library has arguments for these; the API has no seed.
    further: dict[str, Any] = {}
    if request.temperature is not None:
        further["temperature"] = request.temperature
    if request.reasoning_effort is not None:
        further["output_config"] = {"effort": request.reasoning_effort}
    return {**arguments, "extra_body": further} if further else arguments


# The client library checks nothing that a server sends: a body of another shape arrives as a string, or as a message
# whose fields are missing.
def _whole(message: Any) -> _Answer | str:
    content = getattr(message, "content", None)
    if not isinstance(content, list):
        return message if isinstance(message, str) else "an answer without content"
    answer = _Answer()
    answer.begin(message)
    answer.end(message)
    answer.text = "".join(_text(getattr(block, "text", None)) for block in content)
    return answer


def _joined(pieces: Iterable[Any], pulse: Pulse) -> _Answer:
    answer = _Answer()
    for piece in pieces:
        pulse.beat()
        kind = getattr(piece, "type", None)
        if kind == "message_start":
            answer.begin(piece.message)
        elif kind == "content_block_delta":
            answer.text += _text(getattr(piece.delta, "text", None))
        elif kind == "message_delta":
            answer.end(piece.delta)
            answer.count(getattr(piece, "usage", None))
    return answer


def _outcome(answer: _Answer) -> Outcome:
    if answer.reason in _REFUSED:
        return "refused"
    if answer.reason not in _WHOLE:
        return "truncated"
    return "ok" if answer.text.strip() else "empty"


def _refusal(error: Any) -> Refusal:
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    told: dict[str, Any] = inner if isinstance(inner, dict) else body
    code, message = str(told.get("type") or ""), str(told.get("message") or error.body or error.message)
    status = error.status_code if error.status_code >= 400 else _STATUS_OF.get(code, 500)
    # An empty account is told as a wrong request.
    quota = code == "billing_error" or "credit balance" in message.lower()
    return Refusal(status, code, message, retry_after_s(error.response.headers), quota=quota)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
