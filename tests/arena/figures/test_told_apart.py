"""When a tournament stops, whom it keeps, and how often noise alone makes it keep another than the simplest."""

import random
from collections.abc import Callable

import pytest

from arena.figures.told_apart import BLOCK, Look, ahead, look, paired_difference

Scores = list[list[float]]
"""[entrants][deals]."""


def test_difference_is_paired_by_deals() -> None:
    """Both swing by 10 from deal to deal, and the one is 1 above the other on each."""
    gained = paired_difference([1.0, 11.0, 1.0, 11.0], [0.0, 10.0, 0.0, 10.0])
    assert gained is not None
    assert (gained.mean, gained.standard_error, gained.n) == (1.0, 0.0, 4)
    assert ahead([1.0, 11.0, 1.0, 11.0], [0.0, 10.0, 0.0, 10.0])


@pytest.mark.parametrize(
    ("own", "is_ahead"),
    [
        # Mean 1, standard error sqrt(1/3 * 4 / 4) = 0.577: ahead by 1.73 errors.
        ([0.0, 2.0, 0.0, 2.0], False),
        # Mean 0.75, standard error sqrt(0.75 / 3 / 4) = 0.25: by 3.
        ([1.0, 1.0, 1.0, 0.0], True),
        ([0.0, 0.0, 0.0, 0.0], False),
        ([-1.0, -1.0, -1.0, -1.0], False),
        ([5.0], False),
        ([], False),
    ],
)
def test_ahead_by_twice_the_standard_error(own: list[float], is_ahead: bool) -> None:
    assert ahead(own, [0.0] * len(own)) is is_ahead


def test_exactly_twice_the_standard_error_is_enough() -> None:
    # Mean 2; squared deviations 9 + 9 + 1 + 1 + 0, so the standard error is sqrt(20 / 4 / 5) = 1.
    assert ahead([5.0, -1.0, 3.0, 1.0, 2.0], [0.0] * 5)
    assert not ahead([5.0, -1.0, 3.0, 1.0, 1.99], [0.0] * 5)


@pytest.mark.parametrize(
    ("scores", "found", "kept"),
    [
        ([[0.0] * 4, [1.0, 1.0, 1.0, 1.0]], Look(1, ()), 1),
        ([[0.0] * 4, [0.0] * 4], Look(0, (1,)), 0),
        ([[0.0] * 4, [0.0, 2.0, 0.0, 2.0]], Look(1, (0,)), 0),
        # Both candidates are better than none, and not told apart: the first of them.
        ([[0.0] * 4, [5.0, 6.0, 5.0, 6.0], [6.0, 5.0, 6.0, 6.0]], Look(2, (1,)), 1),
        ([[5.0] * 4, [1.0] * 4, [0.0] * 4], Look(0, ()), 0),
        ([[1.0] * 4, [0.0] * 4, [0.0, 2.0, 0.0, 1.0]], Look(0, (2,)), 0),
    ],
    ids=["clear", "equal", "noise", "two alike", "simplest leads", "simplest leads by little"],
)
def test_simplest_of_those_that_may_be_as_good_is_kept(scores: Scores, found: Look, kept: int) -> None:
    assert look(scores) == found
    assert look(scores).kept == kept


def normal(entrants: int, chance: random.Random) -> list[float]:
    return [chance.gauss(0, 1) for _ in range(entrants)]


def coins(entrants: int, chance: random.Random) -> list[float]:
    """A round robin of two games a pairing, each won or lost by the toss of a coin."""
    total = [0.0] * entrants
    for one in range(entrants):
        for two in range(one + 1, entrants):
            paid = (chance.choice((-1, 1)) + chance.choice((-1, 1))) / 2
            total[one] += paid
            total[two] -= paid
    return [score / (entrants - 1) for score in total]


def wrong(
    draw: Callable[[int, random.Random], list[float]], entrants: int, looks: int, block: int, tournaments: int
) -> float:
    """Returns how often another than the simplest of equal entrants is kept."""
    chance = random.Random(0)
    kept = 0
    for _ in range(tournaments):
        scores: Scores = [[] for _ in range(entrants)]
        for _ in range(looks):
            for _ in range(block):
                for own, score in zip(scores, draw(entrants, chance), strict=True):
                    own.append(score)
            found = look(scores)
            if not found.level:
                break
        kept += found.kept != 0
    return kept / tournaments


@pytest.mark.parametrize("draw", [normal, coins])
@pytest.mark.parametrize("entrants", [2, 4])
def test_equal_entrants_seldom_lose_the_simplest_whatever_the_looks(
    draw: Callable[[int, random.Random], list[float]], entrants: int
) -> None:
    """The docstring of `told_apart` tells 0.14 and 0.10; the standard error of 200 tournaments is 0.025."""
    assert wrong(draw, entrants, 10, BLOCK, 200) <= 0.2


@pytest.mark.slow
@pytest.mark.parametrize("draw", [normal, coins])
@pytest.mark.parametrize(
    ("entrants", "rates"), [(2, (0.14, 0.03, 0.05)), (3, (0.12, 0.05, 0.11)), (4, (0.1, 0.06, 0.15))]
)
def test_rates_of_errors_are_those_that_are_told(
    draw: Callable[[int, random.Random], list[float]], entrants: int, rates: tuple[float, float, float]
) -> None:
    measured = [wrong(draw, entrants, looks, block, 2000) for looks, block in ((10, BLOCK), (1, 40), (1, 4))]
    assert measured == pytest.approx(rates, abs=0.03)
