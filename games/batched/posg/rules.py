"""What the rules of a game of simultaneous moves are on arrays."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from games.api import State
from games.batched.api import Array
from games.posg.api import PosgError, PosgModel, Vectors


class SimultaneousRules(ABC):
    """The rules of one game of P agents on arrays, without an axis of lanes.

    All agents have the same number of actions, and every one is legal while the game is not over for the agent.

    Attributes:
        model: the reference, whose tables the rules use.
        info: its facts.
        width: F, numbers that an agent is told.
        start_draws: labels of the draws of a start, in the order of their bits.
        step_draws: those of a step.
        endings: figures that are the shares of the agents for whom the game ended so, as the reference's `ending` says.
    """

    endings: tuple[str, ...] = ()

    def __init__(self, model: PosgModel, start_draws: Sequence[str], step_draws: Sequence[str] = ()) -> None:
        """Args:
        model: the reference.
        start_draws: see above.
        step_draws: see above.

        Raises:
            PosgError: the reference does not write observations as vectors.
        """
        if not isinstance(model, Vectors):
            raise PosgError(f"{model.info.id} does not write observations as vectors, which batched games show.")
        self.model = model
        self.info = model.info
        self.width = len(model.vector_bounds(0)[0])
        self.start_draws, self.step_draws = tuple(start_draws), tuple(step_draws)

    @abstractmethod
    def start(self, bits: Array) -> Any:
        """Returns the start of a game: a tree of arrays.

        Args:
            bits: uint32 [draws of a start].
        """

    @abstractmethod
    def move(self, game: Any, actions: Array, bits: Array) -> tuple[Any, Array]:
        """Plays one step of a game that is not over; returns the game and what each agent is paid, float32 [P].

        Args:
            game: as it stands.
            actions: int32 [P]; those of agents for whom the game is over are to be ignored.
            bits: uint32 [draws of a step].
        """

    @abstractmethod
    def over(self, game: Any) -> Array:
        """Returns for which agents the game is over, bool [P]."""

    @abstractmethod
    def told(self, game: Any) -> Array:
        """Returns what the agents are told as the reference's vectors, float32 [P, F]; zeros for one told nothing."""

    @abstractmethod
    def figures(self, game: Any) -> dict[str, Array]:
        """Returns what else is told of a game, by name; bool, int32 or float32 []."""

    @abstractmethod
    def described(self, game: Any) -> State:
        """Returns a game, whose arrays are NumPy's, as a state of the reference."""
