"""Figures of teams: scores by deal and lineup, what happened on the way, and shares of the way to a better partner."""

from pathlib import Path
from typing import Any

import pytest

from arena.comparison import team_figures
from arena.matches.lineups import shared
from arena.matches.match import Forfeit, GameRecord
from games import registry

TINY = "hanabi-tiny-2p"


def record(seats: tuple[str, ...], deal: int, points: int | None, bombed: bool = False) -> GameRecord:
    """Returns a game without moves that came to an end, or was forfeited."""
    outcome = {"points": points, "strict": 0 if bombed else points} if points is not None else None
    forfeit = Forfeit(0, "illegal", "") if points is None else None
    return GameRecord(
        TINY, deal, seats, (), (0.0, 0.0), (0.0, 0.0), outcome, forfeit, 0, ({}, {}), ({}, {}), None, ((), ())
    )


def figures(*records: GameRecord) -> Any:
    """Returns the figures of agents a, b and c."""
    return team_figures.figures(registry.make(TINY), records, ["a", "b", "c"])


def test_a_deal_counts_once_whatever_its_seatings_and_a_bomb_in_points_alone() -> None:
    found = figures(
        record(("a", "b"), 1, 2),
        record(("b", "a"), 1, 4, bombed=True),
        record(("a", "b"), 2, 5),
        record(("b", "a"), 2, 5),
    )
    (lineup,) = found.lineups
    assert (lineup.lineup, lineup.games, lineup.forfeits) == (("a", "b"), 4, 0)
    assert (lineup.scores["points"].mean.mean, lineup.scores["points"].mean.n) == (4.0, 2)
    assert lineup.scores["strict"].mean.mean == 3.0
    assert lineup.scores["points"].middle.n == 2
    assert found.self_play == {}
    assert found.gap == {}
    assert found.shares == ()


def test_a_forfeited_game_counts_nothing_in_strict_and_is_left_out_of_points() -> None:
    (lineup,) = figures(record(("a", "a"), 1, 4), record(("a", "a"), 2, None)).lineups
    assert lineup.forfeits == 1
    assert (lineup.scores["points"].mean.mean, lineup.scores["strict"].mean.mean) == (4.0, 2.0)


def test_gap_and_shares_are_taken_deal_by_deal() -> None:
    games = [
        record((one, two), deal, base + 2 * deal)
        for one, two, base in (("a", "a", 1), ("b", "b", 5), ("a", "b", 2))
        for deal in (1, 2, 3)
    ]
    found = figures(*games)
    assert [result.lineup for result in found.lineups] == [("a", "a"), ("b", "b"), ("a", "b")]
    assert (found.gap["points"].mean, found.gap["points"].standard_error) == (1.0, 0.0)
    (share,) = found.shares
    assert (share.weak, share.strong, share.seats) == ("a", "b", 1)
    assert (share.share["points"].low, share.share["points"].high) == pytest.approx((0.25, 0.25))


def test_a_game_without_figures_has_none() -> None:
    assert team_figures.figures(registry.make("yokai-9c-2p"), [], []) is None


def test_shared_tables_hold_so_many_seats_of_the_first() -> None:
    assert list(shared(2, 3, range(4))) == [(0, 0, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)]
    assert list(shared(3, 2, [1])) == [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize("share", ["4", "2..1", "x", "-1", "0..4"])
def test_seats_that_the_game_has_not_are_refused(refused: Any, share: str) -> None:
    told = refused("xp", "hanabi-3p", "--agent", "random", "--agent", "partner:simple", "--share", share)
    assert told.code == 2
    assert f"--share is '{share}': give how many seats" in told.err


def test_cross_play_tells_scores_course_and_shares(cwm: Any, tmp_path: Path) -> None:
    words = ("xp", TINY, "--agent", "partner:simple", "--agent", "partner:flawed", "--games", "4", "--workers", "1")
    found = cwm(*words, "--share", "1", "--json").json
    assert [item["lineup"] for item in found["teams"]["lineups"]][2] == ["partner:flawed", "partner:simple"]
    assert found["teams"]["gap"]["strict"]["mean"] == pytest.approx(found["gap"]["mean"])
    assert list(found["teams"]["lineups"][0]["course"])[:3] == ["turns", "lives left", "bombs"]
    assert found["teams"]["shares"][0]["strong"] == "partner:simple"
    page = tmp_path / "xp.html"
    shown = cwm(*words, "--html", page).out
    for part in ("Scores of teams", "IQM of points", "A game in the mean", "How far a mixed team is"):
        assert part in shown
        assert part in page.read_text(encoding="utf-8")
    refused = cwm(*words[:4], "--share", "1")
    assert "--share is of two agents at one table" in refused.err
