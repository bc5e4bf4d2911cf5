"""`cwm benchmark`: speed and strength, as a table or as JSON records; language models have a module of their own."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from arena.benchmarks import (
    equivalence,
    game_speed,
    hanabi,
    partners,
    sandbox_speed,
    search_speed,
    serve_speed,
    shown_tests,
    strength,
    suite_speed,
    twin_speed,
)
from arena.benchmarks.measurement import Measurement, machine, table
from arena.commands import benchmark_models
from arena.commands.exit_codes import EXIT_NEGATIVE, EXIT_SYSTEM
from arena.machine import accelerated, user_cache
from arena.matches.game_source import load_bundle
from arena.pipeline import recorded_models
from arena.report.tables import paper_table
from arena.runs.folder import MODEL
from arena.terminal import console
from arena.terminal.options import AsJson
from arena.usage import UsageError
from cwm.llm import recordings
from cwm.model.bundle import ModelBundle


class Name(StrEnum):
    """The benchmarks."""

    SEARCH = "search"
    SANDBOX = "sandbox"
    GAMES = "games"
    STRENGTH = "strength"
    YOKAI = "yokai"
    PARTNERS = "partners"
    CEILING = "ceiling"
    EQUIVALENCE = "equivalence"
    SUITES = "suites"
    XP = "xp"
    TRAINING = "training"
    GPU_PROGRAM = "gpu-program"
    SERVE = "serve"
    SHOWN_TESTS = "shown-tests"
    HANABI = "hanabi"
    HANABI_STEPS = "hanabi-steps"
    JAXMARL_STEPS = "jaxmarl-steps"
    TWIN = "twin"


class TimedBeside(StrEnum):
    """What a twin is timed beside."""

    PGX = "pgx"


HELP: Final[dict[Name, str]] = {
    Name.SEARCH: "Simulations/s beside OpenSpiel's Python bots.",
    Name.SANDBOX: "What a worker costs.",
    Name.GAMES: "Random games/s.",
    Name.STRENGTH: "200 games of the planner on the recorded yokai-9c-2p model, without its prior (long).",
    Name.YOKAI: "Steps/s of the batched environment on the device that JAX finds.",
    Name.PARTNERS: "The planner that reads its partner, with partners that play otherwise (long).",
    Name.CEILING: "R on yokai-9c-2p of two players who see all cards.",
    Name.EQUIVALENCE: "The planner on each recorded model against, or in cooperative games beside, the same planner on "
    "the true game (long).",
    Name.SUITES: "Seconds for the unit tests of one candidate.",
    Name.XP: "Games/s of trained policies in batches on the device that JAX finds.",
    Name.TRAINING: "Environment steps/s of PPO on the device that JAX finds, beside the roof.",
    Name.GPU_PROGRAM: "Kernels and memory of PPO at the paper's size, compiled for an H200 that need not be there.",
    Name.SERVE: "Milliseconds a move of `cwm serve` beside the agents' own, and the data of a watched game of 10,000 "
    "moves.",
    Name.SHOWN_TESTS: "Of the mutants of recorded programs that all tests of five games catch and those of a first "
    "prompt's usual choice miss, the share that its choice by what tests tell catches.",
    Name.HANABI: "Hanabi: what is known, believed and dealt, points of the bots beside published ones (long; games are "
    "kept, so that it goes on after a kill), times.",
    Name.HANABI_STEPS: "Steps/s of batched Hanabi on the device that JAX finds, beside JaxMARL's if installed.",
    Name.JAXMARL_STEPS: "Steps/s of OvercookedV2 as a batched game, beside JaxMARL's own loop.",
    Name.TWIN: "Steps/s of a model's twin (--model RUN, made by `cwm twin RUN`) and decisions/s of PPO on it, beside "
    "those of its worker, and with --beside pgx beside pgx's own environment.",
}


@dataclass(frozen=True)
class Given:
    """What a benchmark was asked for; each takes what concerns it.

    Attributes:
        model: folder of a run or model; None for the recorded one.
        games: how many; None for the benchmark's own number.
        chosen: ids of games; empty for all.
        deals: a game, each in all seatings.
        simulations: a move.
        minutes: after which no further deals of a game are begun; None for no limit.
        run: folder that keeps the games; None for the cache.
        seed: of everything random.
        workers: processes.
        as_json: print records instead of tables.
        beside: what else is timed.
    """

    model: Path | None
    games: int | None
    chosen: tuple[str, ...]
    deals: int
    simulations: int
    minutes: float | None
    run: Path | None
    seed: int
    workers: int
    as_json: bool
    beside: TimedBeside | None = None


TAKES: Final[dict[Name, frozenset[str]]] = {
    Name.SEARCH: frozenset({"model", "game", "seed"}),
    Name.STRENGTH: frozenset({"model", "games", "workers"}),
    Name.PARTNERS: frozenset({"model", "games", "workers"}),
    Name.CEILING: frozenset({"deals", "seed"}),
    Name.EQUIVALENCE: frozenset({"model", "game", "deals", "simulations", "minutes", "run", "seed", "workers"}),
    Name.SUITES: frozenset({"game", "workers"}),
    Name.XP: frozenset({"games"}),
    Name.TRAINING: frozenset({"games"}),
    Name.HANABI: frozenset({"games", "run", "workers"}),
    Name.HANABI_STEPS: frozenset({"games"}),
    Name.JAXMARL_STEPS: frozenset({"games"}),
    Name.TWIN: frozenset({"model", "games", "beside"}),
}
"""The options of each benchmark, --json apart; those that are missing have no other."""


def measure(
    context: typer.Context,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            help="search (one --game), strength, partners, equivalence, twin: folder of a run or model; default: the "
            "recorded one, of twin none.",
        ),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(
            "--games",
            min=1,
            help=f"strength: games (default {strength.GAMES}); partners: games of a setting with each "
            f"partner (default {partners.GAMES}); hanabi: games of a bot (default {hanabi.GAMES}); xp, training, "
            "hanabi-steps, jaxmarl-steps, twin: games at once.",
        ),
    ] = None,
    game: Annotated[
        list[str] | None,
        typer.Option(
            "--game",
            help="search, equivalence, suites, shown-tests: one option a game; default: all, or all with a recorded "
            "model.",
        ),
    ] = None,
    deals: Annotated[
        int, typer.Option("--deals", min=1, help="equivalence: deals a game, each in all seatings; ceiling: deals.")
    ] = equivalence.DEALS,
    simulations: Annotated[
        int, typer.Option("--simulations", min=1, help="equivalence: simulations a move of both planners.")
    ] = equivalence.SIMULATIONS,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", min=0, help="equivalence: begin no further deals of a game after so long."),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run", help="equivalence, hanabi: folder that keeps the games; default: beside the replayed models."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", help="search, ceiling, equivalence: everything random derives from it.")
    ] = 0,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            min=1,
            help="strength, partners, equivalence, suites, hanabi: processes that work side by side; changes no "
            "result.",
        ),
    ] = 2,
    beside: Annotated[
        TimedBeside | None,
        typer.Option("--beside", help="twin: time this in turn with it; pgx is installed by itself."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure, and print a table, or with --json a list of records: name, value, unit, baseline, ratio."""
    name = Name(str(context.info_name))
    _refuse_what_has_no_effect(context, name)
    given = Given(model, games, tuple(game or ()), deals, simulations, minutes, run, seed, workers, as_json, beside)
    BENCHMARKS[name](given)


