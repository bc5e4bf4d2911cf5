"""The three readings of chance: drawn, gone through, written down and played again."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.posg.api import Choose, PosgError
from games.posg.chance import drawing, enumerating, recording, replaying, uniform_over


def two_coins_and_perhaps_a_die(choose: Choose) -> str:
    """Heads twice rolls a die of three sides."""
    first = choose("first coin", [("heads", 0.25), ("tails", 0.75)])
    second = choose("second coin", uniform_over(["heads", "tails"]))
    if first == second == "heads":
        return f"die {choose('die', uniform_over([1, 2, 3]))}"
    return f"{first} {second}"


def test_every_way_is_gone_through_once_with_its_probability() -> None:
    ways = [(result, branch.probability) for branch, result in enumerating(two_coins_and_perhaps_a_die)]
    assert ways == [
        ("die 1", pytest.approx(1 / 24)),
        ("die 2", pytest.approx(1 / 24)),
        ("die 3", pytest.approx(1 / 24)),
        ("heads tails", 0.125),
        ("tails heads", 0.375),
        ("tails tails", 0.375),
    ]


def test_rules_without_chance_have_one_way() -> None:
    assert [(branch, result) for branch, result in enumerating(lambda _: "same")] == [((1.0, {}), "same")]


def test_draws_are_as_frequent_as_they_are_probable() -> None:
    choose = drawing(random.Random(7))
    seen = Counter(two_coins_and_perhaps_a_die(choose) for _ in range(20_000))
    for branch, result in enumerating(two_coins_and_perhaps_a_die):
        error = (branch.probability * (1 - branch.probability) / 20_000) ** 0.5
        assert abs(seen[result] / 20_000 - branch.probability) < 4 * error


@given(st.randoms(use_true_random=False))
def test_a_log_repeats_what_was_drawn(rng: random.Random) -> None:
    log: dict[str, object] = {}
    result = two_coins_and_perhaps_a_die(recording(drawing(rng), log))
    assert two_coins_and_perhaps_a_die(replaying(log)) == result


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ([], "the draw 'coin' offers no outcome."),
        ([(0, 0.5), (1, 0.4)], "the probabilities of the draw 'coin' sum to 0.9, not to 1: 0 (0.5), 1 (0.4)."),
        ([(0, 1.0), (1, 0.0)], "the draw 'coin' offers an outcome of probability 0 or less: 0 (1), 1 (0)."),
    ],
)
def test_a_draw_that_breaks_the_rules_is_refused(outcomes: list[tuple[int, float]], said: str) -> None:
    with pytest.raises(PosgError) as error:
        list(enumerating(lambda choose: choose("coin", outcomes)))
    assert str(error.value) == said


def test_a_label_is_drawn_once_a_step() -> None:
    def rules(choose: Choose) -> None:
        choose("coin", [(0, 1.0)])
        choose("coin", [(0, 1.0)])

    with pytest.raises(PosgError, match="the label 'coin' is drawn twice in one step"):
        rules(recording(drawing(random.Random(0)), {}))


def test_a_log_that_does_not_fit_says_what_is_missing() -> None:
    with pytest.raises(PosgError, match="nothing is recorded for the draw 'second coin'; recorded are 'first coin'"):
        two_coins_and_perhaps_a_die(replaying({"first coin": "tails"}))
    with pytest.raises(PosgError, match=r"the draw 'first coin' cannot give 'edge', which is recorded; it offers"):
        two_coins_and_perhaps_a_die(replaying({"first coin": "edge"}))


def test_too_many_ways_are_refused() -> None:
    with pytest.raises(PosgError, match="more than 3 ways"):
        list(enumerating(two_coins_and_perhaps_a_die, limit=3))
