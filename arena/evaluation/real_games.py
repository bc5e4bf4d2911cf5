"""Real games of the planner on a model: what the true game does where such a planner goes."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from statistics import mean
from typing import Final

from arena.agents.api import Agent, RandomAgent
from arena.agents.model import ModelAgent, planner_settings
from arena.evaluation import played_games
from arena.machine.runtime import Runtime
from arena.matches import match
from arena.runs.settings import planner_config
from arena.runs.stage import Stage
from cwm.model.bundle import ModelBundle
from cwm.storage.keys import derive
from cwm.trajectories.recorded import Trajectory
from games.api import Game
from search.api import PlannerConfig

PLANNER: Final = "the planner on the true game"
MIXED: Final = "the planner against random players on the true game"
RANDOM: Final = "random players on the true game"
PLAYERS: Final = (PLANNER, MIXED, RANDOM)
"""Who plays the real games of a round, in turn."""
ONLINE: Final = (PLANNER, MIXED)
"""Who plays the real games that a finished model is judged by, in turn."""

ACTIONS_A_GAME: Final = 40_000
"""Actions of the model that a planner tries in one game, about, rollouts included."""
FEWEST_SIMULATIONS: Final = 4
MOST_SIMULATIONS: Final = 50
BELIEF: Final = 30
"""States that a search starts from, at most, where something is hidden."""


@dataclass(frozen=True)
class RealGames:
    """Plays games of a run's models on the true game.

    Attributes:
        stage: of the run; as many games are played as one of its further rounds has.
    """

    stage: Stage

    def online(self, game: Game, bundle: ModelBundle) -> list[Trajectory]:
        """Returns as many real games of a finished model's planner as a round has; no round has the same deals."""
        return self.play(game, bundle, derive("online games", self.stage.settings.seed), 0, ONLINE)

    def play(self, game: Game, bundle: ModelBundle, seed: int, first: int, players: Sequence[str]) -> list[Trajectory]:
        """Plays games.

        Args:
            game: the true game.
            bundle: the model.
            seed: of deals and seats.
            first: index of the first trajectory.
            players: who plays, in turn; of `PLAYERS`.
        """
        stage = self.stage

        def play(index: int) -> Trajectory:
            agents = self._seats(game, bundle, players[index % len(players)], index // len(players))
            seeds = [derive("seat", seed, index, seat) for seat in range(len(agents))]
            played = match.play(game, agents, derive("deal", seed, index), seeds, stage.settings.level)
            return played_games.followed(game, first + index, [action for _, action in played.actions])

        with ThreadPoolExecutor(max_workers=max(1, stage.workers)) as pool:
            return list(pool.map(play, range(stage.settings.further_games)))

    def planner(self, game: Game, bundle: ModelBundle) -> PlannerConfig:
        """Returns a planner that thinks little, and the less the longer the recorded games are."""
        stage = self.stage
        lengths = [len(trajectory.steps) for trajectory in stage.inputs.train]
        decisions = mean(sum(step.player >= 0 for step in trajectory.steps) for trajectory in stage.inputs.train)
        # A rollout takes half a game, on average.
        simulations = int(ACTIONS_A_GAME / max(1.0, decisions * mean(lengths) / 2))
        simulations = max(FEWEST_SIMULATIONS, min(MOST_SIMULATIONS, simulations))
        config = planner_config(stage.settings.matches, game.info.perfect_information, simulations)
        return planner_settings(bundle, replace(config, rollouts=1, belief_size=min(BELIEF, simulations)))

    def _seats(self, game: Game, bundle: ModelBundle, who: str, turn: int) -> list[Agent]:
        seats = range(game.info.num_players)
        planned = {PLANNER: set(seats), MIXED: {turn % len(seats)}, RANDOM: set[int]()}[who]
        config, runtime = self.planner(game, bundle), Runtime(level=self.stage.settings.level)
        view = bundle.game_info.views[0]
        return [
            ModelAgent(bundle.program(), config, runtime, "cwm", view) if seat in planned else RandomAgent()
            for seat in seats
        ]
