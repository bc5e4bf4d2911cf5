"""`cwm synthesize --syntheses N` and `cwm select`: the best of several independent models of one game."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from arena.commands.finishing import RunEnd, complete, leave, told_where
from arena.machine import shipped
from arena.machine.runtime import Runtime
from arena.matches.rejection import RejectionConfig
from arena.pipeline import recorded_models, selection, several
from arena.pipeline.selection import Candidate, Selection
from arena.pipeline.several import SeveralSettings
from arena.report import selection as selection_report
from arena.runs import language_model
from arena.runs.folder import MODEL, read_bundle
from arena.runs.folder import open_record as open_synthesis
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from arena.runs.turns import Among, WorkTurn, side_by_side
from arena.terminal import console
from arena.terminal.live_view import LiveViews
from arena.terminal.options import AsJson, Seed, Workers
from arena.usage import UsageError
from cwm.llm import recordings
from cwm.llm.budget import Budget
from cwm.llm.caps import Caps, write_elapsed
from cwm.record.record import RunRecord
from games import registry

KIND: Final = "selection"
DEFAULT: Final = RejectionConfig()
MOVE_TIMEOUT_S: Final = 20.0
"""A model that takes longer over a move of so few simulations fails: it loses the match for both."""

Repetitions = Annotated[
    int,
    typer.Option(
        "--rejection-repetitions", min=1, help="Hidden information: deals of each match between models; paper: 50."
    ),
]
Simulations = Annotated[
    int,
    typer.Option("--rejection-simulations", min=1, help="Hidden information: simulations a move in those matches."),
]


def command(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Folders of runs or models of one game, or names of recordings that ship with the project; the id of "
            "a game alone stands for all its recordings."
        ),
    ],
    run: Annotated[
        Path | None,
        typer.Option("--run", help="Folder of the result and of the matches; default: runs/select-GAME."),
    ] = None,
    repetitions: Repetitions = DEFAULT.repetitions,
    simulations: Simulations = DEFAULT.simulations,
    hosts: Annotated[
        int, typer.Option("--hosts", min=1, help="Models that take the true game's place; paper: 2.")
    ] = DEFAULT.hosts,
    tolerance: Annotated[
        float,
        typer.Option(
            "--tolerance", min=0, max=1, help="Reject what is worse by more than this share of the observed range."
        ),
    ] = DEFAULT.tolerance,
    seed: Seed = 0,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Choose the best of several models of one game, and reject bad ones by matches where information is hidden."""
    config = RejectionConfig(hosts, repetitions, tolerance, simulations, DEFAULT.rollouts, seed)
    candidates = [selection.candidate(name, folder) for name, folder in _named(models).items()]
    made = [item.bundle for item in candidates if item.bundle is not None]
    if len(candidates) < 2 or not made:
        raise UsageError(f"There is nothing to choose: {len(made)} of {len(candidates)} places hold a model.")
    runtime = Runtime(shipped.level_of([bundle.hash for bundle in made]), MOVE_TIMEOUT_S)
    folder = run or Path("runs") / f"select-{made[0].game_info.id}"
    about = {"models": [item.to_json() for item in candidates], "rejection": config.to_json()}
    with RunRecord.create_or_resume(folder, KIND, about, seeds={"seed": seed}, sandbox_level=runtime.level) as record:
        found = _select(record, candidates, config, runtime, workers)
        _show(record, found, as_json)


def synthesize(
    folder: Path,
    settings: SeveralSettings,
    inputs: Inputs,
    caps: Caps,
    workers: int,
    recording: Path | None,
    as_json: bool,
) -> None:
    """Makes several syntheses in a new run, or goes on with them, and chooses among their models.

    Raises:
        typer.Exit: a cap is reached, or the chosen model is not exact on its training tests.
    """
    several.check(settings, caps)
    with several.open_record(folder, settings, inputs, caps) as record:
        _run(record, settings, caps, workers, recording, as_json)


def resume(record: RunRecord, by: Caps, workers: int, recording: Path | None, as_json: bool) -> None:
    """Goes on with several syntheses after a kill, or with higher caps."""
    settings = SeveralSettings.from_record(record.info.config)
    caps = several.raised(record.folder, by)
    several.check(settings, caps)
    _run(record, settings, caps, workers, recording, as_json)


