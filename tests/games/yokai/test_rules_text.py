import re

import pytest

from games import registry
from games.yokai.game import make, rules
from games.yokai.rules_text import template


@pytest.fixture
def text(game):
    return rules(game.config.cards, game.config.players)


def table_fields(section):
    """Names in the first column of a table."""
    return {name for row in re.findall(r"^\| (`.*?) \|", section, re.M) for name in re.findall(r"`(\w+)`", row)}


def section(text, title):
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_no_placeholder_and_no_note_is_left(text):
    assert "$" not in text
    assert "## Notes" not in text
    assert "## Notes" in template()


def test_every_field_of_the_state_is_described_and_no_other(game, text):
    assert table_fields(section(text, "The state")) == set(game.initial_state())


def test_every_field_of_an_observation_is_described_and_no_other(game, text):
    assert table_fields(section(text, "What a player sees")) == set(game.observations(game.initial_state())[0])


def test_fields_and_statuses_of_hints_are_described(game, text, random_states):
    assert all(f"`{field}`" in section(text, "The state") for field in game.initial_state()["hints"][0])
    statuses = {hint["status"] for state in random_states(game, 1, seed=91) for hint in state["hints"]}
    assert statuses == {"face down", "face up", "placed"}
    assert all(f'"{status}"' in text for status in statuses)


def test_every_action_string_named_in_the_text_exists_and_every_kind_is_named(game, text):
    actions = set(game.all_actions())
    named = set(re.findall(r"`((?:observe|move|reveal|place) \d[^`]*|no-op|end)`", text))
    assert named <= actions
    assert {action.split()[0] for action in named} == {action.split()[0] for action in actions}
    chance = set(re.findall(r"`((?:deal|hint) [a-z-]+)`", text))
    assert chance <= set(game.config.chance_actions())
    assert {action for action in game.config.chance_actions() if action.startswith("hint")} <= chance


def test_numbers_in_the_text_are_those_of_the_game(game, text):
    c = game.config
    assert f"Yōkai with {c.cards} cards for {c.players} players" in text
    assert f"ids 0 to {c.cards - 1}. {c.cards_per_colour} cards have each colour" in text
    assert f"{c.grid} rows and {c.grid} columns, both numbered from 0 to {c.grid - 1}" in text
    assert f"exactly {game.info.max_length} actions of players ({game.info.max_length // 4} turns)" in text
    assert f"between {game.info.min_utility:.0f} and {game.info.max_utility:.0f}" in text
    assert f"Chance acts {c.cards + c.hints} times" in text
    assert f"last {c.players} completed turns" in text
    assert all(f'"{name}"' in text for name in game.info.player_names)
    for size, count in enumerate(c.hints_by_size, start=1):
        words = {1: "one colour", 2: "two colours", 3: "three colours"}[size]
        assert (f"{count} show {words}" in text or f"{count} shows {words}" in text) == (count > 0)


def test_the_start_in_the_text_is_that_of_the_game(game, text):
    c, start = game.config, game.initial_state()["positions"]
    start_rule = text.split("* **Start**: ")[1].split("* **Hints**")[0]
    if c.is_ring:
        found = [[int(row), int(column)] for row, column in re.findall(r"\[(\d), (\d)\]", start_rule)]
        assert found == [[3, 3], *start]
        assert "cards 0 to 7 start at" in start_rule
    else:
        assert f"row 3 + i // {c.start}, column 3 + i % {c.start}" in start_rule
        assert f"card {c.cards - 1} at [{start[-1][0]}, {start[-1][1]}]" in start_rule


def test_the_registry_serves_the_text_of_each_configuration(game, text):
    assert registry.rules(game.info.id) == text


def test_the_two_views_are_described_apart(game):
    default, memory = (rules(game.config.cards, game.config.players, view) for view in (False, True))
    assert "when they are forgotten" in default
    assert "ever observed (those in its own list" in memory
    assert default != memory


def test_the_examples_of_rewards_are_what_the_game_pays(small, deal, play):
    text = rules(9, 2)
    assert "pays\n20 if the start happens to be won, and -1 - 3 = -4 if no colour is grouped" in text
    assert small.rewards(play(small, deal(small, "rrrgggbbb"), "end"))[0] == 20
    assert small.rewards(play(small, deal(small, "rgbgbrbrg"), "end"))[0] == -4


def test_the_examples_of_rewards_of_eight_cards_are_what_the_game_pays(ring, deal, play):
    text = rules(8, 2)
    assert "pays\n15 if the start happens to be won, and -1 - 2 = -3 if no colour is grouped" in text
    assert ring.rewards(play(ring, deal(ring, "rrrgrggg"), "end"))[0] == 15
    assert ring.rewards(play(ring, deal(ring, "rgrggrgr"), "end"))[0] == -3


def test_the_notes_name_the_two_sizes_of_the_action_layout():
    assert f"{len(make(9, 2).all_actions()):,}" in template()
    assert f"{len(make(16, 2).all_actions()):,}" in template()
