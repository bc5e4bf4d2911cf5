"""OpenAI's chat completions, and every server that speaks them (vLLM, Ollama, llama.cpp) by its base URL."""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.completion_usage import CompletionUsage

from cwm.llm.api import Completion, LanguageModelError, Outcome, Request, Usage
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

DEFAULT_BASE_URL = "https://api.openai.com/v1"

# A reason that no list holds counts as truncated: the answer is not known to be whole.
_WHOLE = frozenset({"stop", "eos", "end_turn", "stop_sequence"})
_REFUSED = frozenset({"content_filter", "safety", "recitation"})
_NO_KEY = "none"
_CAP_FIELD = "max_completion_tokens"
_OLD_CAP_FIELD = "max_tokens"
_EVENTS = "text/event-stream"


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

    def __init__(self, model: str, wishes: Wishes) -> None:
        """Prepares the client; nothing is sent yet.

        Args:
            model: the model's name.
            wishes: key, address, times, headers. An address is that up to `/v1`; pieces keep idle proxies from closing
                long calls, and a server that refuses them is asked for whole answers.
        """
        self._base_url = wishes.base_url or DEFAULT_BASE_URL
        self._service = Service.of("openai", model, self._base_url, wishes)
        # The key is kept where nobody prints it.
        self._wishes = replace(wishes, key=None)
        self._cap_field = _CAP_FIELD
        self._clients = Clients(self._client)

    @property
    def name(self) -> str:
        """Returns `openai:MODEL`."""
        return self._service.name

    def complete(self, request: Request) -> Completion:
        """Answers one request with one attempt; with another where the server does not know how it is asked.

        Servers of others may refuse the newer name of the length cap, or to give the answer in pieces.

        Raises:
            TransientError: another attempt may succeed.
            ConfigurationError: key, model, address or request are wrong.
            QuotaExhaustedError: the account is empty.
        """
        result = self._attempt(request)
        while isinstance(result, _OldServerError):
            result = self._attempt(request)
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
            timeout=self._wishes.answer_s or self._wishes.timeout_s,
            default_headers={name: value.reveal() for name, value in self._wishes.headers},
        )

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
        except openai.APIConnectionError as error:
            return self._disconnected(error)
        except openai.APIStatusError as error:
            return self._explain(error, streams(self._wishes, request))
        except (openai.OpenAIError, ValueError) as error:
            return unreadable(self._service, str(error))
        except Exception as error:
            # Broken off within a body that is read here, the HTTP package's own error arrives; which one, has changed.
            if not type(error).__module__.startswith(("httpx", "httpcore")):
                raise
            return broken_off(self._service, f"{type(error).__name__}: {error}")
        if isinstance(answer, str):
            return unreadable(self._service, answer)
        return self._completion(request, answer, time.monotonic() - started)

    def _ask(self, client: openai.OpenAI, request: Request, pulse: Pulse) -> _Answer | str:
        arguments: dict[str, Any] = {
            "model": self._service.model,
            "messages": [{"role": message.role, "content": wire_text(message.text)} for message in request.messages],
            self._cap_field: request.max_output_tokens,
        }
        if request.temperature is not None:
            arguments["temperature"] = request.temperature
        if request.seed is not None:
            arguments["seed"] = request.seed
        if request.reasoning_effort is not None:
            arguments["reasoning_effort"] = request.reasoning_effort
        if not streams(self._wishes, request):
            return _whole(client.chat.completions.create(**arguments))
        raw = client.chat.completions.with_raw_response.create(
            **arguments, stream=True, stream_options={"include_usage": True}
        )
        if raw.http_response.headers.get("content-type", _EVENTS).partition(";")[0].strip() == "application/json":
            # Some servers give the whole answer although pieces were asked for.
            return _whole_body(raw.http_response.read())
        with raw.parse() as chunks:
            return _joined(chunks, pulse)

    def _explain(self, error: openai.APIStatusError, streamed: bool) -> LanguageModelError:
        code, message = error.code or "", _message(error)
        if error.status_code in (400, 422):
            if self._cap_field == _CAP_FIELD and _CAP_FIELD in message:
                self._cap_field = _OLD_CAP_FIELD
                return _OldServerError(message)
            if streamed and self._wishes.stream is None and "stream" in message:
                self._wishes = replace(self._wishes, stream=False)
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
            return timed_out(self._service, self._wishes.answer_s or self._wishes.timeout_s)
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
    return OpenAIModel(model, wishes)


class _OldServerError(LanguageModelError):
    """The server knows `max_tokens` alone, or gives no answer in pieces: it is asked in its way from now on."""


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
        return (
            json.dumps(response.to_dict(mode="json", warnings=False))
            if isinstance(response, ChatCompletion)
            else str(response)
        )
    return _Answer(
        text=_text(getattr(message, "content", None)),
        refusal=_text(getattr(message, "refusal", None)),
        reason=_text(getattr(response.choices[0], "finish_reason", None)),
        model=_text(response.model),
        identifier=_text(response.id),
        usage=response.usage,
    )


def _whole_body(body: bytes) -> _Answer | str:
    text = body.decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except ValueError:
        return text
    return _whole(ChatCompletion.construct(**data)) if isinstance(data, dict) else text


def _joined(chunks: Iterable[ChatCompletionChunk], pulse: Pulse) -> _Answer:
    answer = _Answer()
    for chunk in chunks:
        pulse.beat()
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
