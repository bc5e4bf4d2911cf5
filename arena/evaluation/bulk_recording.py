"""Recording games of batched Yōkai in bulk: played side by side in JAX, written as the usual trajectory records."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from cwm.trajectories.recorded import Trajectory, record_step
from games import registry
from games.api import TERMINAL, Action, Game, GameError
from games.batched.api import Array
from games.batched.keys import root_key
from games.batched.yokai.environment import YokaiEnv, make
from games.batched.yokai.state import State

BATCH: Final = 1024
"""Games that are played side by side."""


@dataclass(frozen=True)
class PlayedBatch:
    """Actions and deals of one batch.

    Attributes:
        colours: int32 [Y, B].
        hints: int32 [H, B], colour masks.
        actions: int32 [T, B], of the player to move.
        lengths: int32 [B], actions until the end.
        totals: float32 [B], returns.
    """

    colours: NDArray[np.int32]
    hints: NDArray[np.int32]
    actions: NDArray[np.int32]
    lengths: NDArray[np.int32]
    totals: NDArray[np.float32]


def record(game_id: str, games: int, seed: int) -> Iterator[Trajectory]:
    """Returns whole games of uniformly random legal actions, played as they are read.

    Game i depends on the game's id, the seed and i alone. The batched environment plays; the reference game replays
    every action for the records, refuses any that it holds to be illegal, and must come to the same end and return.

    Args:
        game_id: e.g. `yokai-9c-2p`.
        games: how many.
        seed: everything random derives from it.

    Raises:
        GameError: no batched game has that id.
    """
    return _recorded(*_compiled(game_id), registry.make(game_id), games, seed)


@cache
def _compiled(game_id: str) -> tuple[YokaiEnv, Callable[[Array], tuple[Array, ...]]]:
    env = make(game_id)
    return env, jax.jit(lambda keys: _play(env, keys))


def _recorded(
    env: YokaiEnv, play: Callable[[Array], tuple[Array, ...]], game: Game, games: int, seed: int
) -> Iterator[Trajectory]:
    root = root_key("bulk recording", game.info.id, seed)
    for first in range(0, games, BATCH):
        keys = jax.vmap(lambda index: jax.random.fold_in(root, index))(jnp.arange(first, first + BATCH))
        batch = PlayedBatch(*(np.asarray(array) for array in play(keys)))
        for column in range(min(BATCH, games - first)):
            yield _trajectory(game, env, batch, column, first + column, seed)


def _play(env: YokaiEnv, keys: Array) -> tuple[Array, Array, Array, Array, Array]:
    pairs = jax.vmap(jax.random.split)(keys)
    state = env.init(pairs[:, 0])
    uniform = jax.vmap(lambda key: jax.random.uniform(key, (env.sizes.config.max_length,)))(pairs[:, 1])

    def step(state: State, draws: Array) -> tuple[State, Array]:
        actions = env.sample(state, draws)
        return env.step(state, actions)[0], actions.max(axis=1)

    ended, actions = jax.lax.scan(step, state, uniform.T)
    outcome = env.outcome(ended)
    return state.colours, state.hints, actions, outcome.length, outcome.total


def _trajectory(game: Game, env: YokaiEnv, batch: PlayedBatch, column: int, index: int, seed: int) -> Trajectory:
    steps = []
    state = game.initial_state()
    for action in _actions(env, batch, column):
        steps.append(replace(record_step(game, state, None), action=action))
        state = game.apply_action(state, action)
    steps.append(record_step(game, state, None))
    total = float(batch.totals[column])
    if steps[-1].player != TERMINAL or steps[-1].rewards[0] != total:
        raise GameError(
            f"game {index} of {game.info.id} (seed {seed}) ends with the return {total:g} in the batched environment, "
            f"but not in the reference; run: cwm games check-batched {game.info.id}."
        )
    return Trajectory(game.info.id, index, seed, game.info.player_names, tuple(steps))


def _actions(env: YokaiEnv, batch: PlayedBatch, column: int) -> Iterator[Action]:
    words = env.sizes.config.colours
    names = env.sizes.config.player_actions()
    for colour in batch.colours[:, column]:
        yield f"deal {words[colour]}"
    for mask in batch.hints[:, column]:
        yield "hint " + "-".join(word for bit, word in enumerate(words) if mask >> bit & 1)
    for number in batch.actions[: batch.lengths[column], column]:
        yield names[number]
