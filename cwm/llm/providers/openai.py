"""OpenAI's chat completions, and every server that speaks them (vLLM, Ollama, llama.cpp) by its base URL."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.completion_usage import CompletionUsage

from cwm.llm.api import Completion, LanguageModelError, Outcome, Request, Usage
from cwm.llm.provider_table import PROVIDERS
from cwm.llm.providers.failures import (
    Refusal,
    Secret,
    Service,
    broken_off,
    explain_refusal,
    public_address,
    retry_after_s,
    timed_out,
    unreachable,
    unreadable,
)
from cwm.llm.providers.transport import Clients, DeadlinePassedError, wire_text
from cwm.llm.providers.wishes import Wishes
from cwm.llm.tokens import estimate_usage

DEFAULT_BASE_URL = "https://api.openai.com/v1"

# A reason that no list holds counts as truncated: the answer is not known to be whole.
_WHOLE = frozenset({"stop", "eos", "end_turn", "stop_sequence"})
_REFUSED = frozenset({"content_filter", "safety", "recitation"})
_KEYS = " or ".join(PROVIDERS["openai"].keys)
_NO_KEY = "none"
_CAP_FIELD = "max_completion_tokens"
_OLD_CAP_FIELD = "max_tokens"


@dataclass
class _Answer:
    """What a whole answer or the pieces of a stream say. `reason` is None where a stream ended without one."""

    text: str = ""
    refusal: str = ""
    reason: str | None = None
    model: str = ""
    identifier: str = ""
    usage: CompletionUsage | None = None


class OpenAIModel:
    """One model of an OpenAI-compatible server. It makes one attempt a call: `Retrying` makes the others."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None,
        base_url: str | None = None,
        timeout_s: float = 600.0,
        stream: bool = False,
    ) -> None:
        """Prepares the client; nothing is sent yet.

        Args:
            model: the model's name.
            api_key: the key, None for a server that asks for none.
            base_url: the server's address up to `/v1`, None for OpenAI's own.
            timeout_s: seconds that one whole call may take.
            stream: take the answer piece by piece, which keeps idle proxies from closing long calls.
        """
        self._base_url = base_url or DEFAULT_BASE_URL
        secret = Secret(api_key) if api_key else None
        self._service = Service(f"openai:{model}", model, public_address(self._base_url), _KEYS, secret)
        self._timeout_s = timeout_s
        self._stream = stream
        self._old_server = False
        self._clients = Clients(self._client)

    @property
    def name(self) -> str:
        """Returns `openai:MODEL`."""
        return self._service.name

    def complete(self, request: Request) -> Completion:
        """Answers one request with one attempt, or two where the server refuses the newer name of the length cap.

        Raises:
            TransientError: another attempt may succeed.
            ConfigurationError: key, model, address or request are wrong.
            QuotaExhaustedError: the account is empty.
        """
        result = self._attempt(request, _OLD_CAP_FIELD if self._old_server else _CAP_FIELD)
        if isinstance(result, _OldServerError):
            self._old_server = True
            result = self._attempt(request, _OLD_CAP_FIELD)
        if isinstance(result, LanguageModelError):
            raise result
        return result

    def close(self) -> None:
        """Closes idle connections."""
        self._clients.close()

    def _client(self) -> openai.OpenAI:
        key = self._service.key
        return openai.OpenAI(
            api_key=key.reveal() if key else _NO_KEY,
            base_url=self._base_url,
            max_retries=0,
            timeout=self._timeout_s,
        )

    # Failures are returned, and raised only after the except block has ended: an exception of the client library,
    # chained to ours, would hold the request and with it the key.
    def _attempt(self, request: Request, cap_field: str) -> Completion | LanguageModelError:
        started = time.monotonic()
        try:
            answer = self._clients.call(lambda client: self._ask(client, request, cap_field), self._timeout_s)
        except DeadlinePassedError:
            return timed_out(self._service, self._timeout_s)
        except openai.APIConnectionError as error:
            return self._disconnected(error)
        except openai.APIStatusError as error:
            return self._explain(error, cap_field)
        except (openai.OpenAIError, ValueError) as error:
            return unreadable(self._service, str(error))
        if isinstance(answer, str):
            return unreadable(self._service, answer)
        return self._completion(request, answer, time.monotonic() - started)

    def _ask(self, client: openai.OpenAI, request: Request, cap_field: str) -> _Answer | str:
        arguments: dict[str, Any] = {
            "model": self._service.model,
            "messages": [{"role": message.role, "content": wire_text(message.text)} for message in request.messages],
            cap_field: request.max_output_tokens,
        }
        if request.temperature is not None:
            arguments["temperature"] = request.temperature
        if request.seed is not None:
            arguments["seed"] = request.seed
        if not self._stream:
            return _whole(client.chat.completions.create(**arguments))
        with client.chat.completions.create(**arguments, stream=True, stream_options={"include_usage": True}) as chunks:
            return _joined(chunks)

    def _explain(self, error: openai.APIStatusError, cap_field: str) -> LanguageModelError:
        code, message = error.code or "", _message(error)
        if error.status_code in (400, 422) and cap_field == _CAP_FIELD and _CAP_FIELD in message:
            return _OldServerError(message)
        wait = retry_after_s(error.response.headers)
        refusal = Refusal(error.status_code, code, message, wait, quota=error.type == "insufficient_quota")
        return explain_refusal(self._service, refusal)

    def _disconnected(self, error: openai.APIConnectionError) -> LanguageModelError:
        cause = error.__cause__
        kind = type(cause).__name__
        if kind.startswith(("Connect", "UnsupportedProtocol")):
            return unreachable(self._service, f"{kind}: {cause}")
        if isinstance(error, openai.APITimeoutError):
            return timed_out(self._service, self._timeout_s)
        return broken_off(self._service, f"{kind}: {cause}" if cause else str(error))

    def _completion(self, request: Request, answer: _Answer, latency_s: float) -> Completion | LanguageModelError:
        if answer.reason is None:
            return broken_off(self._service, "the stream ended without a finish reason")
        return Completion(
            text=answer.text or answer.refusal,
            outcome=_outcome(answer),
            model=answer.model or self._service.model,
            usage=_usage(request, answer),
            latency_s=latency_s,
            metadata={
                "finish_reason": answer.reason,
                "response_id": answer.identifier,
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
            },
        )


