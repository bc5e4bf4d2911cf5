import math

import pytest
from scipy import stats

from arena.intervals import mean_estimate, rate_estimate, ratio_estimate, t_quantile, wilson


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 9, 10, 29, 30, 99, 200, 201, 1000, 100_000])
def test_t_quantile_equals_the_reference(degrees: int) -> None:
    assert t_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), abs=1e-6)


def test_t_quantile_needs_a_degree_of_freedom() -> None:
    with pytest.raises(ValueError, match="not 0"):
        t_quantile(0)


def test_no_values_have_no_mean() -> None:
    assert mean_estimate([]) is None
    assert rate_estimate([]) is None
    assert ratio_estimate([]) is None


def test_one_value_has_a_mean_and_no_interval() -> None:
    found = mean_estimate([3.0])
    assert found is not None
    assert (found.mean, found.standard_error, found.low, found.high, found.n) == (3.0, None, None, None, 1)


def test_mean_of_four_values_worked_by_hand() -> None:
    # Deviations -3, -1, 1, 3: sum of squares 20, variance 20/3, standard error sqrt(20/12); t(3) = 3.182446.
    found = mean_estimate([1.0, 3.0, 5.0, 7.0])
    assert found is not None
    assert found.mean == 4.0
    assert found.standard_error == pytest.approx(math.sqrt(20 / 12))
    assert found.high == pytest.approx(4.0 + 3.182446 * math.sqrt(20 / 12), abs=1e-5)
    assert found.low == pytest.approx(8.0 - found.high)


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (0, 10), (5, 10), (10, 10), (3, 200), (199, 200)])
def test_wilson_equals_the_reference(successes: int, n: int) -> None:
    reference = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert wilson(successes, n) == pytest.approx((reference.low, reference.high))


def test_wilson_refuses_more_successes_than_trials() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


def test_rate_of_certain_wins_keeps_an_interval() -> None:
    found = rate_estimate([1.0] * 10)
    assert found is not None
    assert found.mean == 1.0
    assert found.low == pytest.approx(0.7224672)
    assert found.high == 1.0


def test_ratio_is_null_when_its_whole_never_occurs() -> None:
    assert ratio_estimate([(0, 0), (0, 0)]) is None


def test_ratio_weighs_units_by_their_whole() -> None:
    # 3 of 4: residuals 1 - 0.75, 2 - 2.25 and 0; error = sqrt(3/2 * (0.0625 + 0.0625)) / 4.
    found = ratio_estimate([(1, 1), (2, 3), (0, 0)])
    assert found is not None
    assert found.mean == 0.75
    assert found.standard_error == pytest.approx(math.sqrt(1.5 * 0.125) / 4)
    assert found.n == 4
