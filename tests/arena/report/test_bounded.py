"""Intervals on pages and in printed tables end at what a game can pay; what is stored does not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from arena.figures.intervals import Estimate
from arena.matches.match import GameRecord
from arena.matches.ratings import Standings, standings
from arena.report import bounded, selection, tables
from arena.report.data import ArenaView
from games.api import GameInfo

POKER = GameInfo("toy", 2, "zero_sum", -13.0, 13.0, False, True, ("x", "y"))
NOTE = "Intervals end at what the game can pay, -13 to 13."


@pytest.fixture
def table(record: Callable[..., GameRecord]) -> Standings:
    """Standings of two deals, whose means are far apart: Student's interval of one degree of freedom is huge."""
    return standings([record("a b", [13.0, -13.0], 1), record("a b", [-9.0, 9.0], 2)], POKER, ["a", "b"])


def test_an_interval_ends_where_the_game_does_and_a_note_says_so(table: Standings) -> None:
    side = table.lineups[0].sides[0]
    assert side.payoff.mean == 2.0
    assert side.payoff.high is not None
    assert side.payoff.high > 130
    shown = bounded.arena(ArenaView("Poker", table, payoffs=(-13.0, 13.0)))
    cut = replace(side.payoff, low=-13.0, high=13.0)
    assert shown.table.lineups[0].sides[0].payoff == cut
    assert shown.table.lineups[0].sides[0].win == side.win
    assert shown.table.matrix[0][1] == cut
    cross = shown.table.agents[0].cross
    assert cross is not None
    assert cross.payoff == cut
    assert shown.note == NOTE
    assert bounded.arena(shown) == shown


def test_printed_tables_are_cut_with_the_note_below_them(table: Standings) -> None:
    first, second, third = tables.arena_tables(ArenaView("Poker", table, payoffs=(-13.0, 13.0)))
    assert first.rows[0][-1] == second.rows[0][1] == third.rows[0][2] == "2.00 [-13.00, 13.00]"
    assert first.note == NOTE


def test_nothing_is_cut_and_nothing_said_where_the_ends_are_far_or_not_known(table: Standings) -> None:
    for payoffs in (None, (-1000.0, 1000.0)):
        shown = bounded.arena(ArenaView("Poker", table, payoffs=payoffs))
        assert (shown.table, shown.note) == (table, "")


def test_a_mean_beyond_what_the_game_says_it_pays_stays_within_its_interval(table: Standings) -> None:
    found = bounded.table(table, (-1.0, 1.0)).lineups[0].sides[0].payoff
    assert (found.low, found.mean, found.high) == (-1.0, 2.0, 2.0)


def test_r_of_a_cooperative_game_may_be_zero_where_every_win_is_worth_more(record: Callable[..., GameRecord]) -> None:
    info = replace(POKER, utility="identical", min_utility=5.0, max_utility=9.0)
    outcomes: list[dict[str, Any]] = [{"won": won, "ended_early": False, "score": 9} for won in (True, False)]
    games = [replace(record("a a", [9.0, 9.0], deal), outcome=outcome) for deal, outcome in enumerate(outcomes)]
    found = bounded.table(standings(games, info, ["a"]), (5.0, 9.0)).lineups[0].cooperation
    assert found is not None
    assert isinstance(found.score, Estimate)
    assert (found.score.low, found.score.mean, found.score.high) == (0.0, 4.5, 9.0)


def test_the_page_of_a_choice_draws_every_model_with_its_interval_on_what_the_game_pays() -> None:
    standings = [
        {"name": "m0", "payoff": 0.5, "standard_error": 0.1, "seats": 40, "failures": {}},
        {"name": "m1", "payoff": 0.75, "standard_error": 0.25, "seats": 40, "failures": {}},
    ]
    found = {"config": {"repetitions": 3}, "standings": standings, "observed": [-1.0, 1.0], "tolerated": 0.2}
    plot = selection._plot({"game": "tic_tac_toe", "chosen": "m1", "rejection": found})
    assert plot is not None
    assert (plot.low, plot.high) == (-1.0, 1.0)
    assert [(dot.label, dot.mean, dot.note, dot.kind) for dot in plot.dots] == [
        ("m1", 0.75, "chosen", "ours"),
        ("m0", 0.5, "", "ours"),
        ("rejected below this", pytest.approx(0.55), "", "published"),
    ]
    # Student's quantile of two degrees of freedom is 4.3027: the interval of the best would reach past 1.
    assert [(dot.low, dot.high) for dot in plot.dots] == [
        (pytest.approx(0.75 - 4.3027 * 0.25, abs=1e-4), 1.0),
        (pytest.approx(0.5 - 4.3027 * 0.1, abs=1e-4), pytest.approx(0.5 + 4.3027 * 0.1, abs=1e-4)),
        (None, None),
    ]
    assert selection._plot({"game": "tic_tac_toe", "chosen": "m1", "rejection": None}) is None
