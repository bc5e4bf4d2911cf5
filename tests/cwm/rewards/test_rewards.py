"""Rewards are pure functions of answers and of what a row says, as trainers call them."""

import json
from functools import partial
from typing import Any

import pytest

from cwm.rewards.functions import deduction_reward, format_reward, rating_reward, regret_reward
from cwm.rewards.reading import chosen

LEGAL = ["(Discard 0)", "(Play 0)", "(Reveal player +1 color R)"]


def info(**changed: Any) -> str:
    about = {"scaffold": "sherlock", "legal": LEGAL, "ratings": [-0.5, 0.5, None], "q": [1.0, 3.0, 2.5]}
    about |= {"truth": [], "seat": 0, "players": 2}
    return json.dumps(about | changed)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('{"reason": "…", "action": 1}', "(Play 0)"),
        ('```json\n{"ratings": {"0": 1, "1": -1}, "action": "1"}\n```', "(Play 0)"),
        ('I think so: {"move": "play 0"}', "(Play 0)"),
        ('{"action": 0} no, wait: {"action": 2}', "(Reveal player +1 color R)"),
        ("Reason: safe.\nChosen move: 2", "(Reveal player +1 color R)"),
        ("**Action:** (Discard 0)", "(Discard 0)"),
        ("(Play 0)", "(Play 0)"),
        ('{"action": 0, "move": 0}', "(Discard 0)"),
        ('{"action": 0, "move": 1}', None),
        ('{"action": 3}', None),
        ('{"action": true}', None),
        ('{"action": 1.0}', None),
        ('{"ratings": {"0": 1}}', None),
        ('{"ratings": [1, 0, 0], "reason": "cut', None),
        ("I would play 0 or discard 0.", None),
        ("", None),
    ],
)
def test_a_move_is_read_or_there_is_none(text: str, action: str | None) -> None:
    assert chosen(text, LEGAL) == action


def test_ratings_are_clipped_raw_or_normalised_and_bad_answers_get_nothing() -> None:
    answers = ['{"action": 0}', '{"action": 1}', '{"action": 2}', "nothing"]
    about = [info()] * 4
    assert rating_reward(answers, about) == [0.0, 0.5, 0.0, 0.0]
    assert partial(rating_reward, mode="raw")(answers, about) == [-0.5, 0.5, 0.0, 0.0]
    assert rating_reward(answers, about, mode="normalize") == [0.25, 0.75, 0.0, 0.0]
    with pytest.raises(ValueError, match="mode is 'half', expected clip, raw, normalize"):
        rating_reward(answers, about, mode="half")  # type: ignore[arg-type]


def test_regret_is_measured_against_the_best_value_and_missing_where_nothing_was_valued() -> None:
    answers = ['{"action": 0}', '{"action": 1}', '{"action": 2}', "nothing"]
    assert regret_reward(answers, [info()] * 4) == [0.0, 1.0, 0.75, 0.0]
    assert regret_reward(['{"action": 0}'], [info(q=[2.0, 2.2, None])]) == pytest.approx([0.8])
    assert regret_reward(['{"action": 0}'], [info(q=[None] * 3)]) == [None]


def test_deductions_are_worth_the_share_of_slots_that_are_right() -> None:
    truth = [
        {"player": 1, "slot": 0, "colours": "RY", "ranks": "12"},
        {"player": 1, "slot": 1, "colours": "R", "ranks": "1"},
        {"player": 0, "slot": 0, "colours": "RYG", "ranks": "123"},
        {"player": 0, "slot": 1, "colours": "G", "ranks": "3"},
    ]
    about = info(truth=truth, seat=1)
    said = {"you": [{"colours": "YR", "ranks": ["1", "2"]}, {"colours": "R", "ranks": "1"}]}
    said["player+1"] = [{"colours": "RYG", "ranks": "123"}, {"colours": "G", "ranks": "2"}]
    answer = json.dumps({"deduction": said, "action": 1})
    assert deduction_reward([answer, '{"action": 1}', '{"deduction": []}'], [about] * 3) == [0.75, 0.0, 0.0]
    assert deduction_reward([answer], [info()]) == [None]


def test_trainers_may_give_messages_and_further_columns() -> None:
    answers = [[{"role": "assistant", "content": '{"action": 1}'}], []]
    assert format_reward(answers, [info()] * 2, prompts=["", ""], example_id=[0, 1]) == [1.0, 0.0]
    assert rating_reward(answers, info=[info()] * 2, prompts=["", ""]) == [0.5, 0.0]
