import math
from itertools import product

import numpy as np
import pytest

from arena.policy_play.method_figures import between_methods, method_figures
from arena.policy_play.played_lineups import FIELDS, Tally

SEEDS = tuple(f"s{number:02}" for number in range(12))


def tally(score: float, **others: float) -> Tally:
    values = dict.fromkeys(FIELDS, 0.0) | {"score": score} | others
    return Tally(**{name: np.full(4, value) for name, value in values.items()})


def matrix_of(own: dict[str, float], share: dict[str, float], level: float) -> dict[tuple[str, ...], Tally]:
    """Self-play by seed; cross-play of i and j is level + share_i + share_j."""
    return {(i, j): tally(own[i] if i == j else level + share[i] + share[j]) for i, j in product(own, repeat=2)}


# Means of self-play and cross-play as published for two-player Hanabi: SAD, with Other-Play, OBL of level 1.
@pytest.mark.parametrize(("alone", "mixed"), [(23.98, 2.53), (23.93, 15.28), (20.92, 20.90)])
def test_matrix_in_closed_form_has_its_self_play_cross_play_and_errors(alone: float, mixed: float) -> None:
    spread = np.linspace(-1, 1, 12)
    own = dict(zip(SEEDS, alone + spread, strict=True))
    share = dict(zip(SEEDS, 0.3 * spread**3, strict=True))
    (found,) = method_figures(matrix_of(own, share, mixed), {"sp": SEEDS})
    assert found.self_play is not None
    assert found.cross_play is not None
    assert found.gap is not None
    assert found.self_play.score.mean == pytest.approx(alone)
    assert found.self_play.score.standard_error == pytest.approx(np.std(spread, ddof=1) / math.sqrt(12))
    assert found.cross_play.score.mean == pytest.approx(mixed)
    # A sum of one share a player: its mean over pairs is twice the mean of the shares.
    assert found.cross_play.score.standard_error == pytest.approx(2 * np.std(0.3 * spread**3, ddof=1) / math.sqrt(12))
    assert found.gap.mean == pytest.approx(alone - mixed)
    assert found.gap.standard_error == pytest.approx(np.std(spread - 0.6 * spread**3, ddof=1) / math.sqrt(12))


def test_one_seed_has_no_cross_play_and_no_error() -> None:
    (found,) = method_figures({("a", "a"): tally(3.0)}, {"sp": ("a",)})
    assert found.self_play is not None
    assert found.self_play.score.mean == 3.0
    assert found.self_play.score.standard_error is None
    assert found.cross_play is found.gap is found.border_mixed is None


def test_two_seeds_have_cross_play_without_an_error() -> None:
    (found,) = method_figures(matrix_of({"a": 1.0, "b": 2.0}, {"a": 0.0, "b": 0.0}, 0.5), {"sp": ("a", "b")})
    assert found.cross_play is not None
    assert (found.cross_play.score.mean, found.cross_play.score.standard_error) == (0.5, None)


def test_calibration_is_taken_of_seatings_in_which_somebody_ended_early() -> None:
    played = {
        ("a", "a"): tally(0.0, early=1.0, success_early=0.5),
        ("b", "b"): tally(0.0),
        ("c", "c"): tally(0.0, early=0.5, success_early=0.5),
    }
    (found,) = method_figures(played, {"sp": ("a", "b", "c")})
    assert found.self_play is not None
    assert found.self_play.won_given_early is not None
    assert found.self_play.won_given_early.mean == 0.75
    assert found.self_play.early.mean == 0.5
    assert found.self_play.success_early.mean == pytest.approx(1 / 3)


def test_border_moves_are_a_share_of_moves() -> None:
    played = {("a", "a"): tally(0.0, moves=8.0, border=2.0), ("b", "b"): tally(0.0, moves=4.0, border=3.0)}
    (found,) = method_figures(played, {"sp": ("a", "b")})
    assert found.border_alone is not None
    assert found.border_alone.mean == 0.5


def test_methods_with_each_other_are_the_mean_over_their_pairs_in_both_seatings() -> None:
    methods = {"sp": ("a", "b"), "op": ("c", "d")}
    value = {"a": 1.0, "b": 2.0, "c": 10.0, "d": 40.0}
    played = {(i, j): tally(value[i] + 2 * value[j]) for i, j in product(value, repeat=2)}
    found = between_methods(played, methods)
    means = [[cell.mean for cell in row if cell is not None] for row in found]
    # Over both seatings every policy counts one and a half times.
    np.testing.assert_allclose(means, [[1.5 * 3, 1.5 * 26.5], [1.5 * 26.5, 1.5 * 50]])
    between = found[0][1]
    assert between is not None
    # The variances of both samples' means add up.
    assert between.standard_error == pytest.approx(1.5 * math.sqrt(0.5 / 2 + 450 / 2))
