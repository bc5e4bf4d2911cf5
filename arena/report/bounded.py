"""Intervals of returns as they are shown: one ends where the game does, since no mean of all games lies beyond.

Student's interval of few deals knows nothing of what a game can pay, and reaches past it. What is stored stays as it
was computed; rates need no ends, since Wilson's intervals keep within 0 and 1.
"""

from dataclasses import replace
from typing import TypeAlias, TypeVar

from arena.figures.intervals import Estimate
from arena.figures.metrics import Cooperation
from arena.matches.ratings import AgentResult, LineupResult, Side, Standings
from arena.report.data import ArenaView

Payoffs: TypeAlias = tuple[float, float] | None
"""Lowest and highest return of a game; None where they are not known, and nothing is cut."""
_Value = TypeVar("_Value", Estimate, Estimate | None)


def arena(found: ArenaView) -> ArenaView:
    """Returns a tournament as it is shown: its tables, cut, and a note if an interval was."""
    finished = found.table_without_forfeits
    told = note(found.table, found.payoffs) or (note(finished, found.payoffs) if finished else "")
    return replace(
        found,
        table=table(found.table, found.payoffs),
        table_without_forfeits=None if finished is None else table(finished, found.payoffs),
        note=told or found.note,
    )


def table(found: Standings, payoffs: Payoffs) -> Standings:
    """Returns standings whose intervals of returns and of R end at what the game can pay."""
    if payoffs is None:
        return found
    return replace(
        found,
        agents=tuple(agent(item, payoffs) for item in found.agents),
        lineups=tuple(_lineup(item, payoffs) for item in found.lineups),
        matrix=tuple(tuple(cut(value, _ends(found.utility, payoffs)) for value in row) for row in found.matrix),
    )


def agent(found: AgentResult, payoffs: Payoffs) -> AgentResult:
    """Returns the figures of one agent, cut as those of a table are."""
    if payoffs is None:
        return found
    return replace(
        found,
        cross=None if found.cross is None else _side(found.cross, payoffs),
        self_play=_together(found.self_play, payoffs),
        cross_play=_together(found.cross_play, payoffs),
    )


def note(found: Standings, payoffs: Payoffs) -> str:
    """Returns what is said beside standings of which an interval is cut; "" where none is."""
    if payoffs is None or table(found, payoffs) == found:
        return ""
    return f"Intervals end at what the game can pay, {payoffs[0]:g} to {payoffs[1]:g}."


def _lineup(found: LineupResult, payoffs: tuple[float, float]) -> LineupResult:
    sides = tuple(_side(item, payoffs) for item in found.sides)
    return replace(found, sides=sides, cooperation=_together(found.cooperation, payoffs))


def _side(found: Side, payoffs: tuple[float, float]) -> Side:
    seats = tuple(cut(value, payoffs) for value in found.seats)
    return replace(found, payoff=cut(found.payoff, payoffs), seats=seats)


def _together(found: Cooperation | None, payoffs: tuple[float, float]) -> Cooperation | None:
    if found is None:
        return None
    return replace(found, score=cut(found.score, _ends("identical", payoffs)), returns=cut(found.returns, payoffs))


def _ends(utility: str, payoffs: tuple[float, float]) -> tuple[float, float]:
    """Returns the ends of what a matrix shows: of games of identical interest R, for which a loss counts 0."""
    low, high = payoffs
    return (min(0.0, low), max(0.0, high)) if utility == "identical" else payoffs


def cut(value: _Value, ends: tuple[float, float]) -> _Value:
    """Returns an estimate whose interval ends where the game does, but never short of its mean."""
    if value is None or value.low is None or value.high is None:
        return value
    # A mean beyond the ends is left where it is: the game paid what it says that it never pays.
    low, high = max(value.low, min(ends[0], value.mean)), min(value.high, max(ends[1], value.mean))
    return replace(value, low=low, high=high)
