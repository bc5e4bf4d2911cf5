"""One question to a player's language model: asked, counted, and refused where there is no whole answer."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from arena.agents.api import AgentFailure, ForfeitKind, NoAnswerError
from arena.agents.llm_settings import LlmConfig
from cwm.llm.api import (
    BudgetExceededError,
    Completion,
    ConfigurationError,
    LanguageModel,
    LanguageModelError,
    Message,
    QuotaExhaustedError,
    Request,
)
from cwm.llm.punctual import LATE

PURPOSE: Final = "player"
SEEDS: Final = 2**31
"""Providers take seeds of 31 bits."""

_HOPELESS: Final = (BudgetExceededError, ConfigurationError, QuotaExhaustedError)
_WHOLE: Final[frozenset[ForfeitKind]] = frozenset({"illegal", "unparsable", "no_move", "two_moves"})
"""Bad answers that can be quoted back to the model; of the others there is no whole text."""


@dataclass
class Spent:
    """What the calls of one game came to.

    Attributes:
        calls: answered.
        input_tokens: of all.
        output_tokens: of all.
        estimated: whether any of these are.
        models: names that the provider gave.
        bad: answers that could not be played, by kind, those that a retry mended too.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    models: set[str] = field(default_factory=set)
    bad: Counter[str] = field(default_factory=Counter)

    def add(self, completion: Completion) -> None:
        """Counts an answer."""
        self.calls += 1
        self.input_tokens += completion.usage.input_tokens
        self.output_tokens += completion.usage.output_tokens
        self.estimated = self.estimated or completion.usage.estimated
        self.models.add(completion.model)

    def account(self, asked: str, config: LlmConfig) -> dict[str, Any]:
        """Returns what a game's record keeps of the calls.

        Args:
            asked: the model's name, as the user wrote it.
            config: how it was asked.
        """
        return {
            "asked": asked,
            "models": sorted(self.models),
            "options": config.to_json(),
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "tokens_estimated": self.estimated,
            "bad": dict(sorted(self.bad.items())),
        }


def request(messages: list[Message], config: LlmConfig, seed: int, purpose: str = PURPOSE) -> Request:
    """Returns a question as it is sent.

    Args:
        messages: the conversation so far.
        config: how the model is asked.
        seed: tells equal questions apart.
        purpose: of the question.
    """
    return Request(
        messages=tuple(messages),
        purpose=purpose,
        max_output_tokens=config.max_output_tokens,
        temperature=config.temperature,
        seed=seed % SEEDS,
        occurrence=0,
        reasoning_effort=config.reasoning_effort,
    )


def answered(model: LanguageModel, question: Request) -> Completion:
    """Asks a question.

    Raises:
        NoAnswerError: the model could not be asked.
    """
    try:
        return model.complete(question)
    except LanguageModelError as error:
        raise NoAnswerError(str(error), hopeless=isinstance(error, _HOPELESS)) from error


def whole_text(completion: Completion, config: LlmConfig) -> str:
    """Returns the text of a whole answer.

    Raises:
        AgentFailure: it came late, was cut off or refused, or is empty.
    """
    if LATE in completion.metadata:
        raise AgentFailure("timeout", f"no whole answer within {config.timeout:g} s")
    if completion.outcome == "truncated":
        raise AgentFailure("truncated", f"the answer was cut off at {config.max_output_tokens} tokens")
    if completion.outcome == "refused":
        raise AgentFailure("refused", "the model refused to answer")
    if completion.outcome == "empty":
        raise AgentFailure("empty", "the answer was empty")
    return completion.text


def asked_again(messages: list[Message], text: str, kind: ForfeitKind, retry: str) -> list[Message]:
    """Returns the conversation with which a bad answer is sent back.

    Args:
        messages: what was asked.
        text: the answer.
        kind: what was wrong with it.
        retry: what is said of that.
    """
    if kind in _WHOLE:
        return [*messages, Message("assistant", text), Message("user", retry)]
    # Without a whole answer there is nothing to quote, and providers take no empty message.
    return [*messages[:-1], Message("user", f"{messages[-1].text.rstrip()}\n\n{retry}")]
