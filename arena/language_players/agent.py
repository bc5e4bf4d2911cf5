"""A language model at the table: asked for each move, its answers read as JSON, its bad ones counted by kind."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from arena.agents.api import AgentFailure, ForfeitKind, Move, Needs, NoAnswerError, Turn
from arena.agents.llm_settings import LlmConfig
from arena.language_players import notation
from arena.language_players.prompts import GamePrompts
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
from cwm.llm.json_answers import NoJsonAnswerError, last_object
from cwm.llm.punctual import LATE
from cwm.storage.keys import derive
from games.api import DEFAULT_VIEW, Action, GameInfo

PURPOSE: Final = "player"

_HOPELESS: Final = (BudgetExceededError, ConfigurationError, QuotaExhaustedError)
_READABLE: Final[frozenset[ForfeitKind]] = frozenset({"illegal", "unparsable"})
"""Answers that can be quoted back to the model; of the others there is no whole text."""
_LONGEST_MOVE: Final = 100
_SEEDS: Final = 2**31
"""Providers take seeds of 31 bits."""


@dataclass
class _Account:
    """What is kept of one game; see `LlmAgent.account`."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    models: set[str] = field(default_factory=set)
    bad: Counter[str] = field(default_factory=Counter)
    votes: list[list[Action | None]] = field(default_factory=list)

    def add(self, completion: Completion) -> None:
        self.calls += 1
        self.input_tokens += completion.usage.input_tokens
        self.output_tokens += completion.usage.output_tokens
        self.estimated = self.estimated or completion.usage.estimated
        self.models.add(completion.model)


class LlmAgent:
    """Asks a language model, one question after the other.

    It is told what any player is told: its own observations and actions. It looks at the legal actions to read the
    answer; the prompt shows them only if the options say so.

    Each question has a seed of its own, made from the move's seed and the number of the answer: so it has a key of its
    own in a journal and in a recording, in whatever order games are played.

    Args:
        prompts: of the game.
        model: whom to ask.
        config: how.
        name: label in tables.
        view: which of the game's views it is shown.
    """

    needs = Needs(legal_actions=True)

    def __init__(
        self, prompts: GamePrompts, model: LanguageModel, config: LlmConfig, name: str, view: str = DEFAULT_VIEW
    ) -> None:
        self.name = name
        self.view = view
        self._prompts = prompts
        self._model = model
        self._config = config
        self._account = _Account()

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self._account = _Account()

    def act(self, turn: Turn) -> Move:
        """Asks for a move, `votes` times, and plays the most frequent one; of several the one named first.

        Raises:
            AgentFailure: no answer held a legal move; the kind is that of the first vote's last answer.
            NoAnswerError: the model could not be asked.
        """
        question = self._prompts.decision(turn.player, turn.history, turn.legal_actions)
        votes: list[Action | None] = []
        first: AgentFailure | None = None
        for number in range(self._config.votes):
            try:
                votes.append(self._vote(question, turn, number))
            except AgentFailure as failure:
                votes.append(None)
                first = first or failure
        self._account.votes.append(votes)
        counts = Counter(vote for vote in votes if vote is not None)
        if counts:
            return Move(counts.most_common(1)[0][0])
        assert first is not None  # there is at least one vote, and no vote gave a move
        raise first

    def close(self) -> None:
        pass

    def account(self) -> dict[str, Any]:
        """Returns the options and what they came to.

        `bad` counts the answers that could not be played by kind, those that a retry mended too. `votes` holds the
        moves of each decision's answers (None: no playable one), if more than one answer was asked for.
        """
        kept = self._account
        return {
            "asked": self._model.name,
            "models": sorted(kept.models),
            "options": self._config.to_json(),
            "calls": kept.calls,
            "input_tokens": kept.input_tokens,
            "output_tokens": kept.output_tokens,
            "tokens_estimated": kept.estimated,
            "bad": dict(sorted(kept.bad.items())),
            **({"votes": kept.votes} if self._config.votes > 1 else {}),
        }

    def _vote(self, question: str, turn: Turn, number: int) -> Action:
        messages = [Message("user", question)]
        attempt = 0
        while True:
            completion = self._complete(messages, turn.seed, number, attempt)
            try:
                return self._judged(completion, turn)
            except AgentFailure as failure:
                self._account.bad[failure.kind] += 1
                if attempt >= self._config.retries:
                    raise
                messages = _asked_again(messages, completion, failure, self._prompts)
            attempt += 1

    def _complete(self, messages: list[Message], move_seed: int, vote: int, attempt: int) -> Completion:
        request = Request(
            messages=tuple(messages),
            purpose=PURPOSE,
            max_output_tokens=self._config.max_output_tokens,
            temperature=self._config.temperature,
            seed=derive("answer", move_seed, vote, attempt) % _SEEDS,
            occurrence=0,
            reasoning_effort=self._config.reasoning_effort,
        )
        try:
            completion = self._model.complete(request)
        except LanguageModelError as error:
            raise NoAnswerError(str(error), hopeless=isinstance(error, _HOPELESS)) from error
        self._account.add(completion)
        return completion

    def _judged(self, completion: Completion, turn: Turn) -> Action:
        if LATE in completion.metadata:
            raise AgentFailure("timeout", f"no whole answer within {self._config.timeout:g} s")
        if completion.outcome == "truncated":
            raise AgentFailure("truncated", f"the answer was cut off at {self._config.max_output_tokens} tokens")
        if completion.outcome == "refused":
            raise AgentFailure("refused", "the model refused to answer")
        if completion.outcome == "empty":
            raise AgentFailure("empty", "the answer was empty")
        try:
            move = last_object(completion.text, ("move",))["move"]
            action = notation.read(move, turn.legal_actions, self._prompts.notations)
        except (NoJsonAnswerError, notation.NotationError) as error:
            raise AgentFailure("unparsable", str(error)) from error
        if action is None:
            shown = json.dumps(move, ensure_ascii=False)
            shown = shown if len(shown) <= _LONGEST_MOVE else shown[: _LONGEST_MOVE - 1] + "…"
            raise AgentFailure("illegal", f"{shown} is no legal move now")
        return action


def _asked_again(
    messages: list[Message], completion: Completion, failure: AgentFailure, prompts: GamePrompts
) -> list[Message]:
    retry = prompts.retry(failure.kind, failure.detail)
    if failure.kind in _READABLE:
        return [*messages, Message("assistant", completion.text), Message("user", retry)]
    # Without a whole answer there is nothing to quote, and providers take no empty message.
    return [*messages[:-1], Message("user", f"{messages[-1].text.rstrip()}\n\n{retry}")]
