"""What the functions beside a model are asked for and chosen with, and what comes of it, whatever their kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cwm.functions.decided import Played
from cwm.functions.types import Entrant, FunctionResult, PriorsPlay
from cwm.llm.api import LanguageModel
from cwm.record.record import RunRecord
from cwm.synthesis.events import OnEvent
from cwm.synthesis.testing import TesterSettings
from cwm.trajectories.recorded import Deck, Trajectory
from cwm.trajectories.telling import Telling
from games.api import GameInfo, Json
from games.posg.api import PosgInfo


class SelfPlay(Protocol):
    """Plays games on the model itself: they cost no real game."""

    def __call__(
        self, games: int, planner_games: int, simulations: int
    ) -> tuple[Sequence[Trajectory], Sequence[Trajectory]]:
        """Returns two lots of different games, one to learn from and one to hold out.

        Args:
            games: varied games a lot; one at which the model fails is left out.
            planner_games: games of a planner a lot.
            simulations: of that planner, a move.

        Raises:
            SandboxUnavailableError: the model cannot be run.
        """
        ...


@dataclass(frozen=True)
class Materials:
    """What functions are asked for and chosen with.

    Attributes:
        rules: the rules in words.
        info: players, utility, bounds, information.
        initial_state: bound to INITIAL_STATE.
        source: the synthesised model.
        beside: sources of the kinds that were chosen before, by name.
        recorded: the games that the model was made from.
        held_out: games that it was not made from.
        deck: what is known of the hidden part of those games.
        shown: games whose states may be shown and tested, in the open deck those recorded.
        telling: what the model is told beside the rules; whether the bounds of the returns are those of the game.
        self_play: plays games on the model.
        tournament: lets planners play each other on the model; the simplest entrant comes first.
        priors_play: how planners use policy priors.
        context: what decides the tournament's scores besides model and entrants.
        tester: limits of the checks.
        model: the language model, as the caller composed it.
        record: where programs, scores and events are kept.
        on_event: told of everything that happens.
        joint: what is fixed about a game whose program has a joint step; None where players take turns.
    """

    rules: str
    info: GameInfo
    initial_state: Json
    source: str
    beside: Mapping[str, str]
    recorded: Sequence[Trajectory]
    held_out: Sequence[Trajectory]
    deck: Deck
    shown: Callable[[], Sequence[Trajectory]]
    telling: Telling
    self_play: SelfPlay
    tournament: Callable[[Sequence[Entrant]], Played]
    priors_play: PriorsPlay
    context: Mapping[str, Any]
    tester: TesterSettings
    model: LanguageModel
    record: RunRecord
    on_event: OnEvent
    joint: PosgInfo | None = None


class FunctionOutcome(Protocol):
    """What came of asking for functions of one kind: a `FunctionResult`, or a result that holds one."""

    @property
    def asked(self) -> FunctionResult:
        """Candidates, calls and tokens."""
        ...

    @property
    def program(self) -> str | None:
        """The source of what was chosen, None if none was."""
        ...

    @property
    def message(self) -> str:
        """How it ended, in words."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Returns the result without sources, which the run record holds by hash."""
        ...
