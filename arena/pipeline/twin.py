"""The twin of one run's model: asked for, examined, proved and stored; and its proof repeated."""

import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from arena.matches.verification import Problem
from arena.pipeline.self_play import self_play
from arena.runs import inputs as run_inputs
from arena.runs import language_model, shipped
from arena.runs.folder import INPUTS, MODEL
from arena.runs.replayed import with_twin
from arena.runs.settings import RunSettings
from arena.runs.stage import Stage
from arena.terminal import console
from arena.usage import UsageError
from cwm.llm.api import LanguageModel
from cwm.llm.caps import Caps, budget
from cwm.model.bundle import ModelBundle
from cwm.record.record import RUN_FILE, RunRecord
from cwm.sandbox.wire.api import Level
from cwm.storage import stored_json
from cwm.storage.files import json_line, write_whole
from cwm.storage.keys import content_key, program_hash
from cwm.twins.prompt import TwinReport
from cwm.twins.proof import ProofConfig, ProofResult, ProofState, ProofTask, prove
from cwm.twins.refinement import TwinResult, synthesize_twin
from cwm.twins.stored import StoredTwin, StoredTwinError, has_twin, jax_version
from cwm.twins.task import NoTwinError, TwinConfig, TwinTask
from cwm.twins.traced import TracedTwin, TwinProblemError, TwinWorker, sandbox

PROOFS: Final = "twins"
"""Of a run's folder: how far proofs have come."""
VARIED_GAMES: Final = 10
PLANNER_GAMES: Final = 5
SIMULATIONS: Final = 30
CHECKED_FACTS: Final = ("transitions", "games", "states", "batches", "digest", "branches", "missed", "unfit")
FRESH_SHARE: Final = 0.1
LEAST_FRESH: Final = 1000
"""So many transitions, and this share of those of the proof, `cwm verify` compares in games of another seed."""

SHIPPED_TRANSITIONS: Final = 20_000
"""That the proof of a twin that ships compares on this machine: seconds. `cwm twin RUN` compares a million."""

OnTransitions: TypeAlias = Callable[[int, int], None]
"""Told how many transitions were compared, and how many are wanted."""


def _say_nothing(text: str) -> None:
    """Takes a sentence and does nothing."""


def _ignore(done: int, total: int) -> None:
    """Takes the progress of a proof and does nothing."""


