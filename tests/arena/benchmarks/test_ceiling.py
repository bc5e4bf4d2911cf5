"""The ceiling's records: the mean over deals, and the share of deals by fewest moves."""

import pytest

from arena.benchmarks import strength


def test_the_mean_is_that_of_the_shares_by_moves() -> None:
    mean, *shares = strength.ceiling(deals=400, seed=1)
    worth = [int(item.note.split()[-1]) for item in shares]
    assert mean.value == pytest.approx(
        sum((item.value or 0) * score for item, score in zip(shares, worth, strict=True))
    )
    assert sum(item.value or 0 for item in shares) == pytest.approx(1.0)
    assert mean.note.endswith("over 400 deals, seed 1; exhaustive")


def test_one_deal_has_no_error() -> None:
    mean, only = strength.ceiling(deals=1)
    assert only.value == 1.0
    assert "±" not in mean.note
