"""Networks read Hanabi at the table as the batched game shows it, and need no JAX for that."""

import random
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games import registry as games
from games.api import CHANCE, TERMINAL, GameError
from games.batched import registry
from games.batched.hanabi.environment import make
from games.hanabi.config import VARIANTS

QUICK = ("hanabi-3p", "hanabi-mini-2p")


def played(game_id: str, seed: int) -> tuple[list[int], list[str], list[tuple[int, Any]]]:
    """Returns the cards and moves of a random game, and who was shown what at each move."""
    game, rng = games.make(game_id), random.Random(seed)
    native = game.native  # type: ignore[attr-defined]
    state, cards, moves, shown = game.initial_state(), list[int](), list[str](), list[tuple[int, Any]]()
    while (player := game.current_player(state)) != TERMINAL:
        legal = game.legal_actions(state)
        action = rng.choice(legal)
        if player == CHANCE:
            cards.append(state.native.legal_actions()[legal.index(action)])
        else:
            safe = [name for name in legal if "Play" not in name]
            action = rng.choice(safe) if safe and rng.random() < 0.7 else action
            shown.append((player, game.observations(state)[player]))
            moves.append(action)
        state = game.apply_action(state, action)
    assert native.num_players() == game.info.num_players
    return cards, moves, shown


@pytest.mark.parametrize(
    ("game_id", "seed"),
    [
        pytest.param(game_id, seed, marks=[] if game_id in QUICK and not seed else pytest.mark.slow)
        for game_id in VARIANTS
        for seed in range(3)
    ],
)
def test_every_player_reads_every_step_as_the_batched_game_shows_it(game_id: str, seed: int) -> None:
    cards, moves, shown = played(game_id, seed)
    table, env = registry.table_alone(game_id), make(game_id)
    assert table is not None
    numbers = {action: number for number, action in enumerate(table.actions)}
    assert len(numbers) == env.num_actions
    left = [kind for kind, count in enumerate(env.sizes.counts) for _ in range(count)]
    for card in cards:
        left.remove(card)
    step_on, observe = jax.jit(env.step), jax.jit(env.observe)
    state, seen = env.start(jnp.asarray([*cards, *left])), list[Any]()
    for move, (player, _) in zip(moves, shown, strict=True):
        seen.append(np.asarray(observe(state)))
        action = np.full(env.num_players, env.sizes.no_op, np.int32)
        action[player] = numbers[move]
        state, _ = step_on(state, jnp.asarray(action))
    for player in range(VARIANTS[game_id].players):
        own = [(step, view) for step, (who, view) in enumerate(shown) if who == player]
        read = 0
        for count, (step, _) in enumerate(own, 1):
            views = table.views([view for _, view in own[:count]], "default", read)
            images = [table.image(view) for view in views]
            assert len(images) == step + 1 - read
            for place, image in enumerate(images, read):
                assert image.dtype == np.float32
                assert np.array_equal(image, seen[place][player])
            read = step + 1


def test_a_history_with_gaps_another_view_and_graphs_are_refused() -> None:
    table = registry.table_of("hanabi-mini-2p")
    assert table is not None
    own = [view for player, view in played("hanabi-mini-2p", 0)[2] if player == 1]
    with pytest.raises(GameError, match="is read from its first move on, in the view default; given are"):
        table.views(own[1:], "default", 0)
    with pytest.raises(GameError, match="moves in the view v0"):
        table.views(own, "v0", 0)
    with pytest.raises(GameError, match="given are 0 decision points and 0 moves"):
        table.views([], "default", 0)
    with pytest.raises(GameError, match="is not shown as a graph"):
        table.graph(own[0])


def test_the_table_needs_no_jax() -> None:
    code = "import sys; from games.batched import registry; registry.table_of('hanabi-2p'); print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
