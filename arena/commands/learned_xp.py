"""`cwm xp --checkpoint`: self-play and cross-play of trained policies, thousands of games at once."""

from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from arena import accelerated, console
from arena.baselines.method_figures import LearnedCrossPlay
from arena.report import cross_play_page, learned_tables
from arena.report.cross_play_tables import lineup_tables, summary_table
from cwm.llm.files import write_whole


def show(
    game: str, names: list[str], games: int | None, seed: int, greedy: bool, html: Path | None, as_json: bool
) -> None:
    """Plays and prints.

    Args:
        game: registry id.
        names: folders of checkpoints, or names of those that ship.
        games: of a seating; None: as many as in the paper.
        seed: everything random derives from it.
        greedy: take each policy's likeliest action.
        html: write a page there.
        as_json: print one JSON document instead of tables.

    Raises:
        GameError: the extra `learn` is not installed.
        CheckpointError: a checkpoint cannot be read or is of another game.
    """
    cross_play = accelerated.load("arena.baselines.cross_play")
    chosen = cross_play.load_all(game, names)
    columns = (TextColumn("seatings"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console.notices, transient=True) as shown:
        task = shown.add_task("seatings", total=None)
        found: LearnedCrossPlay = cross_play.run(
            chosen,
            games or cross_play.GAMES,
            seed,
            greedy,
            lambda done, total: shown.update(task, completed=done, total=total),
        )
    if html is not None:
        write_whole(html, cross_play_page.render(found.found, (), {}, found))
    if as_json:
        console.print_json(found.to_json())
        return
    for table in (*lineup_tables(found.found), summary_table(found.found), *learned_tables.tables(found)):
        console.out.print(table)
