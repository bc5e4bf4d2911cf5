from dataclasses import replace
from typing import Any

import pytest

from arena.agents.api import RandomAgent, ScriptedAgent
from arena.matches.match import play
from arena.matches.replay import RecordError, as_text, verify
from games import registry


@pytest.mark.parametrize("game_id", ["tic_tac_toe", "connect_four", "kuhn_poker", "leduc_poker", "yokai-9c-2p"])
def test_every_played_game_agrees_with_the_rules(game_id: str) -> None:
    game = registry.make(game_id)
    for seed in range(5):
        record = play(game, [RandomAgent(), RandomAgent()], seed, [seed, seed + 1])
        verify(game, record)
        assert f"returns: {record.returns[0]:g}" in as_text(game, record)


def test_forfeited_game_agrees_with_the_rules(high_card: Any) -> None:
    record = play(high_card, [ScriptedAgent(["sing"]), RandomAgent()], 0, [1, 2])
    verify(high_card, record)
    assert "first forfeits (illegal): 'sing' is not among the 2" in as_text(high_card, record)


def test_text_shows_the_table_before_each_move(pair: Any) -> None:
    record = play(pair, [ScriptedAgent(["red"]), ScriptedAgent(["blue"])], 0, [1, 2])
    lines = as_text(pair, record).splitlines()
    assert lines[:2] == ["player 0: script", "player 1: script"]
    assert lines.index("2. player 1: blue") == lines.index("table of None: red") + 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": ((-1, "3"), (1, "keep"))}, "player 0 is to move"),
        ({"actions": ((-1, "3"), (0, "sing"))}, "'sing', is not legal"),
        ({"actions": ((-1, "3"), (0, "keep"))}, "stops before the end"),
        ({"paid": (1.0, 1.0)}, "paid of high_card"),
        ({"returns": (9.0, -9.0)}, "returns of high_card"),
    ],
)
def test_record_that_was_changed_is_found_out(high_card: Any, change: dict[str, Any], message: str) -> None:
    record = play(high_card, [ScriptedAgent(["keep"]), ScriptedAgent(["done"])], 0, [1, 2])
    with pytest.raises(RecordError, match=message):
        verify(high_card, replace(record, **change))
