"""What agents are told at the table is what the batched game shows them."""

import random

import numpy as np
import pytest

from games import registry as games
from games.api import GameError
from games.batched import registry
from games.posg import registry as references
from games.posg.serialised import SerialisedPosg


@pytest.mark.parametrize("game_id", ["cooperative-reaching", "driving", "foraging", "predator-prey", "pursuit-evasion"])
def test_views_at_the_table_are_the_vectors_of_every_step(game_id: str) -> None:
    reader, model, game = registry.make(game_id).table(), references.make(game_id), games.make(game_id)  # type: ignore[misc]
    assert isinstance(game, SerialisedPosg)
    assert {tuple(reader.actions)} == set(model.info.actions)
    rng, histories = random.Random(3), {0: [], 1: []}  # type: ignore[var-annotated]
    state = game.initial_state()
    while sum(map(len, histories.values())) < 12:
        player = game.current_player(state)
        if player in histories:
            histories[player].append(game.observations(state)[player])
            actions = list(game.legal_actions(state))
        else:
            actions = [action for action, _ in game.chance_outcomes(state)]
        state = game.apply_action(state, rng.choice(actions))
    for agent, history in histories.items():
        views = reader.views(history, "default", 2)
        assert len(views) == len(history) - 2
        for view, shown in zip(views, history[2:], strict=True):
            told = model.encode(agent, model.observation_from_json(agent, shown["seen"]))  # type: ignore[attr-defined]
            np.testing.assert_array_equal(reader.image(view), np.array(told, np.float32).reshape(1, 1, -1))


def test_what_was_missed_is_read_before_what_is_seen() -> None:
    reader = registry.make("cooperative-reaching").table()  # type: ignore[misc]
    seen = [{"own": [place, 1], "other": [0, 0]} for place in range(3)]
    history = [{"agent": 1, "step": 0, "seen": seen[0]}, {"agent": 1, "step": 2, "missed": [seen[1]], "seen": seen[2]}]
    assert [view["seen"] for view in reader.views(history, "default", 1)] == seen[1:]
    with pytest.raises(GameError, match="as `agent` and `seen`"):
        reader.views(["board"], "default", 0)
    with pytest.raises(GameError, match="has no graphs"):
        reader.graph(seen[0])
