"""What a mixed and tempered policy says of an action, worked out by hand."""

import math

import pytest

from search.likelihood import log_forecast

POLICY = [0.5, 0.3, 0.2]


@pytest.mark.parametrize(
    ("temper", "mix", "expected"),
    [
        (1.0, 0.0, 0.3),
        (1.0, 0.3, 0.7 * 0.3 + 0.1),
        (2.0, 0.0, 0.09 / 0.38),
        (2.0, 1.0, 1 / 3),
        (0.0, 0.0, 1 / 3),
        (0.5, 0.0, math.sqrt(0.3) / (math.sqrt(0.5) + math.sqrt(0.3) + math.sqrt(0.2))),
    ],
)
def test_the_policy_is_mixed_then_tempered_then_divided_by_its_sum(temper: float, mix: float, expected: float) -> None:
    assert math.exp(log_forecast(POLICY, 1, temper, mix)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("temper", [0.0, 0.5, 1.0, 3.0])
def test_a_forecast_sums_to_one(temper: float) -> None:
    assert math.fsum(math.exp(log_forecast(POLICY, taken, temper, 0.05)) for taken in range(3)) == pytest.approx(1.0)


@pytest.mark.parametrize("temper", [0.0, 1.0, 2.0])
def test_what_cannot_have_happened_stays_so(temper: float) -> None:
    assert log_forecast([1.0, 0.0], 1, temper, 0.0) == -math.inf


def test_a_sure_policy_gains_less_by_a_temper_than_the_power_of_its_probability() -> None:
    gain = log_forecast([0.9, 0.05, 0.05], 0, 3.0, 0.0) - log_forecast([0.4, 0.3, 0.3], 0, 3.0, 0.0)
    assert gain == pytest.approx(math.log((0.729 / 0.72925) / (0.064 / 0.118)))
    assert gain < 3.0 * math.log(0.9 / 0.4)
