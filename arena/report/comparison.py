"""The comparison of all kinds of players, for the terminal and as a table in Markdown."""

from collections.abc import Sequence

from rich.table import Table

from arena.comparison.comparison import Comparison
from arena.comparison.contenders import Contender
from arena.figures import formatting, metrics, templates
from arena.figures.intervals import Estimate
from arena.matches.ratings import AgentResult
from arena.papers.yokai.published import figures
from arena.papers.yokai.published.results import SHOWN_SOURCE
from arena.report import comparison
from arena.report.page import cooperative, heat
from arena.report.tables import add_row, new_table

NOTE = "Recorded games were played on deals of their own."
MARK = "†"
RECORDED = " (recorded)"


def tables(found: Comparison) -> list[Table]:
    """Returns who plays, the matrix of a game for two, and every lineup."""
    made = [roster_table(found)]
    if found.table.matrix:
        made.append(_matrix(found))
    return [*made, lineup_table(found)]


def roster_table(found: Comparison) -> Table:
    """Returns who the players are, the view that each had, and its figures with itself and with others."""
    table = new_table("Players", ["", "who", "view"], [*_summary_columns(found), "time a move"])
    for contender, agent in zip(found.config.contenders, found.agents, strict=True):
        add_row(table, *_who(contender), *summary_cells(found, agent), formatting.seconds(agent.seconds))
    return table


def lineup_table(found: Comparison) -> Table:
    """Returns the figures of every lineup that has games, with 95 % intervals."""
    together = cooperative(found.table)
    columns = metrics.NAMES if together else ("return", "win", "draw", "loss")
    table = new_table("Cross-play (mean [95 % interval])", ["lineup", "views"], ["games", *columns])
    table.caption = NOTE if found.recorded else None
    for result in found.lineups():
        name = " + ".join(result.lineup) + (RECORDED if result.lineup in found.recorded else "")
        if result.cooperation is not None:
            rows = [(name, metrics.cells(result.cooperation, formatting.estimate))]
        else:
            rows = [
                (f"{name}: {side.agent}", [*map(formatting.estimate, (side.payoff, side.win, side.draw, side.loss))])
                for side in result.sides
            ]
        for title, cells in rows:
            add_row(table, title, found.views(result.lineup), formatting.whole(result.games), *cells)
    return table


def matrix_cells(found: Comparison) -> list[tuple[str, list[str]]]:
    """Returns the rows of the matrix as text: the name, then `mean ± standard error` or why there is none."""
    names = [agent.agent for agent in found.table.agents]
    rows = []
    for name, row in zip(names, found.table.matrix, strict=True):
        cells = [matrix_cell(found, name, other, value) for other, value in zip(names, row, strict=True)]
        rows.append((name, cells))
    return rows


def matrix_cell(found: Comparison, row: str, column: str, value: Estimate | None) -> str:
    """Returns one cell of the matrix."""
    if value is None:
        return found.why_not((row, column))
    mark = MARK if tuple(sorted((row, column))) in found.recorded else ""
    return formatting.with_error(value, 1) + mark


def markdown(found: Comparison) -> str:
    """Returns the comparison as text for a README: the matrix of a game for two, then who the players are."""
    names = [agent.agent for agent in found.table.agents]
    lines: list[str] = []
    if found.table.matrix:
        what = "R" if cooperative(found.table) else "Return of the row's player"
        lines += [f"{what} of each pair on {found.config.game}, mean ± standard error over deals:", ""]
        lines += [_line(["", *names]), _line(["---"] * (len(names) + 1))]
        lines += [_line([f"**{name}**", *cells]) for name, cells in matrix_cells(found)]
        lines += ["", f"{MARK} {NOTE}"] if found.recorded else []
        lines.append("")
    columns = ["", "who", "view", *_summary_columns(found)]
    lines += [_line(columns), _line(["---"] * len(columns))]
    for contender, agent in zip(found.config.contenders, found.agents, strict=True):
        lines.append(_line([*_who(contender), *summary_cells(found, agent)]))
    return "\n".join(lines) + "\n"


def summary_cells(found: Comparison, agent: AgentResult) -> list[str]:
    """Returns the figures of one player over all its lineups."""
    if not cooperative(found.table):
        return [formatting.estimate(None if agent.cross is None else agent.cross.payoff)]
    own, others = agent.self_play, agent.cross_play
    return [
        formatting.estimate(None if own is None else own.score),
        formatting.estimate(None if others is None else others.score),
        formatting.estimate(None if others is None else others.success_early),
    ]


def _summary_columns(found: Comparison) -> Sequence[str]:
    return ("R with itself", "R with others", "SEE with others") if cooperative(found.table) else ("return",)


def _who(contender: Contender) -> tuple[str, str, str]:
    absent = "" if contender.absent is None else f": {contender.absent}"
    return contender.name, contender.title + absent, contender.view or formatting.NONE


def _matrix(found: Comparison) -> Table:
    names = [agent.agent for agent in found.table.agents]
    present = [
        index for index, name in enumerate(names) if any(name in result.lineup for result in found.table.lineups)
    ]
    title = "R of the pair" if cooperative(found.table) else "Return of the row's player"
    table = new_table(f"{title} (mean ± standard error)", [""], [names[index] for index in present])
    table.caption = f"{MARK} {NOTE}" if found.recorded else None
    for name, cells in matrix_cells(found):
        add_row(table, name, *(cells[index] for index in present))
    return table


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def render(found: Comparison) -> str:
    """Returns the page; it needs no network and no script, and every value is escaped."""
    return templates.page(
        "arena.report",
        "comparison.html.j2",
        found=found,
        together=cooperative(found.table),
        players=list(zip(found.config.contenders, found.agents, strict=True)),
        summary=lambda agent: comparison.summary_cells(found, agent),
        cell=lambda row, column, value: comparison.matrix_cell(found, row, column, value),
        heat=lambda value: heat(found.table, value),
        mark=comparison.MARK,
        note=comparison.NOTE,
        paper=figures.rows(found.table.game),
        paper_source=SHOWN_SOURCE,
    )
