from statistics import stdev

import pytest

from arena.agents.specs import parse
from arena.matches import cross_play
from arena.matches.cross_play import CrossPlayConfig
from arena.matches.plan import TournamentError

HEURISTIC, QUITTER, LIAR = "partner:heuristic,name=h", "partner:end-at-once,name=q", "partner:hint-liar,name=l"


def config(*texts, game="yokai-9c-2p", games=4, seed=3):
    return CrossPlayConfig(game, tuple(parse(text) for text in texts), games, seed)


def test_every_pair_of_a_game_for_two_meets_in_both_seats_on_the_deals_of_self_play():
    found = cross_play.run(config(HEURISTIC, QUITTER), None)
    seats = sorted(record.seats for record in found.records)
    assert seats == [("h", "h")] * 4 + [("h", "q")] * 2 + [("q", "h")] * 2 + [("q", "q")] * 4
    deals = {lineup: {r.deal_seed for r in found.records if r.seats == lineup} for lineup in set(seats)}
    assert deals["h", "q"] == deals["q", "h"]
    assert deals["h", "q"] < deals["h", "h"] == deals["q", "q"]


def test_figures_of_a_lineup_that_is_known_in_closed_form():
    found = cross_play.run(config(QUITTER, games=6), None)
    assert found.self_play is not None
    assert found.self_play.length.mean == 1
    assert found.self_play.early.mean == 1
    assert found.cross_play is None
    assert found.gap is None


def test_the_gap_is_taken_deal_by_deal():
    found = cross_play.run(config(HEURISTIC, QUITTER, games=8), None)
    scores = {}
    for record in found.records:
        won = record.outcome["won"]
        key = (len(set(record.seats)) == 1, record.deal_seed, tuple(sorted(record.seats)))
        scores.setdefault(key, []).append(record.outcome["score"] if won else 0.0)
    mean = {key: sum(values) / len(values) for key, values in scores.items()}
    deals = sorted({key[1] for key in mean if not key[0]})
    own = {deal: (mean[True, deal, ("h", "h")] + mean[True, deal, ("q", "q")]) / 2 for deal in deals}
    gaps = [own[deal] - mean[False, deal, ("h", "q")] for deal in deals]
    assert found.gap.n == len(deals) == 4
    assert found.gap.mean == pytest.approx(sum(gaps) / len(gaps))
    assert found.gap.standard_error == pytest.approx(stdev(gaps) / len(gaps) ** 0.5)


def test_a_run_goes_on_where_it_was(tmp_path):
    first = cross_play.run(config(HEURISTIC, QUITTER), tmp_path)
    again = cross_play.run(config(HEURISTIC, QUITTER), tmp_path)
    assert first.played == 12
    assert again.played == 0
    assert [r.actions for r in again.records] == [r.actions for r in first.records]


def test_three_seats_have_mixed_lineups_in_all_seatings():
    lineups = config(HEURISTIC, QUITTER, game="yokai-9c-3p").lineups()
    assert lineups == [(0, 0, 0), (1, 1, 1), (0, 0, 1), (0, 1, 1)]
    found = cross_play.run(config(HEURISTIC, QUITTER, game="yokai-9c-3p", games=3), None)
    assert {r.seats for r in found.records if sorted(r.seats) == ["h", "q", "q"]} == {
        ("h", "q", "q"),
        ("q", "h", "q"),
        ("q", "q", "h"),
    }


def test_of_very_many_lineups_some_are_drawn_by_the_seed():
    agents = [f"partner:heuristic,name=a{number}" for number in range(6)]
    four = config(*agents, game="yokai-9c-4p")
    assert len(four.lineups()) == 6 + cross_play.MOST_LINEUPS
    assert four.lineups() == config(*agents, game="yokai-9c-4p").lineups()
    assert four.lineups() != config(*agents, game="yokai-9c-4p", seed=4).lineups()


def test_of_two_seats_every_pair_is_played_however_many_agents_there_are():
    lineups = config(*(f"partner:heuristic,name=a{number}" for number in range(12))).lineups()
    assert len(lineups) == len(set(lineups)) == 12 + 12 * 11 // 2


def test_no_games_are_refused():
    with pytest.raises(TournamentError, match="at least one game a lineup, not 0"):
        cross_play.run(config(HEURISTIC, games=0), None)


def test_agents_are_the_units_of_an_error_that_holds_for_others_like_them():
    found = cross_play.run(config(HEURISTIC, QUITTER, LIAR, games=8, seed=5), None)
    pair = {result.lineup: result.cooperation.score.mean for result in found.lineups(alone=False)}
    assert set(pair) == {("h", "l"), ("h", "q"), ("l", "q")}
    over = cross_play.over_agents(found)
    assert (over.n, over.mean) == (3, pytest.approx(sum(pair.values()) / 3))
    # Without one of three agents a single pair is left: the jackknife's error is twice that over lineups.
    assert len(set(pair.values())) > 1
    assert over.standard_error == pytest.approx(2 * found.over_lineups.standard_error)
    assert cross_play.over_agents(cross_play.run(config(HEURISTIC, QUITTER), None)) is None


def test_the_error_for_other_agents_on_other_deals_holds_both_sources():
    found = cross_play.run(config(HEURISTIC, QUITTER, LIAR, games=8, seed=5), None)
    over, gap = cross_play.for_others_like_them(found)
    squares = found.cross_play.score.standard_error**2 + cross_play.over_agents(found).standard_error ** 2
    assert (over.mean, over.n) == (found.cross_play.score.mean, 4)
    assert over.standard_error == pytest.approx(squares**0.5)
    assert gap.mean == found.gap.mean
    assert gap.standard_error > found.gap.standard_error
    assert cross_play.for_others_like_them(cross_play.run(config(HEURISTIC, QUITTER), None)) == (None, None)


def test_the_gap_over_agents_leaves_out_one_agent_with_all_its_lineups():
    found = cross_play.run(config(HEURISTIC, QUITTER, LIAR, games=8, seed=5), None)
    score = {result.lineup: result.cooperation.score.mean for result in found.table.lineups}
    own = {name: score[name, name] for name in "hlq"}
    left = [
        (own["l"] + own["q"]) / 2 - score["l", "q"],
        (own["h"] + own["q"]) / 2 - score["h", "q"],
        (own["h"] + own["l"]) / 2 - score["h", "l"],
    ]
    centre = sum(left) / 3
    expected = (2 / 3 * sum((value - centre) ** 2 for value in left)) ** 0.5
    assert cross_play.gap_over_agents(found).standard_error == pytest.approx(expected)
