"""One evaluation of a model, from its games to its figures: stored as it comes, so that the same call goes on after a
kill, and a finished one is served from its folder.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from arena.evaluation import held_out_games, posterior_quality, suite_quality
from arena.machine import shipped
from arena.machine.user_cache import cache_folder
from arena.matches.game_source import load_bundle
from arena.runs import inputs as run_inputs
from arena.runs import origins
from arena.runs.hidden_information import HiddenInformation
from arena.runs.settings import RunSettings
from arena.runs.task import build_options
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.quality.mutation_score import ScoreOptions
from cwm.record.record import RUN_FILE, RunRecord
from cwm.sandbox.parent.host import Sandbox
from cwm.storage import stored_json
from cwm.storage.files import write_whole
from cwm.storage.journal import RunCorruptError
from cwm.storage.keys import canonical_json, content_key
from cwm.suite import contract as contract_verifier
from cwm.suite import evaluation
from cwm.suite.batches import StoredBatches
from cwm.suite.contract import ContractOptions
from cwm.suite.execution import Progress, RunOptions
from cwm.trajectories import files
from cwm.trajectories.recorded import Trajectory

KIND = "evaluation"
ASKED_FILE = "evaluation.json"
FIGURES = "figures"
CONTRACT = "contract"
SUITE = "suite"
POSTERIOR = "posterior"
SHOWN_FAILURES = 5
CONTRACT_SECONDS = 120.0
"""For each request of the check of the contract: an endless game is cut off, a slow one is not."""


@dataclass(frozen=True)
class EvaluationWishes:
    """What an evaluation is asked for.

    Attributes:
        model: folder of a run, or of a model.
        trajectories: played games, None for fresh ones.
        transitions: fresh games hold at least so many.
        seed: everything random derives from it.
        contract_games: random games under the contract of every game, 0 to leave it out.
        mutants: mutants of the model that its unit tests are put to, 0 to leave it out.
        posterior: histories drawn at each decision point for the exact posterior, 0 to leave it out.
    """

    model: str
    trajectories: str | None = None
    transitions: int = 10_000
    seed: int = 1
    contract_games: int = 8
    mutants: int = 0
    posterior: int = 0

    def measures(self) -> dict[str, int]:
        """Returns what else is measured than tests and contract, by name: what is left out is not named."""
        asked = {"mutants": self.mutants, "posterior": self.posterior}
        return {name: number for name, number in asked.items() if number}


def read_asked(folder: Path) -> EvaluationWishes:
    """Returns what the evaluation of a folder was asked for.

    Raises:
        RunCorruptError: the file that says so is damaged.
    """
    remedy = "delete it and give the command of the evaluation again"
    return stored_json.read(folder / ASKED_FILE, stored_json.exactly(EvaluationWishes), RunCorruptError, remedy)


def evaluate(
    asked: EvaluationWishes,
    folder: Path | None,
    workers: int,
    on_stage: Callable[[str], None] = lambda text: None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Tests a model and checks its contract.

    Args:
        asked: what is tested, on what.
        folder: keeps every result as it comes; None for nowhere.
        workers: processes at once; changes no result.
        on_stage: told in words what begins.
        progress: told after every test.

    Returns:
        The figures as JSON, without times: the counts of `cwm.suite.evaluation.Evaluation`, `failures` (the
        first failed tests in words), `games`, `model`, `contract`: `games` and `violations`, `suite`: see
        `arena.evaluation.suite_quality.SuiteQuality`, and `posterior`: see
        `arena.evaluation.posterior_quality.measure`. The last three are None where they were left out.

    Raises:
        UsageError: there are no games to test on.
        RunRecordError: the folder is in use, damaged, or of another evaluation.
        ContractCheckError: the check of the contract broke through a fault of ours.
    """
    bundle = load_bundle(Path(asked.model))
    level = shipped.level_of([bundle.hash])
    games = _Games(asked, bundle, workers)
    config = {"model": bundle.hash, "games": games.identity(), "contract_games": asked.contract_games}
    config |= asked.measures()
    if folder is None:
        opened = RunRecord.memory()
    else:
        opened = RunRecord.create_or_resume(folder, KIND, config, seeds={"seed": asked.seed}, sandbox_level=level)
    with opened as record:
        if folder is not None:
            write_whole(folder / ASKED_FILE, json.dumps(asdict(asked)) + "\n", replace=False)
        return _Stages(asked, bundle, games, Sandbox(level=level), record, workers).run(on_stage, progress)


