"""Language models: requests, typed outcomes, usage, and the one method that every provider has."""

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant"]
Outcome: TypeAlias = Literal["ok", "truncated", "refused", "empty"]


@dataclass(frozen=True)
class Message:
    role: Role
    text: str


@dataclass(frozen=True)
class Request:
    """One question, canonical: equal requests have equal keys, and nothing volatile is in it.

    Attributes:
        messages: the conversation so far, the last one from the user.
        purpose: what the answer is for, e.g. `transition`, `value`; usage is counted by it. Part of no key.
        max_output_tokens: the answer's cap, reasoning included.
        temperature: sampling temperature, None for the provider's default.
        seed: the provider's sampling seed where it has one, else None.
        occurrence: how many equal requests the run made before this one, None to let each provider that needs it
            (replay, spool, the recorder) count for itself. Part of no key: recordings hold it beside the key.
        reasoning_effort: how long the model is to think, a word of the provider's, e.g. `low`; None for its default.
        deadline: moment of `time.monotonic` at which the run's time is up, None for never. Part of no key, not stored.
    """

    messages: tuple[Message, ...]
    purpose: str
    max_output_tokens: int = 32_768
    temperature: float | None = None
    seed: int | None = None
    occurrence: int | None = None
    reasoning_effort: str | None = None
    deadline: float | None = field(default=None, compare=False, repr=False)

    def canonical(self) -> dict[str, Any]:
        """Returns what identifies the request (messages and sampling parameters) as JSON."""
        # Keys of requests from before there was an effort are hashes of what has none.
        effort = {} if self.reasoning_effort is None else {"reasoning_effort": self.reasoning_effort}
        return {
            "messages": [{"role": message.role, "text": message.text} for message in self.messages],
            "max_output_tokens": self.max_output_tokens,
            "temperature": self.temperature,
            "seed": self.seed,
            **effort,
        }


@dataclass(frozen=True)
class Usage:
    """Tokens of one call, as the provider counted them, or estimated where it does not say."""

    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True)
class Completion:
    """One answer.

    Attributes:
        text: the answer; may be partial unless `outcome` is `ok`.
        outcome: `ok`, `truncated` (length cap), `refused` (safety, recitation) or `empty`.
        model: the model's own name, as the provider gave it.
        usage: tokens.
        latency_s: wall-clock seconds of the call, 0 on replay.
        metadata: anything else worth keeping (finish reason, response id, date).
    """

    text: str
    outcome: Outcome
    model: str
    usage: Usage = Usage()
    latency_s: float = 0.0
    metadata: dict[str, Any] = field(default_factory=dict)


class LanguageModelError(Exception):
    """A call failed for good; the message says what to do."""


class ConfigurationError(LanguageModelError):
    """Wrong key, unknown model, bad address: asking again cannot help."""


class QuotaExhaustedError(LanguageModelError):
    """The account has no money or quota left."""


class BudgetExceededError(LanguageModelError):
    """A cap on calls, tokens, money or time would be passed by the next call."""


class AnswerTimeoutError(LanguageModelError):
    """No whole answer came in the time that was given for it."""


class ReplayMissError(LanguageModelError):
    """No recorded completion answers this request; names the nearest one and the first line that differs."""


class LanguageModel(Protocol):
    """A provider."""

    @property
    def name(self) -> str:
        """Returns `PROVIDER:MODEL`, as the user wrote it."""
        ...

    def complete(self, request: Request) -> Completion:
        """Answers one request. Thread-safe.

        Raises:
            LanguageModelError: no answer is to be had.
        """
        ...
