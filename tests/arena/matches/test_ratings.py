import random
from collections.abc import Callable
from typing import Any

import pytest

from arena.figures.intervals import wilson
from arena.matches.match import Forfeit, GameRecord
from arena.matches.ratings import cooperation, side, standings, without_forfeits
from arena.report.tables import further_tables
from games.api import GameInfo

Builder = Callable[..., GameRecord]
ZERO_SUM = GameInfo("toy", 2, "zero_sum", -10.0, 10.0, False, True, ("x", "y"))
TOGETHER = GameInfo("toy", 2, "identical", -5.0, 20.0, False, True, ("x", "y"))


def outcome(won: bool, early: bool, score: float) -> dict[str, Any]:
    return {"won": won, "ended_early": early, "score": score}


def test_payoff_is_paired_over_the_seatings_of_a_deal(record: Builder) -> None:
    records = [
        record("a b", [5.0, -5.0], deal=1),
        record("b a", [3.0, -3.0], deal=1),
        record("a b", [1.0, -1.0], deal=2),
        record("b a", [-1.0, 1.0], deal=2),
    ]
    found = side("a", records, 2)
    assert found is not None
    # Deal 1 is worth (5 - 3) / 2, deal 2 (1 + 1) / 2: the luck of the cards is gone.
    assert (found.payoff.mean, found.payoff.standard_error, found.payoff.n) == (1.0, 0.0, 2)
    assert [seat.mean for seat in found.seats if seat] == [3.0, -1.0]


def test_rates_count_wins_draws_and_losses(record: Builder) -> None:
    records = [record("a b", returns, deal=n) for n, returns in enumerate([[1.0, -1.0], [0.0, 0.0], [-1.0, 1.0]] * 2)]
    found = side("a", [*records, record("a b", [2.0, -2.0], deal=9)], 2)
    assert found is not None
    assert (found.win.mean, found.draw.mean, found.loss.mean) == pytest.approx((3 / 7, 2 / 7, 2 / 7))
    assert found.win.n == 7


def test_interval_of_a_win_rate_rests_on_deals_not_on_seats(record: Builder) -> None:
    """Both seatings of a deal share its cards: 10 deals of 2 games are 10 units, whichever way the games are cut."""
    records = [
        game
        for deal in range(10)
        for game in (record("a b", [1.0, -1.0], deal), record("b a", [1.0, -1.0] if deal < 5 else [-1.0, 1.0], deal))
    ]
    found = side("a", records, 2)
    assert found is not None
    assert (found.games, found.win.n, found.draw.n, found.loss.n) == (20, 10, 10, 10)
    # Five deals are won and lost in turn, five won twice.
    assert (found.win.mean, found.draw.mean, found.loss.mean) == (0.75, 0.0, 0.25)
    assert (found.win.low, found.win.high) == wilson(7.5, 10)
    both = side("a", [record("a a", [1.0, -1.0], deal) for deal in range(4)], 2)
    assert both is not None
    assert (both.win.mean, both.win.n) == (0.5, 4)


def test_three_players_win_alone_or_draw_together(record: Builder) -> None:
    tied = side("b", [record("a b c", [1.0, 4.0, 4.0])], 3)
    last = side("a", [record("a b c", [1.0, 4.0, 4.0])], 3)
    assert tied is not None
    assert last is not None
    assert (tied.draw.mean, last.loss.mean) == (1.0, 1.0)


def test_agent_that_never_sat_has_no_results(record: Builder) -> None:
    assert side("c", [record("a b", [1.0, -1.0])], 2) is None
    assert cooperation([]) is None


def test_score_counts_a_loss_as_nothing_and_the_return_as_it_was_paid(record: Builder) -> None:
    found = cooperation(
        [
            record("a a", [12.0, 12.0], 1, outcome=outcome(True, True, 12.0), length=20),
            record("a a", [-4.0, -4.0], 2, outcome=outcome(False, False, 6.0), length=32),
            record("a a", [-3.0, -3.0], 3, outcome=outcome(False, True, 9.0), length=8),
            record("a a", [7.0, 7.0], 4, outcome=outcome(True, False, 7.0), length=32),
        ]
    )
    assert found is not None
    assert found.score.mean == 19 / 4
    assert found.returns.mean == 3.0
    assert (found.won.mean, found.early.mean, found.success_early.mean) == (0.5, 0.5, 0.25)
    assert found.won_given_early is not None
    assert found.won_given_early.mean == 0.5
    assert found.length.mean == 23.0


def test_share_of_wins_among_early_ends_is_null_when_nobody_ended_early(record: Builder) -> None:
    found = cooperation([record("a a", [-4.0, -4.0], outcome=outcome(False, False, 6.0))])
    assert found is not None
    assert found.won_given_early is None