@dataclass(frozen=True)
class TwinStep:
    """One run's twin.

    Attributes:
        stage: of the run.
        bundle: its model.
        model: the language model, as the caller composed it.
        config: settings.
        on_transitions: told of the proof.
    """

    stage: Stage
    bundle: ModelBundle
    model: LanguageModel
    config: TwinConfig
    on_transitions: OnTransitions = _ignore

    def run(self) -> TwinResult:
        """Asks for a twin until one is proved, and stores it.

        Raises:
            NoTwinError: the game can have none.
            LanguageModelError: a call failed for good (other than by a budget's cap).
            TesterError: a twin could not be examined through no fault of its own.
            SandboxUnavailableError: no worker can be started.
        """
        stage = self.stage
        stage.on_stage("playing the model at random, to see what a twin must hold")
        inputs, level = stage.inputs, stage.settings.level
        bundle = self.bundle
        program = bundle.program()
        replays = self._replays()
        task = TwinTask.of(
            program, bundle.game_info, bundle.schema, inputs.rules, self.config.seed, level, inputs.telling, replays
        )
        made: dict[str, StoredTwin] = {}

        def examine(source: str) -> TwinReport:
            report, twin = self._examined(source, task, replays)
            if twin is not None:
                made[program_hash(source)] = twin
            return report

        stage.on_stage("asking for a twin")
        result = synthesize_twin(task, self.config, self.model, examine, stage.record, stage.on_event)
        if result.proved and result.best is not None:
            made[result.best.hash].save(stage.record.folder / MODEL)
        return result

    def _replays(self) -> tuple[tuple[str, ...], ...]:
        """Returns the actions of varied games, and of the planner's, on the model."""
        lots = self_play(self.bundle, self.stage.settings, VARIED_GAMES, PLANNER_GAMES, SIMULATIONS)
        return tuple(
            tuple(str(step.action) for step in game.steps if step.action is not None) for lot in lots for game in lot
        )

    def _examined(
        self, source: str, task: TwinTask, replays: tuple[tuple[str, ...], ...]
    ) -> tuple[TwinReport, StoredTwin | None]:
        stage, level = self.stage, self.stage.settings.level
        config = ProofConfig(transitions=self.config.transitions, seed=self.config.seed)
        program = self.bundle.program()
        try:
            stage.on_stage("tracing the twin")
            traced = self._traced(source, task)
            asked = ProofTask(program, source, traced, task.schema, replays)
            stage.on_stage("comparing the twin with the model")
            proof = self._proved(asked, config, level)
        except TwinProblemError as error:
            return TwinReport((str(error),)), None
        if proof.state.unfit:
            # No twin can do better: what the vectors cannot hold cannot be compared.
            raise NoTwinError(
                f"{proof.state.unfit:,} observations of its model in {proof.state.games:,} games do not fit the layout "
                "of its vectors"
            )
        twin = StoredTwin.of(asked, self.bundle.hash, config, proof) if proof.proved else None
        return TwinReport((), proof), twin

    def _traced(self, source: str, task: TwinTask) -> TracedTwin:
        with TwinWorker(source, self.bundle.program(), sandbox(self.stage.settings.level)) as worker:
            return worker.traced(task.vectors.width)

    def _proved(self, asked: ProofTask, config: ProofConfig, level: Level) -> ProofResult:
        """Proves a twin, from where an earlier process left off."""
        key = content_key(
            [self.bundle.hash, asked.source, asked.traced.texts, asked.schema, config.to_json(), asked.replays]
        )
        path = self.stage.record.folder / PROOFS / f"{key[:16]}.json"
        begun = stored_json.read_if_there(path, ProofState.from_json, StoredTwinError, "delete it")

        def keep(state: ProofState) -> None:
            path.parent.mkdir(exist_ok=True)
            write_whole(path, json_line(state.to_json()) + "\n")
            self.on_transitions(state.transitions, config.transitions)

        return prove(asked, config, level, begun, keep)


def is_there(run: Path) -> bool:
    """Returns whether the model of a run has a twin."""
    return has_twin(run / MODEL)


def add_recorded(run: Path, on_stage: Callable[[str], None] = console.notices.print) -> bool:
    """Puts the twin that ships with a recording beside the model that was replayed from it, unless it is there.

    Args:
        run: folder of the replayed run, as `recorded_models.folder_of` returns it.
        on_stage: told in words what begins.

    Returns:
        Whether there is one now; False where none ships.

    Raises:
        UsageError: what ships is not proved equal to the model here.
        RunLockedError: another process works in the folder.
        TwinProblemError: the twin cannot be compared here.
        SandboxUnavailableError: no worker can be started.
    """
    bundle = ModelBundle.load(run)
    if not (run / RUN_FILE).exists():
        # A model alone tells of no recording.
        return has_twin(run / MODEL)
    if _is_there(run, bundle):
        return True
    with RunRecord.open(run) as record:
        settings = RunSettings.from_record(record.info.config)
        written_by = with_twin(settings)
        if written_by.llm == settings.llm:
            return False
        shipped.check(written_by)
        on_stage(f"replaying the twin of {bundle.info['id']} that ships, once, and comparing it with its model")
        asked = language_model.compose(written_by, Caps(), record, budget(Caps()), None)
        stage = Stage(record, settings, run_inputs.load(run / INPUTS, settings), on_stage=on_stage)
        config = TwinConfig(transitions=SHIPPED_TRANSITIONS, seed=settings.seed, temperature=settings.temperature)
        result = TwinStep(stage, bundle, asked, config).run()
    if not result.proved:
        raise UsageError(
            f"The twin that ships for {bundle.info['id']} is not proved equal to its model here ({result.message}): "
            f"name a run that has one, or let a language model write one."
        )
    return True


