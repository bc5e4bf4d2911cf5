import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.resampling import effective_size, systematic


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30), st.integers(1, 200), st.integers())
def test_each_gets_its_share_rounded_up_or_down(weights: list[float], count: int, seed: int) -> None:
    total = sum(weights)
    shares = [weight / total for weight in weights] if total > 0.0 else [1.0 / len(weights)] * len(weights)
    drawn = systematic(shares, count, random.Random(seed))
    assert sum(drawn) == count
    assert all(abs(own - count * share) < 1.0 + 1e-6 for own, share in zip(drawn, shares, strict=True))


def test_what_weighs_nothing_is_not_drawn() -> None:
    for seed in range(50):
        drawn = systematic([0.0, 0.5, 0.0, 0.5, 0.0], 7, random.Random(seed))
        assert (drawn[0], drawn[2], drawn[4]) == (0, 0, 0)


def test_rounding_follows_the_shares() -> None:
    drawn = [systematic([0.1, 0.9], 1, random.Random(seed))[0] for seed in range(4000)]
    assert sum(drawn) / 4000 == pytest.approx(0.1, abs=0.015)


def test_effective_size_counts_copies_as_draws_of_their_own() -> None:
    assert effective_size([0.25] * 4, [1] * 4) == pytest.approx(4.0)
    assert effective_size([1.0], [12]) == pytest.approx(12.0)
    assert effective_size([0.5, 0.5], [9, 1]) == pytest.approx(1 / (0.25 / 9 + 0.25))
    assert effective_size([1.0, 0.0], [1, 5]) == pytest.approx(1.0)
    assert effective_size([], []) == 0.0
