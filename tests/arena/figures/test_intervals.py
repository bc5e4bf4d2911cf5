import importlib
import math
import random
from collections.abc import Hashable
from dataclasses import astuple
from itertools import combinations
from statistics import fmean
from typing import Any

import pytest

from arena.figures.intervals import (
    Estimate,
    clustered_mean,
    clustered_rate,
    crossed_estimate,
    jackknife_estimate,
    mean_estimate,
    rate_estimate,
    ratio_estimate,
    t_quantile,
    wilson,
)


@pytest.fixture(scope="module")
def stats() -> Any:
    """SciPy's distributions; no process but the one that runs these tests waits until they are loaded."""
    return importlib.import_module("scipy.stats")


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 9, 10, 29, 30, 99, 200, 201, 1000, 100_000])
def test_t_quantile_equals_the_reference(stats: Any, degrees: int) -> None:
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
def test_wilson_equals_the_reference(stats: Any, successes: int, n: int) -> None:
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
    assert found.n == 2


def test_a_ratio_over_deals_is_no_surer_than_its_deals_however_many_games_each_has() -> None:
    # Twenty games on each of twenty deals, one deal lost: Wilson's interval of 400 games would be [0.924, 0.967], that
    # of the rate over deals is [0.764, 0.991].
    found = ratio_estimate([(20, 20)] * 19 + [(0, 20)])
    assert found is not None
    assert (found.mean, found.n) == (0.95, 20)
    assert found.standard_error == pytest.approx(0.05)
    # Effective size 0.95 * 0.05 / 0.05^2 = 19, times (1.959964 / 2.093024)^2.
    assert (found.low, found.high) == pytest.approx(wilson(0.95 * 16.661008, 16.661008), abs=1e-7)
    assert (found.low, found.high) == pytest.approx((0.7391595, 0.9922114))
    as_groups = clustered_rate([[1.0] * 20] * 19 + [[0.0] * 20])
    assert as_groups is not None
    assert (found.low, found.high) == pytest.approx((as_groups.low, as_groups.high))


def test_a_ratio_that_all_deals_share_is_as_sure_as_their_number() -> None:
    found, rate = ratio_estimate([(20, 20)] * 20 + [(0, 0)]), rate_estimate([1.0] * 20)
    assert found is not None
    assert rate is not None
    assert (found.low, found.high, found.n) == (rate.low, rate.high, 20)


def test_a_ratio_with_one_game_a_deal_has_the_interval_of_those_games() -> None:
    found = ratio_estimate([(1, 1)] * 30 + [(0, 1)] * 10 + [(0, 0)] * 5)
    assert found is not None
    assert (found.low, found.high, found.n) == (*wilson(30, 40), 40)


@pytest.mark.parametrize(
    ("pairs", "mean", "n"),
    [([(1.25, 1.25), (1.0, 1.0)], 1.0, 2), ([(0.2, 0.2), (0.0, 0.1)], 2 / 3, 2), ([(5 + 1e-15, 5 + 1e-15)], 1.0, 1)],
)
def test_ratio_of_means_over_games_has_an_interval(pairs: list[tuple[float, float]], mean: float, n: int) -> None:
    found = ratio_estimate(pairs)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.mean == pytest.approx(mean)
    assert found.n == n
    assert 0 <= found.low <= found.mean <= found.high <= 1


def test_leaving_out_one_unit_at_a_time_gives_a_mean_its_usual_error() -> None:
    values = {"a": 1.0, "b": 4.0, "c": 7.0, "d": -2.0}

    def mean(left_out: Hashable | None) -> float:
        return fmean(value for name, value in values.items() if name != left_out)

    ours, usual = jackknife_estimate(mean, [list(values)]), mean_estimate(list(values.values()))
    assert ours is not None
    assert usual is not None
    assert astuple(ours) == pytest.approx(astuple(usual))


def test_pairs_that_share_units_have_twice_the_error_of_the_units_means() -> None:
    values = [1.0, 4.0, 7.0, -2.0, 3.0]

    def mean_of_pairs(left_out: Hashable | None) -> float:
        kept = [value for place, value in enumerate(values) if place != left_out]
        return fmean(one + other for one, other in combinations(kept, 2))

    found, plain = jackknife_estimate(mean_of_pairs, [range(5)]), mean_estimate(values)
    assert found is not None
    assert plain is not None
    assert plain.standard_error is not None
    assert found.mean == pytest.approx(2 * plain.mean)
    assert found.standard_error == pytest.approx(2 * plain.standard_error)


