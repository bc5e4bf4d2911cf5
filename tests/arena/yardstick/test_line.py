"""The line of a language model: exact figures, and lines of others that are read."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.figures.intervals import t_quantile, wilson
from arena.usage import UsageError
from arena.yardstick.line import Attempt, GameResult, Totals, YardstickLine, read_lines

RIGHT = Attempt(0, "exact", "", 1.0, None, 300, 2, 1000, 400, False, 0.5, 7.0, "a", "b")
WRONG = replace(RIGHT, state="not exact", reason="wrong", transition=0.5, calls=4, cost=1.5)


def result(game: str, *attempts: Attempt, hidden: bool = False) -> GameResult:
    return GameResult(game, "unprepared", hidden, "r", attempts)


def line(*games: GameResult) -> YardstickLine:
    return YardstickLine(1, "2.0.2", "careful", "model-1", "2026-01-02", {"llm": "x:y"}, games)


def test_with_one_synthesis_a_game_the_interval_of_the_share_is_wilsons_over_games() -> None:
    games = [result(f"g{number}", RIGHT) for number in range(3)] + [result("g3", WRONG)]
    totals = Totals.of(games)
    assert totals.exact is not None
    assert (totals.exact.mean, totals.exact.n) == (0.75, 4)
    assert (totals.exact.low, totals.exact.high) == pytest.approx(wilson(3, 4))
    assert totals.calls is not None
    assert totals.calls.mean == 2.5
    # The calls are 2, 2, 2, 4: their standard deviation is 1, of a mean of four a half.
    assert (totals.calls.low, totals.calls.high) == pytest.approx((2.5 - t_quantile(3) / 2, 2.5 + t_quantile(3) / 2))
    assert totals.sums == {
        "calls": 10,
        "input_tokens": 4000,
        "output_tokens": 1600,
        "estimated": False,
        "cost": 3.0,
        "seconds": 28.0,
    }


def test_syntheses_of_one_game_that_are_alike_make_nothing_surer() -> None:
    once = Totals.of([result("g0", RIGHT), result("g1", WRONG)]).exact
    often = Totals.of([result("g0", RIGHT, RIGHT, RIGHT), result("g1", WRONG, WRONG, WRONG)]).exact
    assert once is not None
    assert often is not None
    assert (once.mean, often.mean, often.n) == (0.5, 0.5, 6)
    assert often.low is not None
    assert once.low is not None
    assert often.low <= once.low


def test_without_a_program_accuracies_are_zero_and_a_fault_of_ours_has_none() -> None:
    nothing = Attempt(0, "no program", "no answer held a program")
    broken = Attempt(0, "error", "the worker died")
    totals = Totals.of([result("g0", replace(RIGHT, inference=1.0), hidden=True), result("g1", nothing, hidden=True)])
    assert (totals.transition and totals.transition.mean, totals.inference and totals.inference.mean) == (0.5, 0.5)
    totals = Totals.of([result("g0", RIGHT), result("g1", broken)])
    assert totals.transition == Totals.of([result("g0", RIGHT)]).transition
    assert totals.exact is not None
    assert totals.exact.mean == 0.5


def test_a_mean_of_equal_figures_has_no_interval() -> None:
    totals = Totals.of([result("g0", RIGHT), result("g1", RIGHT, RIGHT)])
    assert totals.transition is not None
    assert (totals.transition.mean, totals.transition.low, totals.transition.high) == (1.0, None, None)
    assert totals.exact is not None
    assert totals.exact.low is not None


def test_what_is_missing_is_no_failure() -> None:
    totals = Totals.of([result("g0", RIGHT), result("g1", Attempt(0, "not recorded"), Attempt(1, "unfinished"))])
    assert (totals.games, totals.syntheses, totals.missing) == (1, 1, 2)
    assert totals.exact is not None
    assert totals.exact.mean == 1.0
    assert Totals.of([result("g1", Attempt(0, "not recorded"))]).exact is None


def test_an_unknown_cost_makes_the_sum_unknown() -> None:
    assert Totals.of([result("g0", RIGHT), result("g1", replace(RIGHT, cost=None))]).sums["cost"] is None


def test_intervals_of_shares_and_counts_stay_where_they_can_be() -> None:
    totals = Totals.of([result("g0", RIGHT), result("g1", replace(RIGHT, transition=0.0, calls=50))])
    assert totals.transition is not None
    assert (totals.transition.low, totals.transition.high) == (0.0, 1.0)
    assert totals.calls is not None
    assert totals.calls.low == 0.0
    assert totals.calls.high is not None
    assert math.isfinite(totals.calls.high)


def test_a_line_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = line(result("nim", RIGHT, WRONG), result("pig", Attempt(0, "not recorded")))
    file = tmp_path / "lines.jsonl"
    file.write_text(written.text() + "\n" + written.text(), encoding="utf-8")
    assert written.text().count("\n") == 1
    read = read_lines(file)
    assert read == [written, written]
    assert read[0].text() == written.text()


def changed(*path: Any, to: Any) -> str:
    data = line(result("nim", RIGHT)).to_json()
    place = json.loads(json.dumps(data))
    inner = place
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return json.dumps(place)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "Line 1 of"),
        ("[]", "it is no JSON object with a number `schema`"),
        (changed("schema", to=2), "its schema is 2, and this version of cwm reads 1"),
        (changed("yardstick", to="1"), 'its `yardstick` is "1"'),
        (changed("further", to=1), "it has `further`"),
        (changed("games", 0, "hidden", to=None), "its `hidden` is null"),
        (changed("games", 0, "syntheses", 0, "transition", to="1"), 'its `transition` is "1"'),
        (changed("games", 0, "syntheses", 0, "transition", to=math.nan), "its `transition` is NaN"),
        (changed("games", 0, "syntheses", 0, "state", to="good"), 'its `state` is "good"'),
        (changed("games", 0, "syntheses", to=[3]), "3 is no JSON object"),
        ("[" * 100_000, "Line 1 of"),
    ],
)
def test_what_is_no_line_is_refused_with_its_number(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="give lines as `cwm benchmark models` writes them") as refused:
        read_lines(file)
    assert named in str(refused.value)


def test_a_line_that_lacks_a_field_is_refused(tmp_path: Path) -> None:
    data = line(result("nim", RIGHT)).to_json()
    del data["games"][0]["rule_book"]
    file = tmp_path / "lines.jsonl"
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(UsageError, match="it lacks `rule_book`"):
        read_lines(file)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_lines(tmp_path / "none.jsonl")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="it is no text in UTF-8"):
        read_lines(tmp_path / "bytes")
