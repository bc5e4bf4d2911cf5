"""Games for the further rounds of a synthesis: a program that passes its tests plays, and is tested where play went.

Two kinds of games, both short of thought and few. The planner on the program plays the program itself, and what it did
is followed on the true game: there one sees what the program wrongly allows. And real games are played, each seat by
the planner on the program or at random: there one sees what the true game does. In the closed deck only the second
kind is played, and of each game only what one player saw is looked at.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from arena.evaluation import played_games
from arena.evaluation.real_games import PLAYERS, RealGames
from arena.runs.stage import Stage
from arena.runs.task import build_options
from cwm.model.bundle import ModelBundle
from cwm.quality import visited
from cwm.sandbox.parent.host import Sandbox
from cwm.storage.keys import derive
from cwm.suite import failure_groups
from cwm.suite.execution import RunOptions
from cwm.synthesis.candidate import Candidate, Tester
from cwm.synthesis.further import Found, Further
from cwm.synthesis.task import SynthesisTask
from cwm.trajectories.recorded import Trajectory
from games.api import Game

ON_MODEL: Final = "the planner on the model"
MOST_ADDED: Final = 50
"""Failed tests that one round adds: some of each way to fail, the smallest first."""


@dataclass(frozen=True)
class PlayedGames:
    """Games with a model.

    Attributes:
        trajectories: what happened on the true game, with distinct indices.
        players: how many games by who played them.
    """

    trajectories: list[Trajectory]
    players: dict[str, int]


@dataclass(frozen=True)
class FurtherGames:
    """Plays and tests for one run; what a round found is served from the record if it was played before.

    Attributes:
        stage: of the run.
    """

    stage: Stage

    def further(
        self, bundle: Callable[[str], ModelBundle], tester: Callable[[SynthesisTask], Tester]
    ) -> Further | None:
        """Returns what a synthesis needs for further rounds, None if the settings ask for none or no game can be
        played: of a user's own game there is nothing to play on.

        Args:
            bundle: makes a model of a program.
            tester: makes a tester of all tests of a task.
        """
        stage = self.stage
        game = stage.inputs.game
        if game is None or not stage.settings.further_games or not stage.settings.further_rounds:
            return None

        def search(candidate: Candidate, number: int) -> Found:
            return self._found(game, candidate, bundle(candidate.source), number)

        return Further(stage.settings.further_rounds, search, tester)

    def _found(self, game: Game, candidate: Candidate, bundle: ModelBundle, number: int) -> Found:
        stage = self.stage
        key = f"further/{number}/{candidate.hash}"
        stored = stage.record.evaluation(key)
        # Prompts show the tests: those of an earlier version, whose keys are sorted, are found anew.
        if stored is not None and (not stored["tests"] or stage.record.evaluation_in_order(key) is not None):
            return Found.from_json(stored)
        stage.on_stage(f"playing on with program {candidate.id}, round {number}")
        played = self._played(game, bundle, number)
        options = build_options(stage.inputs, False, stage.settings.hidden)
        tests = visited.of_games(played.trajectories, options, stage.settings.seed)
        asked = stage.settings.synthesis
        run = RunOptions(workers=stage.workers, seed=asked.seed, per_test_s=asked.test_seconds)
        failed = visited.failed(bundle.program(), tests, Sandbox(level=stage.settings.level), run)
        added = failure_groups.examples(failure_groups.grouped(tests, failed), MOST_ADDED)
        found = Found(
            tests=tuple(added),
            games=played.players,
            tested=dict(Counter(test.kind for test in tests)),
            failed=dict(Counter(result.kind for result in failed)),
        )
        if stored is None:
            stage.record.put_evaluation(key, found.to_json())
        return found

    def _played(self, game: Game, bundle: ModelBundle, number: int) -> PlayedGames:
        stage = self.stage
        count = stage.settings.further_games
        real_games = RealGames(stage)
        seed = derive("further games", stage.settings.seed, number)
        first = 1 + max(trajectory.index for trajectory in stage.inputs.train) + 2 * count * (number - 1)
        real = real_games.play(game, bundle, seed, first + count, PLAYERS)
        players = Counter(PLAYERS[index % len(PLAYERS)] for index in range(count))
        # What chance does on a model of the closed deck is nothing that the true game knows.
        if stage.settings.hidden.judge(game) is None:
            return PlayedGames(real, dict(players))
        asked = replace(stage.settings, planner_games=count, seed=seed)
        paths = played_games.of_planner(game, bundle, asked, real_games.planner(game, bundle)).trajectories
        numbered = [replace(path, index=first + index) for index, path in enumerate(paths)]
        return PlayedGames([*numbered, *real], {ON_MODEL: count, **players})