class _Games:
    """The games of an evaluation: of a file, or played when they are needed."""

    def __init__(self, asked: EvaluationWishes, bundle: ModelBundle, workers: int) -> None:
        self._asked = asked
        self._bundle = bundle
        self._workers = workers
        self.inputs = origins.of_game(bundle)
        info = self.inputs.info
        self._path = None if asked.trajectories is None else Path(asked.trajectories)
        self._read: Sequence[Trajectory] | None = None
        if self._path is not None:
            self._read = files.read(self._path, bundle.deck)
            if self._read[0].game != info.id:
                raise UsageError(f"{self._path} holds games of {self._read[0].game}, the model is of {info.id}.")
        elif self.inputs.game is None:
            self._read = self._kept_out()

    def identity(self) -> dict[str, Any]:
        """Returns what decides which games they are."""
        if self._path is None and self._read is not None:
            return {"games held out by the run": content_key([list(game.to_records()) for game in self._read])}
        if self._path is None:
            return {"fresh transitions": self._asked.transitions}
        return {"file (SHA-256)": hashlib.sha256(self._path.read_bytes()).hexdigest()}

    def _kept_out(self) -> Sequence[Trajectory]:
        """Returns the games that a run of a user's own game has kept for the test."""
        info, model = self.inputs.info, Path(self._asked.model)
        kept = origins.of_model(model, self._bundle).held_out if (model / RUN_FILE).exists() else ()
        if not kept:
            raise UsageError(
                f"{info.id} is no registered game, and {model} holds no games of it that were kept for the test; give "
                "played games by the option `trajectories`."
            )
        return kept

    def all(self) -> Sequence[Trajectory]:
        if self._read is None:
            asked = self._asked
            settings = RunSettings(self.inputs.info.id, True, seed=asked.seed, test_transitions=asked.transitions)
            self._read = held_out_games.held_out_games(self.inputs, settings, self._workers, cache_folder())
        return self._read


class _Stages:
    """The two stages of an evaluation, each served from the record if it was finished before."""

    def __init__(
        self,
        asked: EvaluationWishes,
        bundle: ModelBundle,
        games: _Games,
        sandbox: Sandbox,
        record: RunRecord,
        workers: int,
    ) -> None:
        self._asked = asked
        self._bundle = bundle
        self._games = games
        self._hidden = HiddenInformation.of(bundle)
        self._sandbox = sandbox
        self._record = record
        self._batches = StoredBatches(record.journal, FIGURES)
        self._workers = workers

    def run(self, on_stage: Callable[[str], None], progress: Progress | None) -> dict[str, Any]:
        def stage(key: str, asked: int, what: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
            figures = self._record.evaluation(key) if asked else None
            if asked and figures is None:
                on_stage(what)
                figures = _sorted(measure())
                self._keep(key, figures)
            return figures

        figures = stage(FIGURES, 1, "testing", lambda: self._figures(progress)) or {}
        asked = self._asked
        contract = stage(CONTRACT, asked.contract_games, "checking the contract of every game", self._contract)
        suite = stage(SUITE, asked.mutants, "testing mutants of the model", lambda: self._suite(progress))
        posterior = stage(POSTERIOR, asked.posterior, "drawing histories", lambda: self._posterior(progress))
        return {**figures, "contract": contract, "suite": suite, "posterior": posterior}

    def _keep(self, key: str, figures: dict[str, Any]) -> None:
        # Tests that broke through a fault of ours have no answer yet: the next process asks them again.
        if key == FIGURES and failures_of_ours(figures):
            return
        self._record.put_evaluation(key, figures)
        if key == FIGURES:
            self._batches.clear()

    def _figures(self, progress: Progress | None) -> dict[str, Any]:
        games = self._games.all()
        made = evaluation.evaluate(
            self._bundle.program(),
            games,
            self._sandbox,
            build_options(self._games.inputs, self._bundle.value_source is not None, self._hidden),
            RunOptions(workers=self._workers, seed=self._asked.seed),
            progress,
            self._batches,
        )
        failures = [
            {"id": result.id, "field": result.field, "message": result.message}
            for result in made.failed[:SHOWN_FAILURES]
        ]
        about = {"failures": failures, "games": len(games), "model": self._bundle.hash}
        bound = self._hidden.bound(self._bundle, games, self._sandbox, self._asked.seed)
        return made.to_json() | about | bound

    def _contract(self) -> dict[str, Any]:
        game = self._games.inputs.game
        options = ContractOptions(
            self._asked.contract_games, self._asked.seed, wall_s=CONTRACT_SECONDS, payoffs=game is not None
        )
        judge = self._hidden.judge(self._games.inputs.in_turns)
        pairs = run_inputs.hidden_pairs(judge, self._games.all(), options)
        found = contract_verifier.verify(self._bundle.program(), self._sandbox, options, pairs)
        violations = [violation.to_json() for violation in found]
        return {"games": self._asked.contract_games, "hidden_pairs": len(pairs), "violations": violations}

    def _suite(self, progress: Progress | None) -> dict[str, Any]:
        asked = self._asked
        path = None if asked.trajectories is None else Path(asked.trajectories)
        inputs = origins.of_model(Path(asked.model), self._bundle, path)
        options = ScoreOptions(workers=self._workers, seed=asked.seed)
        return suite_quality.measure(self._bundle, inputs, asked.mutants, options, progress).to_json()

    def _posterior(self, progress: Progress | None) -> dict[str, Any]:
        asked = self._asked
        return posterior_quality.measure(self._bundle, self._games.inputs.game, asked.posterior, asked.seed, progress)


def _sorted(data: dict[str, Any]) -> dict[str, Any]:
    """Returns figures with their keys in the order in which the record gives them back."""
    made: dict[str, Any] = json.loads(canonical_json(data))
    return made


def failures_of_ours(figures: dict[str, Any]) -> int:
    """Returns how many tests broke through a fault of ours; they are in no score."""
    return sum(int(tally["ours"]) for tally in figures["kinds"].values())