def _is_there(run: Path, bundle: ModelBundle) -> bool:
    try:
        return StoredTwin.load(run / MODEL).model == bundle.hash
    except StoredTwinError:
        # There is none, or it is one that another version of ours wrote.
        return False


def verify(
    run: Path, level: Level | None, on_transitions: OnTransitions = _ignore, tell: Callable[[str], None] = _say_nothing
) -> list[Problem]:
    """Repeats the proof of a model's twin, adds games that it did not have, and traces the twin again.

    Args:
        run: folder of the run.
        level: isolation level of the workers.
        on_transitions: told of the proof.
        tell: told in words what was done.

    Returns:
        What does not come to the same; [] if all does.
    """
    place = f"{MODEL}/twin"
    try:
        bundle, twin = ModelBundle.load(run), StoredTwin.load(run / MODEL)
    except (ValueError, OSError) as error:
        return [Problem(place, str(error))]
    if twin.model != bundle.hash:
        told = f"the twin equals the model {twin.model[:12]}, the run's model is {bundle.hash[:12]}: make it again"
        return [Problem(place, told)]
    asked = twin.task(bundle.program())
    try:
        problems = [*_traced_again(asked, twin, level, tell), *_proved_again(asked, twin, level, on_transitions, tell)]
    except TwinProblemError as error:
        return [Problem(place, f"the twin cannot be proved again: {error}")]
    return [Problem(place, problem) for problem in problems]


def _traced_again(
    asked: ProofTask, twin: StoredTwin, level: Level | None, tell: Callable[[str], None]
) -> Iterator[str]:
    if twin.traced_by != jax_version():
        tell(
            f"the twin was traced by JAX {twin.traced_by}; {jax_version()} may write other texts: they are not compared"
        )
        return
    with TwinWorker(twin.source, asked.program, sandbox(level)) as worker:
        traced = worker.traced(twin.traced.form.width)
    if traced != twin.traced:
        yield "the stored texts or tables are not those that its source is traced to; make the twin again"


def _proved_again(
    asked: ProofTask, twin: StoredTwin, level: Level | None, on_transitions: OnTransitions, tell: Callable[[str], None]
) -> Iterator[str]:
    """Yields what is not as the stored proof says, or as it would be in games of another seed."""
    fresh = replace(
        twin.config,
        seed=secrets.randbelow(1 << 32),
        transitions=max(LEAST_FRESH, int(FRESH_SHARE * twin.config.transitions)),
    )
    total = twin.config.transitions + fresh.transitions
    proof = prove(asked, twin.config, level, None, lambda state: on_transitions(state.transitions, total))
    if not proof.proved:
        yield f"the twin is not proved again: {proof.in_words}"
        return
    again = json.loads(json.dumps(proof.to_json()))
    changed = [name for name in CHECKED_FACTS if again.get(name) != twin.proof.get(name)]
    if changed:
        told = "; ".join(f"{name}: {twin.proof.get(name)} stored, {again.get(name)} now"[:200] for name in changed)
        yield f"the proof comes to other figures: {told}"
    done = proof.state.transitions
    others = prove(asked, fresh, level, None, lambda state: on_transitions(done + state.transitions, total))
    if not others.proved:
        yield f"in games of another seed ({fresh.seed}) the twin is not proved: {others.in_words}"
        return
    tell(
        f"twin: {done:,} transitions compared again, {others.state.transitions:,} in games of another seed "
        f"({fresh.seed}); {proof.branches - len(proof.missed)} of {proof.branches} branches of the program met"
    )
