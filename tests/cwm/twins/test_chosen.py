"""Places drawn by weights: for a row of any length as by adding up its weights one after the other."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the extra `batched` is not installed")

from cwm.twins.play import MOST_DIRECT, chosen  # noqa: E402

UNIFORM = (0.0, 0.25, 0.5, 0.999, 1.0)


def drawn(row, uniform):
    return chosen(np.array([row] * len(uniform), np.float32), np.array(uniform, np.float32)).tolist()


@pytest.mark.parametrize("size", [5, MOST_DIRECT, 3 * MOST_DIRECT + 7])
def test_a_place_is_the_first_at_which_the_sum_is_above_the_uniform_share_of_the_whole(size):
    row = (np.random.default_rng(size).random(size) < 0.3).astype(np.float32)
    row[[1, 3]] = 1, 2
    sums = np.cumsum(row)
    bars = np.minimum(np.array(UNIFORM, np.float32), np.float32(1 - 1e-6)) * sums[-1]
    assert drawn(row, UNIFORM) == [int((sums > bar).argmax()) for bar in bars]


def test_no_place_of_weight_0_is_drawn_however_small_or_uneven_the_others_are():
    row = np.zeros(5 * MOST_DIRECT, np.float32)
    held = [MOST_DIRECT - 1, 2 * MOST_DIRECT + 3, 2 * MOST_DIRECT + 4, 4 * MOST_DIRECT]
    row[held] = 1e-7, 0.1, 0.7, 3e-7
    shares = np.linspace(0, 1, 501)
    found = set(drawn(row, shares))
    assert found <= set(held)
    assert {held[1], held[2]} <= found