def _run(
    record: RunRecord, settings: SeveralSettings, caps: Caps, workers: int, recording: Path | None, as_json: bool
) -> None:
    each = settings.each()
    common = several.opened_budget(record.folder, {record.folder / several.name_of(one): one for one in each}, caps)
    with told_where(record.folder), LiveViews(console.notices) as views:
        made = [_Synthesis(record.folder, settings, one, caps, common, workers, recording, views) for one in each]
        try:
            ends = _ends(made, min(language_model.at_once(settings.first, caps), settings.syntheses))
        finally:
            # Where nothing can be written, the last event has counted before.
            with suppress(OSError):
                write_elapsed(record.folder, common)
    candidates = [_candidate(record.folder, several.name_of(one)) for one in each[: len(ends)]]
    runtime = Runtime(settings.first.level, MOVE_TIMEOUT_S)
    found = _select(record, candidates, settings.rejection, runtime, workers)
    _show(record, found, as_json)
    cap = next((end.cap for end in ends if end.cap is not None), None)
    leave(record.folder, cap, found.best is not None and found.best.accuracy == 1.0)


@dataclass(frozen=True)
class _Synthesis:
    """One of the syntheses of a run, ready to be made.

    Attributes:
        folder: of the run.
        settings: of the run.
        one: of this synthesis.
        caps: common to all.
        common: what they have used.
        workers: processes at once.
        recording: file that the first adds its answers to, None for none.
        views: show what happens.
    """

    folder: Path
    settings: SeveralSettings
    one: RunSettings
    caps: Caps
    common: Budget
    workers: int
    recording: Path | None
    views: LiveViews

    def __call__(self, turn: WorkTurn | None) -> RunEnd:
        """Makes it, or goes on with it."""
        one, settings = self.one, self.settings
        name = several.name_of(one)
        number = one.seed - settings.first.seed + 1
        inputs = several.inputs_of(self.folder, one)
        left = several.left_for(self.folder, settings, one, self.caps)
        with (
            self.views.of(name) as view,
            open_synthesis(self.folder / name, one, inputs, left) as opened,
        ):
            view.say(f"synthesis {number} of {settings.syntheses}, seed {one.seed}")
            place = several.recording_of(self.recording, one, settings.first)
            among = Among(self.common, self.folder, turn)
            end = complete(opened, one, inputs, left, self.workers, place, view, among).end
            view.say(end.message)
        return end


def _ends(made: Sequence[_Synthesis], at_once: int) -> list[RunEnd]:
    """Makes the syntheses, so many at once, and returns how they ended; behind one that met a cap none begins."""
    if at_once > 1:
        return side_by_side(made, at_once, lambda end: end.cap is None)
    ends: list[RunEnd] = []
    for one in made:
        ends.append(one(None))
        if ends[-1].cap is not None:
            break
    return ends


def _candidate(folder: Path, name: str) -> Candidate:
    return selection.candidate(name, folder / name) if read_bundle(folder / name) else Candidate(name, None)


def _select(
    record: RunRecord, candidates: Sequence[Candidate], config: RejectionConfig, runtime: Runtime, workers: int
) -> Selection:
    """Chooses, and stores model, tables and page in the record's folder."""
    with console.notices.status("comparing the models") as status:

        def told(done: int, total: int) -> None:
            status.update(f"rejecting bad models: match {done} of {total}")

        found = selection.choose(candidates, config, runtime, workers, record, told)
    bundle = found.chosen_bundle()
    if bundle is not None:
        bundle.save(record.folder / MODEL)
    selection_report.write(record, found.to_json())
    return found


def _show(record: RunRecord, found: Selection, as_json: bool) -> None:
    if as_json:
        console.print_json(found.to_json() | {"run": str(record.folder)})
    else:
        show(found.to_json())
    console.notices.print(f"run: {record.folder}   report: {record.report_path}")


def show(data: Mapping[str, Any]) -> None:
    """Prints a choice: the table of the models, and what decided."""
    console.out.print(selection_report.table(data))
    console.out.print(data["reason"])


def report(record: RunRecord, as_json: bool) -> None:
    """Rebuilds the page of a choice from its record, and prints its table.

    Raises:
        UsageError: nothing has been chosen yet.
    """
    data = selection_report.read(record.folder)
    if not data:
        raise UsageError(f"{record.folder} has not come to a choice yet; run the same command again to go on.")
    selection_report.write(record, data)
    if as_json:
        console.print_json(data)
        return
    show(data)
    console.notices.print(f"report: {record.report_path}")


def _named(models: Sequence[str]) -> dict[str, Path]:
    """Returns the folder of each model by a short name.

    Raises:
        UsageError: a word names neither a folder nor a recording, or two name the same.
    """
    if len(models) == 1 and models[0] in registry.ids():
        models = [recordings.name_of(models[0], seed) for seed in recordings.bundled_seeds(models[0])]
    found: dict[str, Path] = {}
    for word in models:
        if word in found:
            raise UsageError(f"{word} is given twice: give each model once.")
        found[word] = recorded_models.named(word)
    return found
