"""`cwm games`: list the games, print the rules, show a random game, draw a game."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from arena.commands import check_batched, game_vectors
from arena.commands.exit_codes import EXIT_NEGATIVE
from arena.exports import film as rendering
from arena.exports import film_files, film_sources
from arena.exports.film_files import Format
from arena.figures.sheet import Sheet
from arena.matches.game_source import open_game, rules_text
from arena.terminal import console
from arena.terminal.options import GAME, AsJson, Seed
from cwm.trajectories.recorded import collect
from cwm.trajectories.telling import Detail
from games import plugins, registry
from games.api import CHANCE, TERMINAL, GameError, RendersText, ResamplesHistory
from games.contract import game as contract
from games.posg import contract as simultaneous
from games.posg.serialised import SerialisedPosg

app = typer.Typer(no_args_is_help=True, help="List the games, print their rules, show or draw a game.")
app.command("check-batched")(check_batched.command)
app.command("vectors")(game_vectors.command)
GameId = Annotated[str, typer.Argument(help=GAME)]


@app.command("list")
def list_games(as_json: AsJson = False) -> None:
    """List the registered games."""
    infos = [registry.make(game_id).info for game_id in registry.ids()]
    for name in plugins.names(plugins.GAMES):
        try:
            infos += [] if name in registry.ids() else [registry.make(name).info]
        except GameError as error:
            console.notices.print(str(error))
    if as_json:
        console.print_json([dataclasses.asdict(info) for info in infos])
        return
    table = Sheet("", ["id", "players", "payoffs", "information", "returns", "views"])
    for info in infos:
        table.add(
            info.id,
            str(info.num_players),
            info.utility.replace("_", " "),
            "perfect" if info.perfect_information else "imperfect",
            f"{info.min_utility:g} … {info.max_utility:g}",
            ", ".join(info.views),
        )
    console.out.print(table)
    for note in [f"{info.id}: {registry.describe(info.id).note}" for info in infos if registry.describe(info.id).note]:
        console.out.print(note)


@app.command()
def check(
    game: Annotated[str, typer.Argument(help=GAME)],
    games: Annotated[int, typer.Option("--games", min=1, help="Random games.")] = 20,
    seed: Seed = 0,
) -> None:
    """Check a game of your own against the contract of games, in random games; tells the first rule that it breaks."""
    with open_game(game) as made:
        violations = contract.check(made, games=games, seed=seed)
        if not violations and isinstance(made, ResamplesHistory):
            violations = contract.check_leaks(made, games=max(1, games // 4), seed=seed)
        if not violations and isinstance(made, SerialisedPosg):
            violations = simultaneous.check(made.model, games=games, seed=seed)
    if violations:
        first = violations[0]
        more = f"; rules broken besides: {len(violations) - 1}" if len(violations) > 1 else ""
        console.out.print(
            f"{game} breaks the contract: {first.rule}: {first.message}, after the actions {list(first.actions)}{more}",
            soft_wrap=True,
        )
        raise typer.Exit(EXIT_NEGATIVE)
    console.out.print(f"{game} keeps the contract in {games} random games")


@app.command()
def rules(
    game: GameId,
    detail: Annotated[
        Detail,
        typer.Option(
            "--rules-detail",
            help="book: as to people; specification: with every field of states and observations, and every action.",
        ),
    ] = "book",
) -> None:
    """Print the rules of a game."""
    console.out.print(rules_text(game, detail), markup=False)


@app.command()
def show(game: GameId, seed: Seed = 0, as_json: AsJson = False) -> None:
    """Play one uniformly random game and show every step."""
    with open_game(game) as made:
        trajectory = collect(made, 1, seed)[0]
        if as_json:
            console.print_json(list(trajectory.to_records()))
            return
        state = made.initial_state()
        for number, step in enumerate(trajectory.steps):
            who = made.info.player_name(step.player)
            if step.player != CHANCE and isinstance(made, RendersText):
                console.out.print(made.render(state))
            if step.player == TERMINAL or step.action is None:
                break
            console.out.print(str(number), style="bold", end=" ")
            console.out.print(f"{who}: {step.action}")
            state = made.apply_action(state, step.action)
    console.out.print("returns: " + ", ".join(f"{value:g}" for value in trajectory.returns))


@app.command()
def render(
    source: Annotated[
        str,
        typer.Argument(help="A game, for a random one; or a file of trajectories; or the folder of a run."),
    ],
    game_index: Annotated[
        int, typer.Option("--game-index", min=0, help="Number of the game in the file, the folder or the series.")
    ] = 0,
    seed: Seed = 0,
    player: Annotated[
        int | None, typer.Option("--player", help="Whose view to draw below; default: of whoever is to act.")
    ] = None,
    view: Annotated[
        str | None, typer.Option("--view", help="One of the game's views; `cwm games list` shows them.")
    ] = None,
    step: Annotated[
        int | None, typer.Option("--step", help="With svg or png: this frame alone; 0 is the game as it was dealt.")
    ] = None,
    form: Annotated[
        Format,
        typer.Option("--format", help="svg and png: one file a step, in a folder; the others: one file that plays."),
    ] = Format.HTML,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File or folder; default: named after game.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Draw a game of Yōkai: the true colours above, what one player sees below."""
    target = film_files.Target(form, step, out, force)
    game, record = film_sources.load(source, game_index, seed)
    film = rendering.film(game, record, player, view)
    path = film_files.write(film, target)
    frames = "1 frame" if step is not None or len(film.frames) == 1 else f"{len(film.frames)} frames"
    console.notices.print(f"{film.name}, {frames}, {film.frames[-1].title.lower()}: {path}")
