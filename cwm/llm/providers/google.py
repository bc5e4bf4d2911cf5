"""Google's Gemini models through google-genai."""

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from google import genai
from google.genai import errors, types

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

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com"

_TRUNCATED = frozenset({"MAX_TOKENS", "CONTINUATION"})
_REFUSED = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR", "ESCALATION"}
)
_TRANSPORT_PACKAGES = ("httpx", "httpx2")
_NO_KEY = "none"
_UNSPECIFIED = "FINISH_REASON_UNSPECIFIED"
_LONGEST_STREAM_MS = 86_400_000


class GoogleModel:
    """One Gemini model. It makes one attempt a call: `Retrying` makes the others."""

    def __init__(self, model: str, wishes: Wishes) -> None:
        """Prepares the client; nothing is sent yet.

        Args:
            model: the model's name.
            wishes: key, address, times, headers.
        """
        self._base_url = wishes.base_url or DEFAULT_BASE_URL
        self._service = Service.of("google", model, self._base_url, wishes)
        # The key is kept where nobody prints it.
        self._wishes = replace(wishes, key=None)
        self._clients = Clients(self._client)

    @property
    def name(self) -> str:
        """Returns `google:MODEL`."""
        return self._service.name

    def complete(self, request: Request) -> Completion:
        """Answers one request with one attempt.

        Raises:
            TransientError: another attempt may succeed.
            ConfigurationError: key, model, address or request are wrong.
            QuotaExhaustedError: the quota of the day or the account is used up.
        """
        result = self._attempt(request)
        if isinstance(result, LanguageModelError):
            raise result
        return result

    def close(self) -> None:
        """Closes idle connections."""
        self._clients.close()

    def _client(self) -> genai.Client:
        key = self._service.key
        options = types.HttpOptions(
            base_url=self._base_url,
            timeout=round((self._wishes.answer_s or self._wishes.timeout_s) * 1000),
            headers={name: value.reveal() for name, value in self._wishes.headers},
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        return genai.Client(vertexai=False, api_key=key.reveal() if key else _NO_KEY, http_options=options)

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
        except errors.APIError as error:
            return explain_refusal(self._service, _refusal(error))
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            # The library takes a body apart without looking at its shape first.
            return unreadable(self._service, f"{type(error).__name__}: {error}")
        except Exception as error:
            # Which HTTP package the library uses depends on what is installed, so its errors have no one base class.
            if not type(error).__module__.startswith(_TRANSPORT_PACKAGES):
                raise
            return self._disconnected(error)
        return self._completion(request, answer, time.monotonic() - started)

    def _ask(self, client: genai.Client, request: Request, pulse: Pulse) -> "_Answer":
        contents, config, model = _contents(request), _config(request), self._service.model
        if not streams(self._wishes, request):
            answer = _Answer(whole=True)
            answer.add(client.models.generate_content(model=model, contents=contents, config=config))
            return answer
        # The server is told of a limit on the whole answer, which does not hold for one in pieces.
        config.http_options = types.HttpOptions(timeout=_LONGEST_STREAM_MS)
        answer = _Answer(whole=False)
        for piece in client.models.generate_content_stream(model=model, contents=contents, config=config):
            pulse.beat()
            answer.add(piece)
        return answer

    def _disconnected(self, error: Exception) -> LanguageModelError:
        kind = type(error).__name__
        if kind.startswith(("Connect", "UnsupportedProtocol")):
            return unreachable(self._service, f"{kind}: {error}")
        if kind.endswith("Timeout"):
            return timed_out(self._service, self._wishes.answer_s or self._wishes.timeout_s)
        return broken_off(self._service, f"{kind}: {error}")

    def _completion(self, request: Request, answer: "_Answer", latency_s: float) -> Completion | LanguageModelError:
        if not answer.candidates and not answer.reason:
            return unreadable(self._service, "an answer without candidates")
        if not answer.reason and not answer.whole:
            return broken_off(self._service, "the stream ended without a finish reason")
        reason = answer.reason or _UNSPECIFIED
        return Completion(
            text=answer.text,
            outcome=_outcome(reason, answer.text),
            model=answer.model or self._service.model,
            usage=_usage(request, answer.usage, answer.text),
            latency_s=latency_s,
            metadata={
                "finish_reason": reason,
                "response_id": answer.identifier,
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
            },
        )


def opened(model: str, wishes: Wishes) -> GoogleModel:
    """Returns a Gemini model."""
    return GoogleModel(model, wishes)


@dataclass
class _Answer:
    """What a whole answer or the pieces of one say; `reason` is empty where none said why the answer ended."""

    whole: bool
    text: str = ""
    reason: str = ""
    model: str = ""
    identifier: str = ""
    candidates: bool = False
    usage: types.GenerateContentResponseUsageMetadata | None = None

    def add(self, piece: types.GenerateContentResponse) -> None:
        self.text += _text(piece)
        self.reason = _finish_reason(piece) or self.reason
        self.model = piece.model_version or self.model
        self.identifier = piece.response_id or self.identifier
        self.candidates = self.candidates or bool(piece.candidates)
        self.usage = piece.usage_metadata or self.usage


def _contents(request: Request) -> list[Any]:
    return [
        types.Content(
            role="model" if message.role == "assistant" else "user", parts=[types.Part(text=wire_text(message.text))]
        )
        for message in request.messages
        if message.role != "system"
    ]


def _config(request: Request) -> types.GenerateContentConfig:
    system = "\n\n".join(wire_text(message.text) for message in request.messages if message.role == "system")
    config = types.GenerateContentConfig(
        system_instruction=system or None,
        max_output_tokens=request.max_output_tokens,
        temperature=request.temperature,
        seed=request.seed,
        candidate_count=1,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    if request.reasoning_effort is not None:
        config.thinking_config = types.ThinkingConfig(thinking_level=_level(request.reasoning_effort))
    # Where the library can go on by itself after a cut answer, it would make calls that no budget sees.
    if "automatic_continuation" in types.GenerateContentConfig.model_fields:
        config.automatic_continuation = False
    return config


def _level(effort: str) -> types.ThinkingLevel:
    levels = {level.value.lower(): level for level in types.ThinkingLevel if not level.value.endswith("UNSPECIFIED")}
    if effort not in levels:
        raise ConfigurationError(f"Gemini models know no reasoning effort {effort!r}: give one of {', '.join(levels)}.")
    return levels[effort]


def _finish_reason(response: types.GenerateContentResponse) -> str | None:
    """Returns why the answer ended; `PROMPT_` and why where the prompt was blocked; None where it does not say."""
    feedback = response.prompt_feedback
    if feedback is not None and feedback.block_reason is not None:
        return f"PROMPT_{feedback.block_reason.value}"
    if not response.candidates:
        return None
    reason = response.candidates[0].finish_reason
    return None if reason is None else reason.value


def _outcome(reason: str, text: str) -> Outcome:
    if reason.startswith("PROMPT_") or reason in _REFUSED:
        return "refused"
    # A reason that is neither STOP nor known counts as truncated: the answer is not known to be whole.
    if reason != "STOP":
        return "truncated" if text.strip() or reason in _TRUNCATED else "empty"
    return "ok" if text.strip() else "empty"


def _text(response: types.GenerateContentResponse) -> str:
    content = response.candidates[0].content if response.candidates else None
    parts = (content.parts if content is not None else None) or []
    return "".join(part.text for part in parts if part.text and not part.thought)


def _usage(request: Request, counted: types.GenerateContentResponseUsageMetadata | None, text: str) -> Usage:
    if counted is None or counted.prompt_token_count is None:
        return estimate_usage(request, text)
    output = (counted.candidates_token_count or 0) + (counted.thoughts_token_count or 0)
    return Usage(counted.prompt_token_count + (counted.tool_use_prompt_token_count or 0), output)


def _refusal(error: errors.APIError) -> Refusal:
    details = _details(error)
    reasons = {str(detail.get("reason", "")) for detail in details}
    status = 401 if "API_KEY_INVALID" in reasons else error.code
    quota_ids = [
        str(violation.get("quotaId", ""))
        for detail in details
        for violation in detail.get("violations") or []
        if isinstance(violation, dict)
    ]
    headers = getattr(error.response, "headers", None) or {}
    wait = retry_after_s(headers)
    return Refusal(
        status,
        str(error.status or ""),
        str(error.message or ""),
        wait if wait is not None else _retry_delay_s(details),
        quota=error.code == 429 and any("PerDay" in quota_id for quota_id in quota_ids),
    )


def _details(error: errors.APIError) -> list[dict[str, Any]]:
    body = error.details if isinstance(error.details, dict) else {}
    inner = body.get("error")
    details = inner.get("details") if isinstance(inner, dict) else body.get("details")
    return [detail for detail in details or [] if isinstance(detail, dict)]


def _retry_delay_s(details: list[dict[str, Any]]) -> float | None:
    for detail in details:
        delay = str(detail.get("retryDelay", ""))
        if delay.endswith("s") and delay[:-1].replace(".", "", 1).isdigit():
            return float(delay[:-1])
    return None
