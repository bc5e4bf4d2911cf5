"""Matches of a run beside those of the paper on code world models."""

from typing import Final

from arena.figures.dots import Dot, DotPlot
from arena.matches.ratings import Standings
from arena.papers.cwm.published import numbers
from arena.papers.cwm.published.games import BY_ID, Variant
from arena.papers.cwm.published.layout import OPPONENT_WORDS, TABLES, Opponent
from arena.pipeline.matches import MODEL_AGENT

_OPPONENTS: Final[dict[str, Opponent]] = {"random": "random", "true-game planner": "true"}
"""Agents of a run's matches, and what the paper's tables call them."""


def plots(game: str, table: Standings, deck: str) -> tuple[DotPlot, ...]:
    """Returns a plot an opponent: ours over both seats, and what can be read of the paper's, seat by seat.

    Args:
        game: our id; one that the paper does not have gives ().
        table: of the run's matches.
        deck: `open` or `closed`.
    """
    if game not in BY_ID:
        return ()
    wins = BY_ID[game].payoff == "outcomes"
    made = []
    for result in table.lineups:
        other = next((name for name in result.lineup if name != MODEL_AGENT), "")
        if MODEL_AGENT in result.lineup and other in _OPPONENTS:
            side = next(side for side in result.sides if side.agent == MODEL_AGENT)
            dots = [Dot.of("planner on the model", side.win if wins else side.payoff, f"{side.games} games")]
            dots += _published(game, "closed" if deck == "closed" else "tree", _OPPONENTS[other], wins)
            if len(dots) > 1:
                what = "Share of wins" if wins else "Return a game"
                ends = (0.0, dots[0].low or 0.0, dots[0].high or 0.0)
                scale = (0.0, 1.0) if wins else (min(ends), max(ends))
                made.append(DotPlot.of(f"{what} against {OPPONENT_WORDS[_OPPONENTS[other]]}", dots, *scale))
    return tuple(made)


def opponent(name: str) -> str:
    """Returns what a sentence calls an agent of a run's matches."""
    known = _OPPONENTS.get(name)
    return name if known in (None, "random") else f"the {OPPONENT_WORDS[known]}"


def _published(game: str, variant: Variant, opponent: str, wins: bool) -> list[Dot]:
    kind = "outcomes" if wins else "payoffs"
    layout = next(
        (
            table
            for table in TABLES
            if (table.kind, table.variant, table.learned) == (kind, variant, False) and game in table.games
        ),
        None,
    )
    if layout is None:
        return []
    column = f"{opponent}.{'win' if wins else 'us'}"
    dots = []
    for seat in (0, 1):
        cell = numbers.cell(layout.number, game, seat, column)
        if cell.value is not None:
            words = f"the paper, as player {seat}"
            dots.append(Dot.published(words, (cell.value, None), f"Table {layout.number}, {numbers.MATCHES} matches"))
    return dots
