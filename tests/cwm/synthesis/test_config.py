"""Settings: unknown ones refused when written, passed over when an old record is read."""

import pytest

from cwm.suite.selection import PromptOptions, select_for_prompt
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.synthesis.config import SynthesisConfig, SynthesisConfigError


def test_defaults_are_those_of_the_paper() -> None:
    config = SynthesisConfig()
    assert (config.heuristic_weight, config.num_retries) == (5.0, 500)
    assert (config.min_heuristic_value_on_init, config.min_heuristic_value_gain) == (0.01, 0.01)
    paper = PromptOptions(mode="paper", on_init=config.num_tests_on_init, on_error=config.num_tests_on_error)
    tests = [UnitTest(f"value-0-{number}", "value", {"number": number}, 0, number) for number in range(9)]
    failed = [UnitTestResult(test.id, "value", "fail", "value", 0, 1, "", "") for test in tests]
    assert (len(select_for_prompt(tests, None, paper)), len(select_for_prompt(tests, failed, paper))) == (5, 1)


def test_settings_survive_a_round_trip() -> None:
    config = SynthesisConfig(method="conversation", num_retries=7, temperature=0.5)
    assert SynthesisConfig.from_json(config.to_json()) == config


def test_unknown_setting_is_refused_when_written_and_passed_over_when_read() -> None:
    with pytest.raises(SynthesisConfigError, match=r"unknown settings \['num_retrys'\]; known are method,"):
        SynthesisConfig.from_json({"num_retrys": 3})
    assert SynthesisConfig.from_record({"num_retrys": 3, "seed": 4}) == SynthesisConfig(seed=4)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("method", "beam"),
        ("prompt_tests", "all"),
        ("programs_per_answer", 0),
        ("num_retries", -1),
        ("num_tests_on_init", 0),
        ("max_truncated_retries", 3),
        ("truncated_growth", 1.0),
        ("test_seconds", 0.0),
    ],
)
def test_setting_out_of_range_is_refused(setting: str, value: object) -> None:
    with pytest.raises(SynthesisConfigError, match=setting):
        SynthesisConfig.from_json({setting: value})
