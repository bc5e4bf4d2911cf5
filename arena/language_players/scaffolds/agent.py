"""A language model that plays by a scaffold: rates moves, gives reasons, remembers, may answer more than once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias

from arena.agents.api import AgentFailure, Move, Needs, Turn
from arena.agents.llm_settings import LlmConfig
from arena.language_players import asking
from arena.language_players.asking import Spent
from arena.language_players.scaffolds import choosing, reading
from arena.language_players.scaffolds.interview import Heard, Interview, Interviewer
from arena.language_players.scaffolds.prompts import Earlier, Proposal, Questions, Report, ScaffoldPrompts
from arena.language_players.scaffolds.reading import Reading
from arena.language_players.scaffolds.searching import Searcher
from arena.language_players.turn_record import SCAFFOLD, TURNS, CallRecord, DeducedSlot, TurnRecord, rank_of
from cwm.llm.api import LanguageModel
from games.api import DEFAULT_VIEW, Action, GameInfo
from search.errors import SearchFailedError

CHOOSER: Final = "chooser"
AGGREGATOR: Final = "aggregator"

_Heard: TypeAlias = Heard[Reading]


@dataclass
class _Talk:
    """What was asked at one decision so far.

    Attributes:
        question: of the decision.
        calls: in the order of asking.
        candidates: moves of `k` answers or votes.
        dropped: ratings and notes that were left out.
        fallback: why a search that was to choose could not.
    """

    question: Questions
    calls: list[CallRecord] = field(default_factory=list)
    candidates: tuple[Action | None, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)
    fallback: str | None = None


class ScaffoldAgent:
    """Asks a language model by a scaffold; what it is told comes from its own view, moves and answers alone.

    Args:
        prompts: of the game, by the scaffold.
        model: whom to ask.
        config: how.
        name: label in tables.
        view: which of the game's views it is shown.
        side_by_side: whether several answers or roles are asked for at once.
        search: values moves where the options say that it chooses.
    """

    needs = Needs(legal_actions=True)

    def __init__(
        self,
        prompts: ScaffoldPrompts,
        model: LanguageModel,
        config: LlmConfig,
        name: str,
        view: str = DEFAULT_VIEW,
        side_by_side: bool = True,
        search: Searcher | None = None,
    ) -> None:
        self.name = name
        self.view = view
        self._prompts = prompts
        self._model = model
        self._config = config
        self._search = search
        self._interviewer = Interviewer(model, config, prompts.retry, side_by_side)
        self._spent = Spent()
        self._turns: list[TurnRecord] = []
        self._memory: list[Earlier] = []

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self._spent = Spent()
        self._turns = []
        self._memory = []

    def act(self, turn: Turn) -> Move:
        """Asks for a move; what is kept of the decision is in `account`.

        Raises:
            AgentFailure: no answer could be played.
            NoAnswerError: the model could not be asked.
        """
        kept = self._prompts.scaffold.memory if self._config.memory is None else self._config.memory
        talk = _Talk(self._prompts.question(turn, self._memory[len(self._memory) - min(kept, len(self._memory)) :]))
        try:
            played = self._played(talk)
        except AgentFailure:
            self._turns.append(self._record(talk, None))
            raise
        self._turns.append(self._record(talk, played.said))
        self._memory.append(Earlier(talk.question.situation, played.text.strip()))
        assert played.said is not None
        return Move(played.said.action, talk.fallback)

    def close(self) -> None:
        pass

    def account(self) -> dict[str, Any]:
        """Returns the options, what they came to, the scaffold with the hash of its texts, and every decision."""
        told = {"name": self._prompts.scaffold.name, "hash": self._prompts.hash}
        turns = [turn.to_json() for turn in self._turns]
        return self._spent.account(self._model.name, self._config) | {SCAFFOLD: told, TURNS: turns}

    def _played(self, talk: _Talk) -> _Heard:
        if self._config.mixture:
            return self._by_roles(talk)
        answers = max(self._config.k, self._config.votes)
        if answers > 1:
            return self._of_several(talk, answers)
        return _good(self._asked(talk, [Interview(asking.PURPOSE, talk.question.asked(), self._reader(talk))]))[0]

    def _of_several(self, talk: _Talk, answers: int) -> _Heard:
        messages, reader = talk.question.asked(), self._reader(talk)
        numbers = range(1, answers + 1)
        heard = self._asked(talk, [Interview(f"candidate {number}", messages, reader) for number in numbers])
        talk.candidates = tuple(None if one.said is None else one.said.action for one in heard)
        good = _good(heard)
        proposals = choosing.proposals([one.said for one in good if one.said is not None])
        if len(proposals) == 1:
            return good[0]
        if self._config.votes > 1:
            chosen = choosing.by_votes(proposals)
        elif self._config.choose == "rating":
            chosen = choosing.by_rating(proposals, [one.said.ratings for one in good if one.said is not None])
        elif self._config.choose == "search":
            chosen = self._by_search(talk, proposals)
        else:
            question = talk.question.of_chooser(proposals, answers)
            read = partial(reading.proposal_of, count=len(proposals))
            number = self._asked(talk, [Interview(CHOOSER, question, read)])[0]
            if number.said is None:
                assert number.failure is not None
                raise number.failure
            chosen = proposals[number.said].action
        return next(one for one in good if one.said is not None and one.said.action == chosen)

    def _by_search(self, talk: _Talk, proposals: Sequence[Proposal]) -> Action:
        assert self._search is not None  # who builds an agent with this option gives it
        try:
            return choosing.by_value(proposals, self._search(talk.question.turn))
        except SearchFailedError as error:
            talk.fallback = f"the search failed and votes decided: {error}"
            return choosing.by_votes(proposals)

    def _by_roles(self, talk: _Talk) -> _Heard:
        interviews = [
            Interview(role.name, talk.question.of_role(role), self._reader(talk) if role.moves else _as_it_is)
            for role in self._prompts.roles
        ]
        reports = [Report(one.role, one.text.strip()) for one in self._asked(talk, interviews)]
        question = talk.question.of_aggregator(reports)
        return _good(self._asked(talk, [Interview(AGGREGATOR, question, self._reader(talk))]))[0]

    def _reader(self, talk: _Talk) -> Any:
        legal, told = talk.question.turn.legal_actions, self._prompts.scaffold
        return partial(reading.read, scaffold=told, legal=legal, own=self._prompts.notations)

    def _asked(self, talk: _Talk, interviews: Sequence[Interview[Any]]) -> list[Heard[Any]]:
        heard = self._interviewer.hear(interviews, talk.question.turn.seed)
        for one in heard:
            talk.calls += one.calls
            for completion, call in zip(one.completions, one.calls, strict=True):
                self._spent.add(completion)
                if call.bad is not None:
                    self._spent.bad[call.bad] += 1
            if isinstance(one.said, Reading):
                talk.dropped += one.said.dropped
        return heard

    def _record(self, talk: _Talk, said: Reading | None) -> TurnRecord:
        number = len(self._turns)
        if said is None:
            return TurnRecord(
                number,
                None,
                dropped=dict(sorted(talk.dropped.items())),
                candidates=talk.candidates,
                calls=tuple(talk.calls),
            )
        deduction, problems = self._deduced(talk.question.turn, said)
        return TurnRecord(
            turn=number,
            action=said.action,
            ratings=said.ratings,
            rank=rank_of(said.action, said.ratings),
            reason=said.reason,
            deduction=deduction,
            dropped=dict(sorted((talk.dropped + Counter(problems)).items())),
            candidates=talk.candidates,
            calls=tuple(talk.calls),
        )

    def _deduced(self, turn: Turn, said: Reading) -> tuple[tuple[DeducedSlot, ...] | None, list[str]]:
        deduced = self._prompts.scaffold.deduced
        if deduced is None:
            return None, []
        if said.notes is None:
            return None, ["deduction: none"]
        slots, problems = deduced(said.notes, turn.history)
        return (tuple(DeducedSlot(*slot) for slot in slots) or None), problems


def _good(heard: Sequence[_Heard]) -> list[_Heard]:
    """Returns those that can be played.

    Raises:
        AgentFailure: none can; the first one's.
    """
    good = [one for one in heard if one.said is not None]
    if not good:
        failure = heard[0].failure
        assert failure is not None
        raise failure
    return good


def _as_it_is(text: str) -> str:
    return text