def opened(model: str, wishes: Wishes) -> OpenAIModel:
    """Returns a model of OpenAI's server, or of one that speaks its API."""
    return OpenAIModel(
        model, api_key=wishes.key, base_url=wishes.base_url, timeout_s=wishes.timeout_s, stream=wishes.stream
    )


class _OldServerError(LanguageModelError):
    """The server knows `max_tokens` alone."""


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    said = body.get("message") or body.get("detail") if isinstance(body, dict) else None
    return str(said or body or error.message)


def _outcome(answer: _Answer) -> Outcome:
    reason = (answer.reason or "").lower()
    if answer.refusal or reason in _REFUSED:
        return "refused"
    if reason not in _WHOLE:
        return "truncated"
    return "ok" if answer.text.strip() else "empty"


def _usage(request: Request, answer: _Answer) -> Usage:
    counted = answer.usage
    sent, received = getattr(counted, "prompt_tokens", None), getattr(counted, "completion_tokens", None)
    if not isinstance(sent, int) or not isinstance(received, int):
        return estimate_usage(request, answer.text)
    return Usage(sent, received)


# The client library checks nothing that a server sends: a body of another shape arrives as a string, or as a
# ChatCompletion whose fields are missing.
def _whole(response: object) -> _Answer | str:
    choices = getattr(response, "choices", None)
    message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
    if not isinstance(response, ChatCompletion) or message is None:
        return str(response)
    return _Answer(
        text=_text(getattr(message, "content", None)),
        refusal=_text(getattr(message, "refusal", None)),
        reason=_text(getattr(response.choices[0], "finish_reason", None)),
        model=_text(response.model),
        identifier=_text(response.id),
        usage=response.usage,
    )


def _joined(chunks: Iterable[ChatCompletionChunk]) -> _Answer:
    answer = _Answer()
    for chunk in chunks:
        answer.model = _text(chunk.model) or answer.model
        answer.identifier = _text(chunk.id) or answer.identifier
        answer.usage = chunk.usage or answer.usage
        for choice in chunk.choices or []:
            delta = getattr(choice, "delta", None)
            answer.text += _text(getattr(delta, "content", None))
            answer.refusal += _text(getattr(delta, "refusal", None))
            answer.reason = _text(getattr(choice, "finish_reason", None)) or answer.reason
    return answer


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