def test_forfeited_cooperative_game_is_lost_and_not_ended_early(record: Builder) -> None:
    games = [
        record("a b", [12.0, 12.0], 1, outcome=outcome(True, True, 12.0)),
        record("a b", [-5.0, -5.0], 2, forfeit=Forfeit(1, "timeout", "60 s")),
    ]
    found = cooperation(games)
    assert found is not None
    assert (found.score.mean, found.won.mean, found.early.mean, found.returns.mean) == (6.0, 0.5, 0.5, 3.5)
    table = standings(games, TOGETHER, ["a", "b"])
    assert [agent.forfeits for agent in table.agents] == [{}, {"timeout": 1}]
    assert table.agents[0].cross_play is not None
    assert without_forfeits(games) == games[:1]


def test_further_figures_are_those_that_outcomes_list_averaged_over_deals(record: Builder) -> None:
    def ended(points: int, bombed: bool) -> dict[str, Any]:
        more = {"points": points, "bombed": bombed, "colours": 4, "figures": ["points", "bombed"]}
        return outcome(not bombed, bombed, 0.0 if bombed else float(points)) | more

    games = [
        record("a a", [3.0, 3.0], deal=1, outcome=ended(3, False)),
        record("a a", [5.0, 5.0], deal=1, outcome=ended(5, False)),
        record("a a", [0.0, 0.0], deal=2, outcome=ended(8, True)),
        record("a a", [-5.0, -5.0], deal=3, forfeit=Forfeit(0, "illegal", "x")),
    ]
    table = standings(games, TOGETHER, ["a"])
    found = table.lineups[0].further
    # Deal 1 has 4 points on average and no bomb, deal 2 has 8 and one; the forfeited game has no outcome.
    assert (found["points"].mean, found["points"].n) == (6.0, 2)
    assert (found["bombed"].mean, found["bombed"].low) == (0.5, wilson(1, 2)[0])
    assert table.further() == ["points", "bombed"]
    assert table.to_json()["lineups"][0]["further"]["points"]["mean"] == 6.0
    (sheet,) = further_tables(table)
    assert "points" in sheet.markdown()
    assert "colours" not in sheet.markdown()


def test_games_without_further_figures_store_and_show_what_they_always_did(record: Builder) -> None:
    table = standings([record("a a", [3.0, 3.0], outcome=outcome(True, False, 3.0))], TOGETHER, ["a"])
    assert (table.further(), further_tables(table)) == ([], [])
    assert "further" not in table.to_json()["lineups"][0]


def test_matrix_holds_payoffs_of_the_row_agent(record: Builder) -> None:
    games = [record("a b", [4.0, -4.0], 1), record("b a", [1.0, -1.0], 1), record("a a", [2.0, -2.0], 1)]
    table = standings(games, ZERO_SUM, ["b", "a"])
    means = [[None if cell is None else cell.mean for cell in row] for row in table.matrix]
    assert means == [[None, -1.5], [1.5, 0.0]]
    assert [result.lineup for result in table.lineups] == [("a", "a"), ("a", "b")]
    assert table.agents[0].self_play is None


def test_matrix_of_a_cooperative_game_holds_the_score(record: Builder) -> None:
    games = [
        record("a b", [9.0, 9.0], 1, outcome=outcome(True, False, 9.0)),
        record("a a", [-2.0, -2.0], 1, outcome=outcome(False, False, 3.0)),
    ]
    table = standings(games, TOGETHER, ["a", "b"])
    means = [[None if cell is None else cell.mean for cell in row] for row in table.matrix]
    assert means == [[0.0, 9.0], [9.0, None]]
    first = table.agents[0]
    assert first.self_play is not None
    assert first.cross_play is not None
    assert (first.self_play.returns.mean, first.cross_play.returns.mean) == (-2.0, 9.0)


def test_standings_do_not_depend_on_the_order_of_the_games(record: Builder) -> None:
    rng = random.Random(3)
    games = [
        record(seats, [value, -value], deal)
        for deal in range(9)
        for seats in ("a b", "b a", "a c", "c a")
        for value in [rng.random()]
    ]
    shuffled = list(games)
    rng.shuffle(shuffled)
    assert standings(games, ZERO_SUM, ["a", "b", "c"]) == standings(shuffled, ZERO_SUM, ["a", "b", "c"])


def test_standings_of_no_games_are_empty() -> None:
    table = standings([], ZERO_SUM, ["a"])
    assert (table.games, table.lineups, table.matrix) == (0, (), ((None,),))
    assert table.agents[0].cross is None
    assert table.agents[0].seconds is None
