"""A planner on the true game, in this process."""

import random

from arena.agents.api import AgentFailure, Move, Needs, Turn
from games.api import DEFAULT_VIEW, Game, GameInfo
from games.viewed import with_view
from search.api import Decision, Planner, PlannerConfig, Position
from search.errors import SearchFailedError
from search.planner import make as make_planner


class PlannerAgent:
    """Searches the true game in this process: the yardstick for planners on a model.

    It knows the rules, not the hidden state: in games of imperfect information it is given its own history alone.
    """

    def __init__(
        self, game: Game, config: PlannerConfig, name: str, view: str = DEFAULT_VIEW, worker_seeds: bool = False
    ) -> None:
        """Args:
        game: the true game.
        config: of the planner.
        name: label in tables.
        view: which of the game's views it is shown.
        worker_seeds: whether it draws what a planner in a model's worker draws from the same seed.
        """
        self.name = name
        self.view = view
        self.needs = Needs(state="native" if game.info.perfect_information else "none")
        self._worker_seeds = worker_seeds
        self._planner: Planner = make_planner(with_view(game, view), config)

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        pass

    def act(self, turn: Turn) -> Move:
        position = Position(player=turn.player, history=turn.history, state=turn.state)
        try:
            decision: Decision = self._planner.choose(position, self._rng(turn.seed))
        except SearchFailedError as error:
            raise AgentFailure("empty", f"the search found no action: {str(error)[:200]}") from error
        return Move(decision.action, decision.fallback, decision.errors)

    def close(self) -> None:
        pass

    def _rng(self, seed: int) -> random.Random:
        # The text is that of `cwm.sandbox.worker.service`, where a worker makes its generator.
        return random.Random(f"payload/{seed}" if self._worker_seeds else seed)