def _refuse_what_has_no_effect(context: typer.Context, name: Name) -> None:
    taken = TAKES.get(name, frozenset())
    for option in context.params:
        source = context.get_parameter_source(option)
        asked = source is not None and not source.name.startswith("DEFAULT")
        if asked and option not in (*taken, "as_json"):
            options = ", ".join(f"--{other}" for other in (*sorted(taken), "json"))
            raise UsageError(
                f"--{option} has no effect on the benchmark {name.value}, which takes {options}: leave it out."
            )


def _listed(
    run: Callable[[Given], Iterator[Measurement]], published: Callable[[], list[Measurement]] | None = None
) -> Callable[[Given], None]:
    """Returns a benchmark that says each figure as it comes, and prints all of them in one table.

    Args:
        run: measures.
        published: figures that ours are shown beside; None if there are none.
    """

    def show(given: Given) -> None:
        found = []
        for item in run(given):
            found.append(item)
            if not given.as_json:
                value = "nothing to measure" if item.value is None else f"{item.value:.4g} {item.unit}"
                console.notices.print(f"{item.name}: {value}")
        if given.as_json:
            console.print_json([item.to_json() for item in (*found, *(published() if published else ()))])
            return
        console.out.print(table(found))
        if published:
            console.out.print(paper_table(strength.GAME))
        console.out.print(f"measured on: {machine()}")

    return show


