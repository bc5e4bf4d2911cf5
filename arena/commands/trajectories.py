"""`cwm trajectories`: play games of a registered game and record every step; check a file of one's own."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, get_args

import typer

from arena.evaluation import arena_games, suite_quality
from arena.evaluation.suite_quality import Aim
from arena.machine import accelerated
from arena.matches.game_source import open_game
from arena.report import suite
from arena.terminal import console
from arena.terminal.options import GAME, AsJson, Seed, Workers
from arena.usage import UsageError
from cwm.observations.samples import samples_of
from cwm.observations.schema import SchemaFormatError
from cwm.observations.vectors import ObservationVectors, infer, try_out
from cwm.quality.mutation_score import ScoreOptions
from cwm.storage.files import write_whole
from cwm.trajectories import files
from cwm.trajectories.recorded import Deck, Trajectory, collect, view, write
from games.api import Json

DeckOption = Annotated[
    str,
    typer.Option(
        "--deck", help="open; or closed: the games may lack states, and count as one player saw each of them."
    ),
]
MANY: Final = 200
FEW: Final = 3
"""The size of so many games is foretold by that of a few."""
LARGE: Final = 20_000_000
"""Bytes of a file whose size is said before it is written."""
app = typer.Typer(no_args_is_help=True, help="Record games as JSON lines, or check a file of recorded games.")


@app.command()
def record(
    game: Annotated[str, typer.Argument(help=GAME)],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; compressed if it ends in .gz.")],
    games: Annotated[int, typer.Option("--games", min=1, help="How many games.")] = 5,
    seed: Seed = 0,
    batched: Annotated[
        bool, typer.Option("--batched", help="Play Yōkai's games side by side in JAX; for thousands of them.")
    ] = False,
    aim: Annotated[
        Path | None,
        typer.Option(
            "--aim",
            help="Folder of a run or of a model. Play random and searching players, and write only games that reach "
            "branches of the model, or catch mutants of it, that its unit tests do not; at most --games.",
        ),
    ] = None,
    candidates: Annotated[int, typer.Option("--candidates", min=1, help="With --aim: games to choose from.")] = 30,
    workers: Workers = 2,
) -> None:
    """Play uniformly random games, or games that a model's tests lack, and write one JSON line a step."""
    if aim is not None:
        if batched:
            raise UsageError("--aim plays on the true game step by step; leave out --batched.")
        _record_aimed(Aim(aim, games, candidates), game, output, ScoreOptions(workers=workers, seed=seed))
        return
    steps = 0
    _say_size(game, games, seed)

    def counted(trajectories: Iterable[Trajectory]) -> Iterator[Trajectory]:
        nonlocal steps
        for trajectory in trajectories:
            steps += len(trajectory.steps)
            yield trajectory

    if batched:
        played: Iterable[Trajectory] = accelerated.load("arena.evaluation.bulk_recording").record(game, games, seed)
    else:
        with open_game(game) as made:
            played = collect(made, games, seed)
    write(output, counted(played))
    console.notices.print(f"{games} games of {game}, {steps} steps, written to {output}")


def _say_size(game: str, games: int, seed: int) -> None:
    """Says how large a file will be that is larger than most people want, by a few games of it."""
    if games < MANY:
        return
    with open_game(game) as made:
        few = collect(made, FEW, seed)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for one in few for row in one.to_records()]
    size = len("".join(lines).encode()) / FEW * games
    if size > LARGE:
        console.notices.print(f"the file will have about {size / 1e6:,.0f} MB")


def _record_aimed(aim: Aim, game: str, output: Path, options: ScoreOptions) -> None:
    with console.notices.status("opening the model") as status:
        found = suite_quality.aimed(aim, game, options, status.update)
    if not found.trajectories:
        raise UsageError(
            f"None of {found.candidates} games reaches a branch or catches a mutant that the model's tests miss; give "
            "more --candidates or another --seed."
        )
    write(output, found.trajectories)
    suite.show_aimed(found)
    console.notices.print(f"{len(found.trajectories)} games of {game}, written to {output}")


