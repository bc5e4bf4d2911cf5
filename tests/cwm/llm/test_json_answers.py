"""JSON out of answers: the last object wins, prose is never scanned, a broken last one hides no earlier one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwm.llm.json_answers import NoJsonAnswerError, last_object

PROSE = st.text(alphabet=st.characters(exclude_characters="{", exclude_categories=("Cs",)))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=3)


@given(PROSE, OBJECTS, PROSE, OBJECTS, PROSE, st.sampled_from([None, 2]))
def test_the_last_object_wins_whatever_stands_around_it(
    before: str, first: dict[str, Any], between: str, last: dict[str, Any], after: str, indent: int | None
) -> None:
    text = before + json.dumps(first) + between + json.dumps(last, indent=indent, ensure_ascii=False) + after
    assert last_object(text) == last


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"action": "a"}', {"action": "a"}),
        ('First {"action": "a"}, no: {"action": "b"}.', {"action": "b"}),
        ('```json\n{"action": "b"}\n```', {"action": "b"}),
        ('{"state": {"action": "inner"}, "action": "outer"}', {"state": {"action": "inner"}, "action": "outer"}),
        ('{"action": "a"} and the set {x, y}', {"action": "a"}),
        ('{"action": "a"} then {"why": "because"}', {"action": "a"}),
        ('a stray {"x" and then {"action": "b"}', {"action": "b"}),
    ],
)
def test_objects_with_the_required_keys_are_found(text: str, value: Any) -> None:
    assert last_object(text, ["action"]) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I play a. My action is b.",
        '"action": "a"',
        '["action", "a"]',
        '{"why": "because"}',
        '{"action": "a"} no, better: {"action": "b',
        "{\"action\": \"a\"} no, better: {'action': 'b'}",
        '{"action": "a"} no, better: {"action": NaN}',
        '{"state": {"action": "inner"}, "action": ',
        '{"x": NaN, "state": {"action": "inner"}}',
        '{"a":' * 3000,
    ],
)
def test_no_answer_is_made_of_prose_or_of_a_broken_object(text: str) -> None:
    with pytest.raises(NoJsonAnswerError):
        last_object(text, ["action"])
