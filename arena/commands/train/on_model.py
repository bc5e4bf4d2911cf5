"""`cwm train ppo`: agents that learn on a synthesised model."""

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from arena.agents.specs import AgentSpec
from arena.commands.train import on_twin
from arena.figures import formatting
from arena.machine import accelerated, shipped
from arena.matches.game_source import MODEL_PREFIX, in_turns
from arena.pipeline import recorded_models
from arena.runs.folder import MODEL
from arena.runs.origins import true_game
from arena.terminal import console
from arena.terminal.options import AsJson
from arena.training_on_models.settings import PAPER_STEPS, PpoSettings
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.model.environment import training_limits
from cwm.sandbox.parent.host import Sandbox
from cwm.twins.stored import StoredTwin, has_twin

SECONDS_BETWEEN_NOTICES: Final = 15.0
BOTH: Final = "both"
MOST_ENVIRONMENTS: Final = 10_000
MOST_HIDDEN: Final = 8192
"""Beyond these the memory of no machine is enough."""
RANDOM: Final = "random"
ITSELF: Final = "itself"


class On(StrEnum):
    """What is played in training."""

    TWIN = "twin"
    WORKER = "worker"


def command(
    model: Annotated[
        str, typer.Option("--model", help="Folder of a run or a bundle; `recorded`, with --game, as for agents.")
    ],
    game: Annotated[str | None, typer.Option("--game", help="Game of a recorded model.")] = None,
    seat: Annotated[str, typer.Option("--seat", help="Number of a seat from 0, or both: all of them.")] = BOTH,
    steps: Annotated[
        int, typer.Option("--steps", min=1, help="Decisions of each agent in all; the paper's are 10,000,000.")
    ] = PAPER_STEPS,
    seeds: Annotated[int, typer.Option("--seeds", min=1, max=1000, help="Agents a seat; the best is kept.")] = 5,
    evaluation: Annotated[
        int, typer.Option("--evaluation-games", min=1, help="Against random players on the model, to find the best.")
    ] = 1000,
    environments: Annotated[
        int, typer.Option("--environments", min=10, max=MOST_ENVIRONMENTS, help="Games side by side.")
    ] = 50,
    hidden: Annotated[
        int, typer.Option("--hidden", min=1, max=MOST_HIDDEN, help="Width of the network's layers.")
    ] = 256,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Write observations as vectors as the model's bundle says.")
    ] = False,
    on: Annotated[
        On | None,
        typer.Option("--on", help="What is played in training: the model's proved twin, its default where it has one."),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            help="Who else plays, on a twin: random, itself, or the folder of a training on it; of several one is "
            "drawn for each game.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder that keeps everything; the same command on it goes on.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train agents by PPO on a code world model, against random players (the CWM paper, appendix D)."""
    course = accelerated.load("arena.training_on_models.course")
    found_at, bundle = model_of(model, game)
    in_turns(bundle)
    folder = out or Path("runs") / f"ppo-{bundle.info['id']}-{bundle.hash[:8]}"
    settings = PpoSettings(
        steps=steps,
        seeds=seeds,
        environments=environments,
        hidden=hidden,
        evaluation_games=evaluation,
        stored_vectors=vectors,
    )
    seats = _seats(seat, bundle.game_info.num_players)
    if on is None and (begun := course.begun_with(folder)) is not None:
        on = On.TWIN if "twin" in begun else On.WORKER
    twin = _twin(found_at, bundle, on, against, is_recorded(model), vectors)
    where = "on its twin" if twin is not None else "in its worker"
    say = console.notices.print
    say(f"{bundle.info['id']}: training {where} in {folder}; the same command goes on after an interruption")
    if twin is None:
        sandbox = Sandbox(training_limits(), shipped.level_of([bundle.hash]))
        found = course.train(bundle, seats, settings, folder, sandbox, lambda text: say(text), Notices())
    else:
        teachers = accelerated.load("arena.training_on_twins.teacher")
        others = _others(teachers, against or [RANDOM], twin)
        with teachers.TwinTeacher(bundle, twin, settings, folder, others, Notices()) as teacher:
            found = course.train_with(teacher, bundle, seats, settings, folder, lambda text: say(text))
    if as_json:
        console.print_json({"folder": str(folder), "seats": [item.to_json() for item in found]})
        return
    for item in found:
        console.out.print(_line(item, bundle.game_info.utility == "identical"))
    if len(found) == bundle.game_info.num_players:
        agent = f"learned:{folder},greedy=true"
        own = true_game(bundle) is None
        table = f"{MODEL_PREFIX}{model.removeprefix(MODEL_PREFIX)}" if own else bundle.info["id"]
        console.out.print(f"play: cwm arena {table} --agent {agent} --agent random")


class Notices:
    """Says now and then how far a training is."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, progress: Any) -> None:
        now = time.monotonic()
        if now - self._said < SECONDS_BETWEEN_NOTICES and progress.steps < progress.total:
            return
        self._said = now
        paid = "" if progress.mean_return is None else f", mean return {progress.mean_return:+.3f}"
        left = (
            f", {_duration(progress.left_s)} left" if progress.steps < progress.total and progress.left_s >= 1 else ""
        )
        console.notices.print(
            f"seat {progress.seat}, seed {progress.seed}: {progress.steps:,} of {progress.total:,} steps"
            f"{paid}, {formatting.steps_a_second(progress.steps_per_s)}{left}"
        )


def _twin(
    folder: Path,
    bundle: ModelBundle,
    on: On | None,
    against: list[str] | None,
    recorded: bool,
    vectors: bool,
) -> StoredTwin | None:
    """Returns the twin on which is trained, None for the model's worker: as was asked, or as there is."""
    if on is None and against:
        on = On.TWIN
    if recorded and on is not On.WORKER:
        on_twin.add_recorded(folder)
    if on is On.WORKER or (on is None and not has_twin(folder / MODEL if (folder / MODEL).is_dir() else folder)):
        if against is not None:
            raise UsageError(
                f"--against {against[0]} needs the model's twin: leave out --on worker, or leave out --against."
            )
        return None
    twin = on_twin.twin_of(folder)[1]
    if vectors and (bundle.vectors_source is not None or bundle.schema != twin.schema):
        if on is None:
            return None
        raise UsageError("--vectors asks for other vectors than the twin's: leave it out, or give --on worker.")
    return twin


def _others(teachers: Any, against: list[str], twin: StoredTwin) -> Any:
    if against in ([RANDOM], [ITSELF]):
        return against[0]
    if {RANDOM, ITSELF} & set(against):
        raise UsageError(
            f"--against is {' and '.join(against)}: give {RANDOM} or {ITSELF} alone, or folders of trainings."
        )
    return teachers.fixed_policies([Path(folder) for folder in against], twin)


def is_recorded(model: str) -> bool:
    """Whether a model is named as one that is replayed from what ships."""
    return model.split("+")[0].split("-")[0] == recorded_models.RECORDED


def model_of(model: str, game: str | None) -> tuple[Path, ModelBundle]:
    """Returns the folder that an option names, and its model.

    Args:
        model: folder of a run or of a model, or `recorded` and the like.
        game: of the model; a recorded one needs it.

    Raises:
        UsageError: the model is of another game, or none ships for it.
    """
    if is_recorded(model):
        if game is None:
            raise UsageError(f"--model {model} needs --game: which game's recorded model?")
        spec = recorded_models.filled_in([AgentSpec("cwm", model, model=model)], game)[0]
        if spec.model == model:
            names = ", ".join(recorded_models.names_of(game)) or "none"
            raise UsageError(f"No {model} ships for {game}; known: {names}.")
        folder = Path(spec.model or "")
        return folder, ModelBundle.load(folder)
    folder = Path(model.removeprefix(MODEL_PREFIX))
    bundle = ModelBundle.load(folder)
    if game is not None and bundle.info["id"] != game:
        raise UsageError(f"--game is {game}, but the model in {model} is of {bundle.info['id']}.")
    return folder, bundle


def _seats(text: str, players: int) -> list[int]:
    if text in (BOTH, "all"):
        return list(range(players))
    if not text.isdecimal() or int(text) >= players:
        raise UsageError(f"--seat is {text!r}; give a number from 0 to {players - 1}, or {BOTH}.")
    return [int(text)]


def _line(item: Any, cooperative: bool) -> str:
    best = item.results[item.best]
    speed = item.clock.to_json()
    parts = ", ".join(f"{name} {speed[name]:.0%}" for name in ("model", "encoding", "transport", "policy", "update"))
    # On a twin all is one compiled loop.
    parts = f" ({parts})" if item.clock.model else ""
    fast = f"; {speed['steps_per_s']:,.0f} steps/s{parts}" if item.clock.steps else ""
    # Where all are paid the same nobody is paid more than the others.
    won = "" if cooperative else f"{best.wins:.1%} won, {best.losses:.1%} lost, "
    return (
        f"seat {item.seat}: best of {len(item.results)} is seed {item.best}: {won}mean return {best.mean_return:+.3f} "
        f"over {best.games:,} games {'with' if cooperative else 'against'} random players{fast}"
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
