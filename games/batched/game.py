"""What a batched game offers to whoever learns it, trains on it or lets trained policies play it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from games.api import Action, GameError, Observation
from games.batched.api import BatchedEnv, Means
from games.batched.other_play import SymmetryGroup

Watch: TypeAlias = Callable[[Any], Any]
"""Is given a step of G games as `search.learn.play.evaluation` describes it, and returns what is kept of it."""


class TableReader(Protocol):
    """How a network reads a game at the table, where it is shown its own decision points as JSON alone."""

    @property
    def actions(self) -> Sequence[Action]:
        """All actions of a player by number."""
        ...

    def views(self, history: Sequence[Observation], view: str, first: int) -> list[Observation]:
        """Returns what the player saw at every step of the game, from step `first` up to its present decision.

        Raises:
            GameError: the history is not that of all own decision points in that view.
        """
        ...

    def image(self, view: Observation) -> Any:
        """Returns a view as the batched environment shows it, float32 [*image_shape]."""
        ...

    def graph(self, view: Observation) -> Any:
        """Returns a view as the batched environment of graphs shows it."""
        ...


class ShapedTableReader(TableReader, Protocol):
    """One that reads images and knows their shape, so that networks can be made without the environment."""

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        ...


@dataclass(frozen=True)
class NetworkFacts:
    """What networks need to know of a game to read it otherwise than as a mere image.

    Attributes:
        pointing: settings of a network whose actions point at what they are about; empty: there is none.
        modalities: (first channel, channel after the last, width) of the parts of a node of its graphs.
        private_channels: the first so many channels show what a player alone saw.
    """

    pointing: Mapping[str, Any] = field(default_factory=dict)
    modalities: tuple[tuple[int, int, int], ...] = ()
    private_channels: int = 0


@dataclass(frozen=True)
class BatchedGame:
    """One game; what it lacks is None or empty.

    Attributes:
        id: registry id.
        num_players: P.
        max_length: steps after which every game is over.
        round_length: steps until every player has been to move as often as it is at a time.
        reduced_steps: environment steps that a small network needs on a processor.
        env: view -> the environment, with images.
        graph_env: view -> the environment, with graphs.
        symmetries: groups that players may see the game through, by the name of the kind of Other-Play.
        hidden: how its states keep what is hidden (`search.learn.beliefs.hidden.HiddenSlots`).
        means: metrics over finished games; None: the mean of every figure.
        network: what networks need to know of it.
        watch_moves: keeps, of every step, `made` and `border`, bool [G]: whether something was moved, and to the rim.
        table: reads the game at the table.
        simultaneous: whether several players may have a choice at a time.
        partners: hand-written policies by name (`search.learn.api.BatchedPolicy`), which read its vectors; made once.
    """

    id: str
    num_players: int
    max_length: int
    round_length: int
    reduced_steps: int
    env: Callable[[str], BatchedEnv[Any]]
    graph_env: Callable[[str], BatchedEnv[Any]] | None = None
    symmetries: Mapping[str, Callable[[], SymmetryGroup]] = field(default_factory=dict)
    hidden: Callable[[], Any] | None = None
    means: Means | None = None
    network: NetworkFacts = NetworkFacts()
    watch_moves: Callable[[], Watch] | None = None
    table: Callable[[], TableReader] | None = None
    simultaneous: bool = False
    partners: Callable[[], Mapping[str, Any]] | None = None

    def symmetry(self, name: str | None = None) -> SymmetryGroup:
        """Returns the symmetries of a kind of Other-Play; None: of the first.

        Raises:
            GameError: the game has none of that name.
        """
        known = list(self.symmetries)
        if not known or (name is not None and name not in known):
            has = f"symmetries for {', '.join(known)}" if known else "no symmetries"
            raise GameError(f"{self.id} has {has}, not for {name or 'Other-Play'}.")
        return self.symmetries[known[0] if name is None else name]()
