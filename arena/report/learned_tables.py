"""Tables of trained policies for the terminal: methods over their seeds, methods with each other, probes."""

from typing import TypeAlias

from arena.figures import formatting, metrics
from arena.figures.intervals import Estimate
from arena.figures.sheet import Sheet
from arena.papers.yokai.play.name_figures import NameFigures
from arena.papers.yokai.play.probe_figures import CARDS, OBSERVED, ORACLE, ColourProbes
from arena.policy_play.curve_figures import LearningCurves
from arena.policy_play.method_figures import LearnedCrossPlay


def tables(found: LearnedCrossPlay) -> list[Sheet]:
    """Returns the figures of every method over its seeds, and for several methods of a game for two their matrix."""
    made = [_methods(found)]
    if found.between:
        names = [item.method for item in found.methods]
        units = formatting.units(found.between, "seeds")
        title = f"R of methods with each other, different seeds (mean ± standard error, {units} a pair)"
        matrix = Sheet(title, [""], names, names=names)
        for name, row in zip(names, found.between, strict=True):
            matrix.add(name, *map(formatting.with_error, row))
        made.append(matrix)
    return made


def probe_tables(found: ColourProbes) -> list[Sheet]:
    """Returns, for each method, how many card colours probes name rightly, by step, kind of play and kind of cards."""
    made = []
    for item in found.methods:
        kinds = [(cards, play) for cards in CARDS for play in item.lines[cards] if item.lines[cards][play]]
        # A perfect memory holds what was observed: a column of ones.
        kinds = [kind for kind in kinds if kind != (OBSERVED, ORACLE)]
        title = (
            f"{item.method}: share of card colours that linear probes name rightly (chance {found.chance:.2f}; "
            f"{found.trained_on} games to learn from, {found.held_out} held out; {item.seeds} seeds)"
        )
        table = Sheet(title, ["players' actions"], [f"{cards}: {play}" for cards, play in kinds])
        for step in sorted({step for cards, play in kinds for step in item.lines[cards][play]}):
            row: list[Estimate | None] = [item.lines[cards][play].get(step) for cards, play in kinds]
            table.add(str(step), *map(formatting.with_error, row))
        made.append(table)
    return made


def name_tables(found: NameFigures) -> list[Sheet]:
    """Returns R of every policy with itself, by the names that the players share and by the turns between them."""
    return [_by_class(*part) for part in name_parts(found)]


def curve_tables(found: LearningCurves) -> list[Sheet]:
    """Returns what every method reached along its training, alone and with its other seeds."""
    sides = ("self-play", "cross-play")
    columns = [f"{side} {name}" for side in sides for name in ("R", "won", "EE", "LEN")]
    made = []
    for method, points in found.methods.items():
        games = formatting.whole(found.settings["games"])
        table = Sheet(
            f"{method} (mean ± standard error over seeds; {games} games a seating)",
            ["steps"],
            ["seeds", *columns, "gap"],
        )
        for point in points:
            cells = []
            for side in (point.figures.self_play, point.figures.cross_play):
                told = [None] * 4 if side is None else [side.score, side.won, side.early, side.length]
                cells += [*map(formatting.with_error, told[:3]), formatting.with_error(told[3], 1)]
            counts = formatting.whole(point.steps), formatting.whole(len(point.figures.policies))
            table.add(*counts, *cells, formatting.with_error(point.figures.gap))
        made.append(table)
    return made


NameRow: TypeAlias = tuple[str, Estimate, list[Estimate | None]]
"""A policy, R over all games, and R by class."""


def name_parts(found: NameFigures) -> list[tuple[str, tuple[str, ...], list[NameRow]]]:
    """Returns title, classes and rows of both tables."""
    games = f"{formatting.whole(found.games)} games of each policy with itself"
    titles = (
        f"R by the names that mean the same colour to all players ({games}, colours and grid seen as in Other-Play)",
        "R of the same games by how the players' grids are turned against each other",
    )
    kinds = ((found.colours, "by_colours"), (found.turns, "by_turns"))
    return [
        (
            title,
            classes,
            [(p.name, p.all_games, [getattr(p, part).get(key) for key in classes]) for p in found.policies],
        )
        for title, (classes, part) in zip(titles, kinds, strict=True)
    ]


def _by_class(title: str, classes: tuple[str, ...], rows: list[NameRow]) -> Sheet:
    table = Sheet(title, [""], ["all games", *classes], names=[name for name, _, _ in rows])
    for name, every, values in rows:
        table.add(name, *map(formatting.with_error, [every, *values]))
    return table


def _methods(found: LearnedCrossPlay) -> Sheet:
    numbers = ["seeds", *metrics.NAMES, "gap", "border moves"]
    methods = [item.method for item in found.methods]
    table = Sheet("Over seeds (mean ± standard error)", ["method", ""], numbers, names=methods)
    for item in found.methods:
        count = formatting.whole(len(item.policies))
        for name, side, gap, border in (
            ("self-play", item.self_play, None, item.border_alone),
            ("cross-play", item.cross_play, item.gap, item.border_mixed),
        ):
            if side is not None:
                shown = "" if gap is None else formatting.with_error(gap)
                table.add(
                    item.method,
                    name,
                    count,
                    *metrics.cells(side, formatting.with_error),
                    shown,
                    formatting.with_error(border, 3),
                )
    return table
