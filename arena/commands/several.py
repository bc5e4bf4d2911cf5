"""`cwm synthesize --syntheses N` and `cwm select`: the best of several independent models of one game."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from arena.commands.finishing import complete, leave
from arena.machine import shipped
from arena.machine.runtime import Runtime
from arena.matches.rejection import RejectionConfig
from arena.pipeline import recorded_models, selection, several
from arena.pipeline.selection import Candidate, Selection
from arena.pipeline.several import SeveralSettings
from arena.report import selection as selection_report
from arena.runs.folder import MODEL, read_bundle
from arena.runs.folder import open_record as open_synthesis
from arena.runs.inputs import Inputs
from arena.terminal import console
from arena.terminal.options import AsJson, Seed, Workers
from arena.usage import UsageError
from cwm.llm import recordings
from cwm.llm.caps import Caps
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
    candidates: list[Candidate] = []
    cap: str | None = None
    for one in settings.each():
        name = several.name_of(one)
        folder = record.folder / name
        inputs = several.inputs_of(record.folder, one)
        left = several.left_for(record.folder, settings, one, caps)
        console.notices.print(f"{name}: synthesis {len(candidates) + 1} of {settings.syntheses}, seed {one.seed}")
        with open_synthesis(folder, one, inputs, left) as opened:
            place = several.recording_of(recording, one, settings.first)
            end = complete(opened, one, inputs, left, workers, place).end
        candidates.append(selection.candidate(name, folder) if read_bundle(folder) else Candidate(name, None))
        console.notices.print(f"{name}: {end.message}")
        if end.cap is not None:
            cap = end.cap
            break
    runtime = Runtime(settings.first.level, MOVE_TIMEOUT_S)
    found = _select(record, candidates, settings.rejection, runtime, workers)
    _show(record, found, as_json)
    leave(record.folder, cap, found.best is not None and found.best.accuracy == 1.0)


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
        found[word] = _place(word)
    return found


def _place(word: str) -> Path:
    if Path(word).exists():
        return Path(word)
    names = recordings.bundled_names()
    if word not in names:
        raise UsageError(f"{word} is neither a folder nor one of the recordings {', '.join(names)}.")
    game, _, seed = word.rpartition("-s")
    by_seed = bool(game) and seed.isdecimal() and game in registry.ids()
    return recorded_models.folder_of(game, int(seed)) if by_seed else recorded_models.folder_of(word)
