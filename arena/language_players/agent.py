"""A language model at the table: asked for each move, its answers read as JSON, its bad ones counted by kind."""

import json
from collections import Counter
from typing import Any, Final

from arena.agents.api import AgentFailure, Move, Needs, Turn
from arena.agents.llm_settings import LlmConfig
from arena.language_players import asking, notation
from arena.language_players.asking import Spent
from arena.language_players.prompts import GamePrompts
from cwm.llm.api import Completion, LanguageModel, Message
from cwm.llm.json_answers import NoJsonAnswerError, last_object
from cwm.storage.keys import derive
from games.api import DEFAULT_VIEW, Action, GameInfo

_LONGEST_MOVE: Final = 100


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
        self._spent = Spent()
        self._votes: list[list[Action | None]] = []

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self._spent = Spent()
        self._votes = []

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
        self._votes.append(votes)
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
        votes = {"votes": self._votes} if self._config.votes > 1 else {}
        return self._spent.account(self._model.name, self._config) | votes

    def _vote(self, question: str, turn: Turn, number: int) -> Action:
        messages = [Message("user", question)]
        attempt = 0
        while True:
            completion = self._complete(messages, turn.seed, number, attempt)
            try:
                return self._judged(completion, turn)
            except AgentFailure as failure:
                self._spent.bad[failure.kind] += 1
                if attempt >= self._config.retries:
                    raise
                retry = self._prompts.retry(failure.kind, failure.detail)
                messages = asking.asked_again(messages, completion.text, failure.kind, retry)
            attempt += 1

    def _complete(self, messages: list[Message], move_seed: int, vote: int, attempt: int) -> Completion:
        seed = derive("answer", move_seed, vote, attempt)
        completion = asking.answered(self._model, asking.request(messages, self._config, seed))
        self._spent.add(completion)
        return completion

    def _judged(self, completion: Completion, turn: Turn) -> Action:
        text = asking.whole_text(completion, self._config)
        try:
            move = last_object(text, ("move",))["move"]
            action = notation.read(move, turn.legal_actions, self._prompts.notations)
        except (NoJsonAnswerError, notation.NotationError) as error:
            raise AgentFailure("unparsable", str(error)) from error
        if action is None:
            shown = json.dumps(move, ensure_ascii=False)
            shown = shown if len(shown) <= _LONGEST_MOVE else shown[: _LONGEST_MOVE - 1] + "…"
            raise AgentFailure("illegal", f"{shown} is no legal move now")
        return action
