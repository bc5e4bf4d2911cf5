"""Networks read OvercookedV2 at the table as JaxMARL shows it, and need neither it nor JAX for that."""

import random
import subprocess
import sys

import numpy as np
import pytest

from games import registry as games
from games.api import GameError
from games.batched import registry
from games.posg.overcooked_v2.model import make

GAME = "overcooked-v2-grounded-coord-simple,sight=2,steps=6"


def history(game_id: str, seat: int) -> list[dict[str, object]]:
    """Returns what a chef is shown at its decision points in a random game."""
    game, rng, found = games.make(game_id), random.Random(4), []
    state = game.initial_state()
    while game.current_player(state) != -4:
        if game.current_player(state) == seat:
            found.append(game.observations(state)[seat])
        state = game.apply_action(state, rng.choice(game.legal_actions(state)))
    return found


def test_a_view_is_the_image_of_the_channels() -> None:
    table, model = registry.table_of(GAME), make(GAME)
    assert table is not None
    assert list(table.actions) == ["right", "down", "left", "up", "stay", "interact"]
    shown = history(GAME, 1)
    assert len(shown) == 6
    views = table.views(shown, "default", 4)
    assert [view["step"] for view in views] == [4, 5]
    image = table.image(views[0])
    assert (image.shape, image.dtype) == ((5, 5, 40), np.float32)
    seen = model.observation_from_json(1, views[0]["seen"])
    assert image.ravel().tolist() == model.encode(1, seen)
    assert image[2, 2, 0] == 1  # itself, in the middle


def test_a_history_with_gaps_another_view_and_graphs_are_refused() -> None:
    table = registry.table_of(GAME)
    assert table is not None
    shown = history(GAME, 0)
    with pytest.raises(GameError, match="is read from its first step on, in the view default; given are 5 decision"):
        table.views(shown[1:], "default", 0)
    with pytest.raises(GameError, match="given are 6 decision points in the view memory"):
        table.views(shown, "memory", 0)
    with pytest.raises(GameError, match="is not shown as a graph"):
        table.graph(shown[0])


def test_games_whose_environment_reads_them_at_the_table_are_read_so() -> None:
    table = registry.table_of("yokai-8c-2p")
    assert table is not None
    assert "observe 0" in table.actions
    code = (
        "import sys; from games.batched import registry; registry.table_of('overcooked-v2-two-rooms'); "
        "print({'jax', 'jaxmarl'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