def _search(given: Given) -> None:
    """Times searches game by game, and prints what is known after each."""
    games, model, seed = given.chosen or [setting.game for setting in search_speed.SETTINGS], given.model, given.seed
    if model is not None and len(games) != 1:
        raise UsageError(f"A model is of one game, not of {len(games)}: name it with one --game.")

    def bundle_of(game: str) -> ModelBundle | None:
        if model is not None:
            return load_bundle(model)
        return load_bundle(recorded_models.folder_of(game)) if game in _recorded() else None

    speeds: list[search_speed.SearchSpeed] = []
    moves: list[Measurement] = []
    for item in search_speed.run(games, bundle_of, seed):
        speeds.append(item)
        for record in item.measurements():
            console.notices.print(f"{record.name}: {record.value:,.0f} {record.unit}, {record.ratio:.2f} of the bot's")
    if search_speed.YOKAI in games:
        bundle = bundle_of(search_speed.YOKAI)
        moves += [] if bundle is None else search_speed.time_a_move(bundle, seed)
    if given.as_json:
        records = [record for item in speeds for record in item.measurements()]
        console.print_json([record.to_json() for record in (*records, *moves)])
        return
    console.out.print(search_speed.table(speeds))
    if moves:
        console.out.print(table(moves))
    console.out.print(f"measured on: {machine()}")


def _equivalence(given: Given) -> None:
    """Compares planners on models with those on the true games, and prints what is known after each game.

    Raises:
        typer.Exit: a difference larger than the margin is shown, or games broke through a fault of ours.
    """
    asked = equivalence.EquivalenceWishes(
        given.chosen or _recorded(),
        given.deals,
        given.simulations,
        minutes=given.minutes,
        seed=given.seed,
        model=given.model,
        folder=given.run,
    )
    if asked.model is not None and len(asked.games) != 1:
        raise UsageError(f"A model is of one game, not of {len(asked.games)}: name it with one --game.")
    found = []
    with console.notices.status("opening the models") as status:
        for item in equivalence.run(
            asked, given.workers, lambda game, state: status.update(f"{game}: game {state.done} of {state.total}")
        ):
            found.append(item)
            console.notices.print(f"{item.game}: {item.verdict} after {item.deals} deals")
    if given.as_json:
        console.print_json([item.to_json() for item in found])
    else:
        console.out.print(equivalence.table(found))
        for reason in equivalence.reasons(found):
            console.out.print(reason)
        console.out.print(f"measured on: {machine()}")
    if any(item.missing for item in found):
        raise typer.Exit(EXIT_SYSTEM)
    if any(item.verdict == "different" for item in found):
        raise typer.Exit(EXIT_NEGATIVE)


def _loaded(module: str, *given: int | None) -> Iterator[Measurement]:
    """Runs a benchmark that needs the extra `learn`, in which nothing of it is imported before it is asked for."""
    measured: Iterator[Measurement] = accelerated.load(module).run(*given)
    return measured


