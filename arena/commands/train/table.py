"""`cwm train table`: a table of the Yōkai Learning Environment paper, trained anew and shown beside the paper's."""

from pathlib import Path
from typing import Annotated, Any

import typer

from arena.commands.train.baseline import seeds_of
from arena.figures import formatting
from arena.figures.metrics import SHOWN, Metric
from arena.figures.sheet import Sheet
from arena.machine import accelerated
from arena.terminal import console

PERCENT = 100
COLUMNS = ("R", "SEE", "EE", "WEE", "LEN")
"""Of the paper's tables."""
NOTE = (
    "WEE is the mean over those seatings in which a game was ended early; in the paper, as its row GCN shows, "
    "seeds that never end early count as 0. The error of cross-play comes from leaving out one seed at a time."
)


def command(
    number: Annotated[
        int, typer.Argument(help="Of the paper's table: 2 methods, 3 α, 4 symmetries, 5 encoders, 6 memory.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Keeps the trainings; the same command on it goes on.")],
    seeds: Annotated[
        str, typer.Option("--seeds", help="Of every row; the paper has 12, in table 5 four.")
    ] = "0,1,2,3,4,5,6,7,8,9,10,11",
    scale: Annotated[str, typer.Option("--scale", help="paper, or reduced: for processors.")] = "paper",
    steps: Annotated[int | None, typer.Option("--steps", min=1, help="Of every policy; the paper has 1e9.")] = None,
    game: Annotated[
        str | None,
        typer.Option("--game", help="Train the rows for two players on this game instead, e.g. yokai-8c-2p."),
    ] = None,
    games: Annotated[int, typer.Option("--games", min=1, help="Of a seating, in the evaluation.")] = 5000,
    stop_after: Annotated[
        float | None,
        typer.Option(
            "--stop-after",
            min=0,
            help="Minutes of training, then the state is kept and the next run goes on, to the same bits. No row, "
            "stage or piece (a 200th of a training, at least one update) is begun that would take longer; the first "
            "piece of a row is compiled and done anyway. Rows that are finished are then played: less with a smaller "
            "--games.",
        ),
    ] = None,
) -> None:
    """Train every row of a table, play its seeds with themselves and each other, and print it beside the paper's."""
    tables = accelerated.load("arena.papers.yokai.tables.trained")
    changed = {} if steps is None else {"total_steps": steps}
    plan = tables.TablePlan(number, out, seeds_of(seeds), scale, changed, games, game)
    told = Reports()
    done = tables.train(plan, None if stop_after is None else 60 * stop_after, told)
    if not done:
        console.notices.print("the time is up: what is trained is kept; finished rows are played now")
    console.out.print(_table(number, plan.rows(), tables.results(plan)))
    if not done:
        console.out.print("not all rows are trained; the same command goes on")


class Reports:
    """Says where a training is, once a row and tenth of it."""

    def __init__(self) -> None:
        self._told: tuple[str, int] = ("", -1)

    def __call__(self, row: Any, standing: Any) -> None:
        now = (row.folder, 10 * standing.steps // standing.total)
        if now != self._told:
            self._told = now
            console.notices.print(
                f"{row.folder}: {standing.steps:,} of {standing.total:,} steps, "
                f"{formatting.steps_a_second(standing.steps_per_second)}"
            )


def _table(number: int, rows: list[Any], results: list[Any]) -> Sheet:
    columns = [f"{side} {name}" for side in ("SP", "XP") for name in COLUMNS]
    title = f"Table {number} (mean ± standard error over seeds; below, the paper's)"
    table = Sheet(title, ["row", "game", "trained"], columns)
    table.note = NOTE
    for row, result in zip(rows, results, strict=True):
        ours = [*_cells(result, True), *_cells(result, False)]
        table.add(row.label, row.game, _trained(result), *ours)
        paper = [*row.self_play, *(row.cross_play or [formatting.NONE] * len(COLUMNS))]
        table.add("", "", "paper: 1e9", *paper)
    return table


def _trained(result: Any) -> str:
    if result.figures is None:
        return f"not finished: {result.steps:,} of {result.total:,}"
    return f"{result.total:,}"


def _cells(result: Any, alone: bool) -> list[str]:
    side = None if result.figures is None else result.figures.self_play if alone else result.figures.cross_play
    return [_shown(metric, getattr(side, metric.key, None)) for metric in SHOWN if metric.name in COLUMNS]


def _shown(metric: Metric, figure: Any) -> str:
    if metric.share and figure is not None:
        return formatting.pair(_percent(figure), 0)
    return formatting.with_error(figure, 1)


def _percent(rate: Any) -> tuple[float, float | None]:
    error = None if rate.standard_error is None else PERCENT * rate.standard_error
    return PERCENT * rate.mean, error
