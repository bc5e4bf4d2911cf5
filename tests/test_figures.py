"""The table of figures at the end of a session."""

import importlib.util
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("figures_plugin", Path(__file__).with_name("conftest.py"))
PLUGIN = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(PLUGIN)


def test_figures_are_listed_by_title_and_cases_are_counted_together():
    recorded = [
        ("tally", ["corpus", 0, -2.0]),
        ("figures", ["kills", {"lost": "0"}]),
        ("tally", ["corpus", 2, 0.25]),
        ("other", "of someone else"),
    ]
    assert PLUGIN.table_of(recorded) == {
        "kills": {"lost": "0"},
        "corpus": {"cases": "2", "breaches": "2", "latest after its limit, seconds": "0.25"},
    }


def test_numbers_are_shown_with_separators():
    assert [PLUGIN.shown(value) for value in (1234567, 0.5, "two")] == ["1,234,567", "0.50", "two"]
