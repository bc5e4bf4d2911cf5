"""Games for the further rounds of a synthesis: a program that passes its tests plays, and is tested where play went.

Two kinds of games, both short of thought and few. The planner on the program plays the program itself, and what it did
is followed on the true game: there one sees what the program wrongly allows. And real games are played, each seat by
the planner on the program or at random: there one sees what the true game does. In the closed deck only the second
kind is played, and of each game only what one player saw is looked at.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from arena.evaluation import played_games
from arena.evaluation.real_games import PLAYERS, RealGames
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from arena.runs.task import build_options
from cwm.model.bundle import ModelBundle
from cwm.record.record import RunRecord
from cwm.sandbox.parent.host import Sandbox
from cwm.storage.keys import derive
from cwm.suite import failure_groups, visited
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
        record: of the run.
        settings: of the run.
        inputs: rules and games.
        workers: processes at once; changes no result.
        on_stage: told in words what begins.
    """

    record: RunRecord
    settings: RunSettings
    inputs: Inputs
    workers: int
    on_stage: Callable[[str], None] = field(default=lambda text: None)

    def further(
        self, bundle: Callable[[str], ModelBundle], tester: Callable[[SynthesisTask], Tester]
    ) -> Further | None:
        """Returns what a synthesis needs for further rounds, None if the settings ask for none or no game can be
        played: of a user's own game there is nothing to play on.

        Args:
            bundle: makes a model of a program.
            tester: makes a tester of all tests of a task.
        """
        game = self.inputs.game
        if game is None or not self.settings.further_games or not self.settings.further_rounds:
            return None

        def search(candidate: Candidate, number: int) -> Found:
            return self._found(game, candidate, bundle(candidate.source), number)

        return Further(self.settings.further_rounds, search, tester)

    def _found(self, game: Game, candidate: Candidate, bundle: ModelBundle, number: int) -> Found:
        key = f"further/{number}/{candidate.hash}"
        stored = self.record.evaluation(key)
        if stored is not None:
            return Found.from_json(stored)
        self.on_stage(f"playing on with program {candidate.id}, round {number}")
        played = self._played(game, bundle, number)
        options = build_options(self.inputs, False, self.settings.hidden)
        tests = visited.of_games(played.trajectories, options, self.settings.seed)
        asked = self.settings.synthesis
        run = RunOptions(workers=self.workers, seed=asked.seed, per_test_s=asked.test_seconds)
        failed = visited.failed(bundle.program(), tests, Sandbox(level=self.settings.level), run)
        added = failure_groups.examples(failure_groups.grouped(tests, failed), MOST_ADDED)
        found = Found(
            tests=tuple(added),
            games=played.players,
            tested=dict(Counter(test.kind for test in tests)),
            failed=dict(Counter(result.kind for result in failed)),
        )
        self.record.put_evaluation(key, found.to_json())
        return found

    def _played(self, game: Game, bundle: ModelBundle, number: int) -> PlayedGames:
        count = self.settings.further_games
        real_games = RealGames(self.settings, self.inputs, self.workers)
        seed = derive("further games", self.settings.seed, number)
        first = 1 + max(trajectory.index for trajectory in self.inputs.train) + 2 * count * (number - 1)
        real = real_games.play(game, bundle, seed, first + count, PLAYERS)
        players = Counter(PLAYERS[index % len(PLAYERS)] for index in range(count))
        # What chance does on a model of the closed deck is nothing that the true game knows.
        if self.settings.hidden.judge(game) is None:
            return PlayedGames(real, dict(players))
        asked = replace(self.settings, planner_games=count, seed=seed)
        paths = played_games.of_planner(game, bundle, asked, real_games.planner(game, bundle)).trajectories
        numbered = [replace(path, index=first + index) for index, path in enumerate(paths)]
        return PlayedGames([*numbered, *real], {ON_MODEL: count, **players})