@app.command("from")
def from_folder(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder of `cwm play`, of `cwm arena --run` or `cwm xp --run`, or of several of these."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; compressed if it ends in .gz.")],
) -> None:
    """Make training games of games that people or agents played: every step with its state, one JSON line each."""
    played = arena_games.of_folder(folder)
    write(output, played)
    steps = sum(len(trajectory.steps) for trajectory in played)
    console.notices.print(f"{len(played)} games of {played[0].game}, {steps} steps, written to {output}")


@app.command()
def vectors(
    file: Annotated[Path, typer.Argument(help="File of JSON lines, one a step.")],
    held_out: Annotated[
        Path | None,
        typer.Option(
            "--held-out", help="Other games of the same kind. Default: the last fifth of the games, kept out."
        ),
    ] = None,
    names: Annotated[bool, typer.Option("--names", help="List what each number of a vector stands for.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the schema to this file, as JSON.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="Infer nothing: try this stored schema on all games of FILE.")
    ] = None,
    deck: DeckOption = "open",
    as_json: AsJson = False,
) -> None:
    """Infer how observations become lists of floats, and say how many unseen ones come back exactly."""
    if schema is not None and (held_out is not None or output is not None):
        raise UsageError("--schema tries a stored schema on FILE: leave out --held-out and --output.")
    kind = _deck(deck)
    games = files.read(file, kind)
    if schema is not None:
        kept, samples, made = 0, [], _stored_schema(schema)
    else:
        kept = len(games) - max(1, len(games) // 5) if held_out is None else len(games)
        if not kept:
            raise UsageError(f"{file} holds one game; record more, or give others with --held-out FILE.")
        samples = _observations(games[:kept], kind)
        made = infer(samples)
    others = games[kept:] if held_out is None else files.read(held_out, kind)
    found = try_out(made, len(samples), _observations(others, kind))
    if output is not None:
        write_whole(output, json.dumps(made.to_json(), indent=1) + "\n")
        console.notices.print(f"schema: {output}")
    listed = made.names() if names else []
    if as_json:
        console.print_json(found.to_json() | ({"names": listed} if names else {}))
        return
    origin = f"inferred from {found.samples} observations of {kept} games" if schema is None else f"as in {schema}"
    console.out.print(
        f"{found.width} numbers a vector, {origin}; {found.exact} of {found.held_out} held-out observations come back "
        f"exactly, {found.changed} changed"
    )
    for name, count in found.errors.items():
        console.out.print(f"  refused: {name}, {count} times")
    if found.first_error:
        console.out.print(f"  first: {found.first_error}", markup=False)
    for number, name in enumerate(listed):
        console.out.print(f"{number}: {name}", markup=False, highlight=False)


def _stored_schema(path: Path) -> ObservationVectors:
    try:
        return ObservationVectors.from_json(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise SchemaFormatError(f"{path} holds no schema of observations: {error}") from error


def _observations(games: Sequence[Trajectory], deck: Deck) -> list[Json]:
    return [observation for _, observation in samples_of(games, deck)]


def _deck(given: str) -> Deck:
    if given not in get_args(Deck):
        raise UsageError(f"--deck is {given!r}; give {' or '.join(get_args(Deck))}.")
    return "closed" if given == "closed" else "open"


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="File of JSON lines, one a step.")],
    deck: DeckOption = "open",
    as_json: AsJson = False,
) -> None:
    """Check a file against the schema and say what was read; problems are named with their lines."""
    kept = _deck(deck)
    trajectories = files.read(file, kept)
    info = files.infer_info(trajectories, deck=kept)
    summary: dict[str, object] = {
        "game": info.id,
        "games": len(trajectories),
        "steps": sum(len(trajectory.steps) for trajectory in trajectories),
        "players": info.num_players,
        "payoffs": info.utility,
        "perfect_information": info.perfect_information,
        "has_chance": info.has_chance,
        "returns": [info.min_utility, info.max_utility],
    }
    if kept == "closed":
        views = [view(trajectory) for trajectory in trajectories]
        seats = Counter(seen.player for seen in views)
        summary["games_by_seat"] = {str(player): seats[player] for player in sorted(seats)}
        summary["decisions"] = sum(len(seen.decisions) for seen in views)
        summary["initial_state"] = trajectories[0].steps[0].state or {}
    if as_json:
        console.print_json(summary)
        return
    for name, value in summary.items():
        console.out.print(f"{name.replace('_', ' ')}: {value}")