def test_a_group_of_one_unit_has_no_error_to_leave_it_out() -> None:
    found = jackknife_estimate(lambda left_out: 1.0, [["a", "b"], ["c"]])
    assert found is not None
    assert (found.mean, found.standard_error, found.n) == (1.0, None, 3)
    assert jackknife_estimate(lambda left_out: None, [["a"]]) is None


def test_one_group_has_the_interval_of_independent_values() -> None:
    values = [1.0, 0.0, 0.0, 1.0, 1.0]
    assert clustered_mean([values]) == clustered_mean([values, []]) == mean_estimate(values)
    assert clustered_rate([values]) == clustered_rate([[], values]) == rate_estimate(values)
    assert clustered_mean([]) is clustered_rate([[], []]) is None


def test_groups_that_differ_widen_the_interval_of_their_mean(stats: Any) -> None:
    groups = [[1.0] * 10, [0.0] * 10, [0.0] * 10]
    found = clustered_mean(groups)
    assert found is not None
    # Groups of one size: the usual error of the three means 1, 0, 0, which is 1/3.
    assert (found.mean, found.n) == (pytest.approx(1 / 3), 30)
    assert found.standard_error == pytest.approx(1 / 3)
    assert found.high == pytest.approx(1 / 3 + stats.t.ppf(0.975, 2) / 3)


def test_groups_that_differ_count_as_fewer_matches_in_a_rate(stats: Any) -> None:
    groups = [[1.0] * 7 + [0.0] * 3, [1.0] * 3 + [0.0] * 7, [1.0] * 5 + [0.0] * 5, [1.0] * 5 + [0.0] * 5]
    found = clustered_rate(groups)
    assert found is not None
    # The means 0.7, 0.3, 0.5, 0.5 have the error sqrt(0.08 / 3 / 4); a quarter over its square are 37.5 values.
    alike = 37.5 * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 3)) ** 2
    assert (found.low, found.high) == pytest.approx(wilson(0.5 * alike, alike), abs=1e-9)
    assert found.standard_error == pytest.approx(math.sqrt(0.08 / 12))


def test_groups_that_are_one_like_another_never_narrow_an_interval() -> None:
    groups = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    values = [value for group in groups for value in group]
    assert clustered_mean(groups) == mean_estimate(values)
    assert clustered_rate(groups) == rate_estimate(values)
    certain = clustered_rate([[1.0] * 5] * 3)
    assert certain is not None
    assert (certain.low, certain.high) == wilson(15, 15)


def test_matches_of_alike_syntheses_are_covered_as_promised() -> None:
    generator = random.Random(1)
    covered = 0
    for _ in range(400):
        chances = [min(1.0, max(0.0, generator.gauss(0.5, 0.15))) for _ in range(5)]
        groups = [[float(generator.random() < chance) for _ in range(40)] for chance in chances]
        found = clustered_rate(groups)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.5 <= found.high
    # Pooled, Wilson's interval would cover about 65 in a hundred.
    assert covered >= 0.93 * 400


def test_errors_of_several_sources_add_by_their_squares() -> None:
    deals, agents = Estimate(8.4, 0.3, None, None, 21), Estimate(8.4, 0.4, None, None, 5)
    found = crossed_estimate([deals, agents])
    assert found is not None
    assert (found.mean, found.standard_error, found.n) == (8.4, pytest.approx(0.5), 21)
    # Satterthwaite: 0.5⁴ / (0.3⁴ / 20 + 0.4⁴ / 4) = 9.18 degrees of freedom.
    assert found.high == pytest.approx(8.4 + t_quantile(9) * 0.5)
    assert crossed_estimate([deals, None]) is None
    assert crossed_estimate([deals, Estimate(8.4, None, None, None, 1)]) is None
    sure = crossed_estimate([Estimate(1.0, 0.0, 1.0, 1.0, 4)])
    assert sure is not None
    assert (sure.low, sure.high) == (1.0, 1.0)
