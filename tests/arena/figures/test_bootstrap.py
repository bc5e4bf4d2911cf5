import numpy as np
import pytest

from arena.figures import bootstrap
from arena.figures.bootstrap import Bootstrapped, interpolation, interquartile, interquartile_mean


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ([8, 1, 7, 2, 6, 3, 5, 4], 4.5),
        ([0, 2, 3, 7, 100], 4.0),
        ([1, 2, 9], 4.0),
        ([5], 5.0),
    ],
)
def test_interquartile_mean_leaves_out_a_quarter_at_each_end_rounded_down(values, mean):
    assert interquartile_mean(values) == pytest.approx(mean)


def test_interquartile_mean_takes_rows_apart():
    assert interquartile_mean([[4, 1, 2, 9], [0, 0, 1, 5]]).tolist() == [3.0, 0.5]


def test_interval_is_the_same_for_the_same_seed():
    strata = [[10.0, 12.0, 14.0, 18.0], [20.0, 21.0, 25.0, 22.0, 19.0]]
    found = interquartile(strata)
    assert found is not None
    assert found == interquartile(strata)
    assert found.value == pytest.approx(18.4)
    assert (found.low, found.high) == pytest.approx((16.6, 20.0))
    assert found.n == 9


def test_resamples_keep_every_stratum_at_its_size():
    # Nothing varies within a stratum, so no resample differs; drawn from all together they would.
    assert interquartile([[1.0] * 4, [5.0] * 4, []]) == Bootstrapped(3.0, 3.0, 3.0, 8)


def test_interval_covers_the_true_middle_about_as_often_as_it_says():
    rng = np.random.default_rng(5)
    found = [interquartile([rng.normal(3.0, 1.0, 30).tolist()], seed) for seed in range(120)]
    inside = sum(item is not None and item.low <= 3.0 <= item.high for item in found)
    assert 106 <= inside <= 119


def test_nothing_has_no_middle_and_one_value_no_interval():
    assert interquartile([[], []]) is None
    assert interquartile([[7.0]]) == Bootstrapped(7.0, None, None, 1)
    assert interquartile([[7.0], [8.0, 9.0]]) == Bootstrapped(8.0, None, None, 3)


def test_share_of_the_way_from_weak_to_strong_over_common_deals():
    weak, strong = {1: 2.0, 2: 4.0, 3: 3.0, 9: 50.0}, {1: 6.0, 2: 8.0, 3: 7.0}
    between = {1: 5.0, 2: 7.0, 3: 6.0, 8: 0.0}
    for mixed, share in ((between, 0.75), (weak, 0.0), (strong, 1.0)):
        found = interpolation(mixed, weak, strong)
        assert found is not None
        assert (found.value, found.low, found.high) == pytest.approx((share, share, share))
        assert found.n == 3


def test_share_has_an_interval_only_where_the_two_are_told_apart():
    weak, strong = {1: 0.0, 2: 1.0, 3: 0.0, 4: 1.0}, {1: 1.0, 2: 0.0, 3: 1.0, 4: 2.0}
    found = interpolation({1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}, weak, strong)
    assert found == Bootstrapped(1.0, None, None, 4)
    assert interpolation(weak, weak, weak) is None
    assert interpolation(weak, {7: 1.0}, strong) is None
    apart = interpolation({1: 3.0, 2: 6.0, 3: 4.0}, {1: 0.0, 2: 2.0, 3: 1.0}, {1: 9.0, 2: 7.0, 3: 12.0})
    assert apart is not None
    assert (apart.value, apart.low, apart.high) == pytest.approx((0.4, 3 / 11, 0.8))


def test_text_shows_what_there_is():
    assert bootstrap.text(Bootstrapped(1.0, 0.5, 2.0, 3)) == "1.00 [0.50, 2.00]"
    assert bootstrap.text(Bootstrapped(1.0, None, None, 1), 1) == "1.0"
    assert bootstrap.text(None) == "–"