def _models(games: Iterable[str]) -> Iterator[tuple[str, ModelBundle]]:
    return ((game, load_bundle(recorded_models.folder_of(game))) for game in games)


def _of_strength(given: Given, name: Name) -> tuple[Path, ModelBundle, Path]:
    """Returns the folder of the model of `strength.GAME`, the model, and where its games are kept."""
    folder = given.model or recorded_models.folder_of(strength.GAME)
    bundle = load_bundle(folder)
    return folder, bundle, user_cache.cache_folder() / name.value / bundle.hash[:16]


def _strength(given: Given) -> Iterator[Measurement]:
    folder, _, kept = _of_strength(given, Name.STRENGTH)
    return strength.run(folder, kept, given.workers, given.games or strength.GAMES)


def _partners(given: Given) -> Iterator[Measurement]:
    folder, bundle, kept = _of_strength(given, Name.PARTNERS)
    if bundle.prior_source is None:
        raise UsageError(f"The model in {folder} has no policy prior: synthesise one with --priors.")
    kept = kept / f"meaning-{partners.MEANING}"
    return partners.run(folder, bundle.value_source is not None, kept, given.workers, given.games or partners.GAMES)


def _twin(given: Given) -> Iterator[Measurement]:
    if given.model is None:
        raise UsageError("The benchmark twin needs the run whose twin is played: give it with --model.")
    folder = given.model / MODEL if (given.model / MODEL).is_dir() else given.model
    return twin_speed.run(folder, load_bundle(given.model), given.games, given.beside is TimedBeside.PGX)


def _hanabi(given: Given) -> Iterator[Measurement]:
    games = given.games or hanabi.GAMES
    folder = given.run or hanabi.folder_in(user_cache.cache_folder(), games)
    with console.notices.status("comparing") as status:
        yield from hanabi.run(folder, games, given.workers, status.update)


def _recorded() -> list[str]:
    return recordings.bundled_games()


BENCHMARKS: Final[dict[Name, Callable[[Given], None]]] = {
    Name.SEARCH: _search,
    Name.SANDBOX: _listed(lambda given: sandbox_speed.run(dict(_models(_recorded())))),
    Name.GAMES: _listed(lambda given: game_speed.run()),
    Name.STRENGTH: _listed(_strength, strength.published),
    Name.YOKAI: _listed(lambda given: _loaded("arena.benchmarks.yokai_speed")),
    Name.PARTNERS: _listed(_partners),
    Name.CEILING: _listed(lambda given: strength.ceiling(given.deals, given.seed)),
    Name.EQUIVALENCE: _equivalence,
    Name.SUITES: _listed(lambda given: suite_speed.run(_models(given.chosen or _recorded()), given.workers)),
    Name.XP: _listed(lambda given: _loaded("arena.benchmarks.evaluator_speed", given.games)),
    Name.TRAINING: _listed(lambda given: _loaded("arena.benchmarks.training_speed", given.games)),
    Name.GPU_PROGRAM: _listed(lambda given: _loaded("arena.benchmarks.gpu_program")),
    Name.SERVE: _listed(lambda given: serve_speed.run()),
    Name.HANABI: _listed(_hanabi),
    Name.HANABI_STEPS: _listed(lambda given: _loaded("arena.benchmarks.hanabi_steps", given.games)),
    Name.JAXMARL_STEPS: _listed(lambda given: _loaded("arena.benchmarks.jaxmarl_steps", given.games)),
    Name.TWIN: _listed(_twin),
    Name.SHOWN_TESTS: _listed(
        lambda given: shown_tests.run(_models(given.chosen or shown_tests.GAMES), given.seed, given.workers)
    ),
}

app = typer.Typer(no_args_is_help=True, help="Measure speed, strength, or how well language models write games.")
app.command("models")(benchmark_models.command)
for _name in Name:
    app.command(_name.value, help=HELP[_name])(measure)
