"""How often the models of a rebuilding are right: on held-out games, on the games that they are played in, and call by
call."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from arena.evaluation import evaluation_run, held_out, held_out_games, played_games
from arena.evaluation.held_out_games import TEST_SEED_OFFSET
from arena.matches.match import GameRecord
from arena.papers.cwm.tables import matches, syntheses
from arena.papers.cwm.tables.places import CURVE, TEST, Place
from arena.runs import inputs as run_inputs
from arena.runs.settings import RunSettings
from cwm.model.bundle import ModelBundle
from cwm.record.record import RunMissingError, RunRecord
from cwm.synthesis.driver import STREAM
from cwm.synthesis.events import AnswerReceived
from cwm.trajectories import recorded
from cwm.trajectories.recorded import game_seed
from games import registry

TRIAL_GAMES = 4
HELD_OUT_SEED = 1
"""Another seed than any synthesis's: no training game is among the held-out ones."""


def hold_out(path: Path, game: str, transitions: int, seed: int, workers: int, kept: Path | None = None) -> None:
    """Plays the held-out games of a game with the standard mixture of players, unless they are there.

    Args:
        path: file that they are written to, JSON lines.
        game: our id.
        transitions: they hold at least so many.
        seed: of the rebuilding.
        workers: processes that play; changes no game.
        kept: see `run_inputs.held_out_games`.

    Raises:
        WorkerDiedError: a process that plays ended.
    """
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    inputs = run_inputs.registered(game, 0, seed)
    settings = RunSettings(game, True, seed=seed + HELD_OUT_SEED, test_transitions=transitions)
    recorded.write(path, held_out_games.held_out_games(inputs, settings, workers, kept))


def try_out(path: Path, game: str, seed: int) -> None:
    """Plays a few of the held-out games, in this process, to see how long they take.

    Games that are kept from before would say nothing of those that are not: none is taken from there.
    """
    with closing(held_out.play(registry.make(game), game_seed(seed + HELD_OUT_SEED, TEST_SEED_OFFSET))) as played:
        recorded.write(path, islice(played, TRIAL_GAMES))


def evaluate(
    model: Path,
    folder: Path,
    games: Path,
    seed: int,
    workers: int,
    on_stage: Callable[[str], None] = lambda text: None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Tests a model on the games of a file; a finished evaluation is not repeated."""
    if figures(folder) is None:
        asked = evaluation_run.EvaluationWishes(str(model), str(games), seed=seed, contract_games=0)
        evaluation_run.evaluate(asked, folder, workers, on_stage, progress)


def figures(folder: Path) -> dict[str, Any] | None:
    """Returns the figures of a finished evaluation, None if it is not finished.

    Raises:
        RunRecordError: the record is damaged.
    """
    try:
        with RunRecord.read(folder) as record:
            found: dict[str, Any] | None = record.evaluation(evaluation_run.FIGURES)
            return found
    except RunMissingError:
        return None


def measure_held_out(place: Place, seed: int, workers: int, progress: Callable[[int, int], None] | None = None) -> None:
    """Tests a synthesis's model on the held-out games."""
    evaluate(place.folder, place.part(TEST), place.held_out, seed, workers, progress=progress)


def measure_online(
    place: Place,
    records: Sequence[GameRecord],
    seed: int,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Tests a synthesis's model on the games that it was played in, as the true game saw them."""
    folder = matches.folder(place, records)
    if not records or figures(folder) is not None:
        return
    path = folder.with_suffix(".jsonl")
    if not path.exists():
        recorded.write(path, played_games.trajectories(registry.make(place.game), records))
    evaluate(place.folder, folder, path, seed, workers, progress=progress)


def programs_by_call(folder: Path) -> list[dict[str, Any] | None]:
    """Returns for each call of a finished synthesis the best program so far, as in its tree; None before the first.

    Raises:
        RunRecordError: the record is damaged.
    """
    made = syntheses.result(folder)
    if made is None:
        return []
    with RunRecord.read(folder) as record:
        told = [payload for _, _, kind, payload in record.events(STREAM) if kind == AnswerReceived.kind]
    # A truncated answer is asked for again within its step: its programs are known after the step's last call.
    last_call = {payload["step"]: number for number, payload in enumerate(told, start=1)}
    found: list[dict[str, Any] | None] = []
    for number in range(1, made["calls"] + 1):
        known = [entry for entry in made["tree"] if last_call.get(entry["step"], 0) <= number]
        found.append(max(known, key=lambda entry: entry["heuristic"], default=None))
    return found


def measure_curve(place: Place, seed: int, workers: int, progress: Callable[[int, int], None] | None = None) -> None:
    """Tests every program that was the best one after some call on the held-out games."""
    final = ModelBundle.load(place.folder)
    for digest in dict.fromkeys(entry["hash"] for entry in programs_by_call(place.folder) if entry is not None):
        folder = curve_folder(place, digest)
        if folder == place.part(TEST) or figures(folder) is not None:
            continue
        with RunRecord.read(place.folder) as record:
            source = record.program_source(digest)
        model = folder.with_name(f"{folder.name}-model")
        replace(final, source=source, value_source=None, prior_source=None).save(model)
        evaluate(model, folder, place.held_out, seed, workers, progress=progress)


def curve_folder(place: Place, digest: str) -> Path:
    """Returns where the evaluation of one program on the held-out games is kept: the final one's is the test itself."""
    made = syntheses.result(place.folder)
    if made is not None and made["best"] == digest:
        return place.part(TEST)
    return place.part(CURVE) / digest[:16]
