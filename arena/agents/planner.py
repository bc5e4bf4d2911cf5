"""A planner on the true game, in this process."""

import random

from arena.agents.api import AgentFailure, Move, Needs, Turn
from arena.agents.thought import Thought, of_search
from games.api import DEFAULT_VIEW, Game, GameInfo, state_to_json
from games.viewed import with_view
from search.api import Decision, Planner, PlannerConfig, Position
from search.errors import SearchFailedError
from search.marginals import shares
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
        self._game = game
        self._planner: Planner = make_planner(with_view(game, view), config)

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        pass

    def act(self, turn: Turn) -> Move:
        position = Position(turn.player, turn.history, turn.state, as_searched=turn.explain)
        try:
            decision: Decision = self._planner.choose(position, self._rng(turn.seed))
        except SearchFailedError as error:
            raise AgentFailure("empty", f"the search found no action: {str(error)[:200]}") from error
        thought = self._thought(decision) if turn.explain else None
        return Move(decision.action, decision.fallback, decision.errors, thought)

    def close(self) -> None:
        pass

    def _thought(self, decision: Decision) -> Thought | None:
        believed = [(weight, state_to_json(self._game, state)) for weight, state in decision.belief_states or ()]
        return of_search(decision.visits, decision.values, decision.simulations, shares(believed), decision.priors)

    def _rng(self, seed: int) -> random.Random:
        # The text is that of `cwm.sandbox.worker.service`, where a worker makes its generator.
        return random.Random(f"payload/{seed}" if self._worker_seeds else seed)
