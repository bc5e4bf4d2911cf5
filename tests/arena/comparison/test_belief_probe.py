from itertools import permutations

import pytest

from arena.comparison import belief_probe
from arena.comparison.belief_probe import Probe, calibration, over_time, truth, truth_of_parts
from games import registry

STATE = {"public": 1, "cards": ["a", "b", "c"], "more": {"x": None}}


def guess(*cards):
    return {"public": 1, "cards": list(cards), "more": {"x": None}}


def test_truth_is_the_mean_over_what_the_belief_leaves_open():
    found = truth(STATE, [guess("a", "b", "c"), guess("a", "c", "b")], [0.75, 0.25])
    assert found == pytest.approx(0.75)
    found = truth(STATE, [guess("a", "b", "c"), guess("a", "c", "b"), guess("a", "c", "c")], [0.5, 0.3, 0.2])
    assert found == pytest.approx((0.5 + 0.7) / 2)


def test_a_belief_that_is_certain_and_wrong_gives_the_truth_nothing():
    assert truth(STATE, [guess("b", "a", "c")], [1.0]) == 0.0


def test_in_yokai_cards_count_and_the_colours_of_hints_do_not():
    game = registry.make("yokai-9c-2p")
    state = game.initial_state()
    for action in ("blue", "green", "green", "red", "red", "blue", "blue", "red", "green"):
        state = game.apply_action(state, f"deal {action}")
    deals = [list(colours) for colours in sorted(set(permutations(state["colours"])))]
    assert len(deals) == 1680
    guesses = [{**state, "colours": colours, "hints": f"anything but the true ones, {colours}"} for colours in deals]
    weights = [1 / 1680] * 1680
    assert truth_of_parts(game, state, guesses, weights) == pytest.approx(1 / 3, abs=1e-12)
    assert truth(state, guesses, weights) != pytest.approx(1 / 3, abs=0.01)
    assert truth_of_parts(game, state, [{}], [1.0]) is None


def test_nothing_open_has_no_truth():
    assert truth(STATE, [guess("a", "b", "c")], [1.0]) is None


def decision(win, won, ended=False, alone=True, number=0, share=None):
    return Probe("agent", alone, 1, number, share, win, won, ended, 1.0)


def test_calibration_sorts_decisions_by_belief():
    probes = [decision(0.05, False), decision(0.95, True), decision(0.91, False, ended=True), decision(1.0, True)]
    low, high = calibration(probes)
    assert (low.low, low.count, low.believed, low.real.mean) == (0.0, 1, 0.05, 0.0)
    assert (high.low, high.count) == (0.9, 3)
    assert high.believed == pytest.approx((0.95 + 0.91 + 1.0) / 3)
    assert high.real.mean == pytest.approx(2 / 3)
    (ended,) = calibration(probes, ended=True)
    assert (ended.count, ended.real.mean) == (1, 0.0)


def test_truth_over_time_keeps_self_play_and_cross_play_apart():
    probes = [
        decision(None, None, number=4, share=0.2),
        decision(None, None, number=4, share=0.4),
        decision(None, None, number=4, share=0.9, alone=False),
        decision(None, None, number=8),
    ]
    assert {number: value.mean for number, value in over_time(probes, True).items()} == {4: pytest.approx(0.3)}
    assert {number: value.mean for number, value in over_time(probes, False).items()} == {4: 0.9}
    assert belief_probe.to_json(probes)[0]["truth"] == 0.2


def on(deal, win, won):
    return Probe("agent", True, deal, 0, None, win, won, False, 1.0)


def test_decisions_on_one_deal_count_as_one_unit():
    (found,) = calibration([on(1, 0.14, True), on(1, 0.14, True), on(1, 0.14, True), on(2, 0.14, False)])
    assert (found.count, found.real.n, found.real.mean) == (4, 2, 0.75)
    assert found.real.standard_error > 0.25


def test_calibration_error_is_the_mean_gap_of_the_bins_by_decision():
    probes = [on(1, 0.1, False), on(1, 0.1, True), on(2, 0.9, True), on(3, None, None)]
    found = belief_probe.calibration_error(probes)
    assert found.mean == pytest.approx((2 * 0.4 + 0.1) / 3)
    assert found.n == 2
    left = ((0.1) / 1, (2 * 0.4) / 2)
    assert found.standard_error == pytest.approx(abs(left[0] - left[1]) / 2)
    assert belief_probe.calibration_error([on(3, None, None)]) is None


def test_beliefs_are_read_on_deals_that_differ_from_lineup_to_lineup(record):
    records = [record(seats, [0.0, 0.0], deal) for deal in (5, 6, 7, 8) for seats in ("a b", "b a", "a c", "c a")]
    chosen = belief_probe.spread(records, 2)
    assert [(item.deal_seed, set(item.seats)) for item in chosen] == [
        (5, {"a", "b"}),
        (6, {"a", "b"}),
        (7, {"a", "c"}),
        (8, {"a", "c"}),
    ]
    assert [item.seats[0] for item in chosen] == ["a", "b", "a", "c"]


def test_more_beliefs_than_deals_take_every_game_once(record):
    records = [record(seats, [0.0, 0.0], deal) for deal in (5, 6, 7) for seats in ("a b", "b a")]
    for games in (6, 9):
        found = belief_probe.spread(records, games)
        assert sorted((item.deal_seed, item.seats) for item in found) == sorted(
            (item.deal_seed, item.seats) for item in records
        )
