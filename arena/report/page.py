"""What pages and printed tables ask of standings."""

from collections.abc import Sequence
from typing import Final

from arena.figures.dots import Dot, DotPlot
from arena.figures.intervals import Estimate
from arena.matches.ratings import AgentResult, Standings
from arena.papers.yokai.published import figures
from arena.report.arena_view import payoffs

SCALE_OF_R: Final = (0.0, 10.0)
"""Ends of every scale of R, so that pages of different runs look alike."""
NOTES: Final = {True: "memory help", False: "no memory help"}


def scale(table: Standings) -> tuple[float, float]:
    """Returns the ends of the colours of a matrix: R from 0 to 10, else what the game can pay, else what was paid."""
    if cooperative(table):
        return SCALE_OF_R
    known = payoffs(table.game)
    values = [cell.mean for row in table.matrix for cell in row if cell is not None]
    return known or (min(values, default=0.0), max(values, default=1.0))


def heat(table: Standings, cell: Estimate | None) -> float:
    """Returns where a cell of the pairing matrix lies on the table's scale, in [0, 1]."""
    low, high = scale(table)
    if cell is None or low == high:
        return 0.0
    return min(1.0, max(0.0, (cell.mean - low) / (high - low)))


def best_partner(table: Standings, row: int) -> int | None:
    """Returns the column of the best partner or opponent of a row's agent, not itself; None where it met nobody."""
    met = [(cell.mean, -column) for column, cell in enumerate(table.matrix[row]) if cell is not None and column != row]
    return -max(met)[1] if met else None


def plots(game: str, agents: Sequence[AgentResult]) -> list[DotPlot]:
    """Returns R of agents with themselves and with others, beside the published figures; [] without such figures."""
    alone = [Dot.of(agent.agent, agent.self_play.score) for agent in agents if agent.self_play is not None]
    others = [Dot.of(agent.agent, agent.cross_play.score) for agent in agents if agent.cross_play is not None]
    rows = figures.rows(game)
    if alone:
        alone += [Dot.published(row.agent, row.self_play, NOTES[row.memory]) for row in rows if row.self_play]
    if others:
        others += [Dot.published(row.agent, row.cross_play, NOTES[row.memory]) for row in rows]
    both = (("R with itself", alone), ("R with others", others))
    return [DotPlot.of(title, ranked(dots), *SCALE_OF_R) for title, dots in both if dots]


def ranked(dots: Sequence[Dot]) -> list[Dot]:
    """Returns ours first, then the published ones, each from the highest on."""
    return sorted(dots, key=lambda dot: (dot.kind != "ours", -dot.mean))


def cooperative(table: Standings) -> bool:
    """Tells whether the table holds cooperative figures."""
    return any(result.cooperation is not None for result in table.lineups)
