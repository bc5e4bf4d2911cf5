"""A planner on a model that is refined between games: it plays as any other, and says which model it played with."""

from typing import Any

from arena.model_agent import ModelAgent
from arena.runtime import Runtime
from cwm.model.bundle import ModelBundle
from games.api import DEFAULT_VIEW
from search.api import PlannerConfig


class LearningAgent(ModelAgent):
    """Plays one game with the model as it is then; what it learns from the game is for `arena.online_learning`."""

    def __init__(
        self,
        bundle: ModelBundle,
        config: PlannerConfig,
        runtime: Runtime,
        name: str,
        view: str = DEFAULT_VIEW,
        workers: int = 1,
    ) -> None:
        """Args:
        bundle: the model.
        config: of the planner.
        runtime: limits of each worker.
        name: label in tables.
        view: which of the game's views it is shown.
        workers: how many search at once.
        """
        super().__init__(bundle.program(), config, runtime, name, view, workers)
        self._model_hash = bundle.hash

    def account(self) -> dict[str, Any]:
        """Returns the hash of the model that played."""
        return {"model": self._model_hash}
