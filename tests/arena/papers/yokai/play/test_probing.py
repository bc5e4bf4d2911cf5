from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from arena.checkpoints import on_game
from arena.checkpoints.on_game import LearnedPolicy
from arena.papers.yokai.play import probing
from arena.papers.yokai.play.probe_figures import CROSS_PLAY, ORACLE, SELF_PLAY
from games.batched.yokai.environment import make
from search.learn.api import Outputs
from search.learn.beliefs.probes import NOTHING, ProbeError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.play.evaluation import Moment

GAME = "yokai-8c-2p"
SHAPE = NetworkConfig(encoder="mlp", filters=8, layers=1, hidden=8, head_scale=1.0)


class Sees(ActorCritic):
    """A network whose features are the colour channels of all cells of the image: all that a memory view shows."""

    def apply(self, params: Any, memory: Any, observation: Any, starts: Any) -> Any:
        memory, said = super().apply(params, memory, observation, starts)
        colours = observation[:, :, :, :-1, :2]
        return memory, Outputs(said.logits, said.values, colours.reshape(*colours.shape[:2], -1))


def policy(name: str, seed: int) -> LearnedPolicy:
    env = on_game.environment(GAME, "memory", SHAPE)
    network = Sees(SHAPE, env.num_actions)
    params = jax.jit(network.init)(jax.random.key(seed), jnp.zeros((1, 1, *env.image_shape)))
    return LearnedPolicy(name, GAME, "memory", {"method": "sp"}, network, params)


@pytest.fixture(scope="module")
def chosen() -> list[LearnedPolicy]:
    return [policy("a", 0), policy("b", 1)]


def test_what_is_kept_of_a_step_is_what_the_players_know() -> None:
    env = make(GAME)
    state = jax.jit(env.init)(jax.random.split(jax.random.key(0), 3))
    state, _ = jax.jit(env.step)(state, jnp.array([[1 + 6, 0]] * 3))
    alive = jnp.array([True, True, False])
    seen = jax.jit(probing.colours_seen(env.sizes))(Moment(state, alive, jnp.zeros((3, 2), int), ()))
    cells = np.asarray(env.sizes.start_cells)
    np.testing.assert_array_equal(np.asarray(seen.colour)[:2, cells], np.asarray(state.colours).T[:2])
    assert (np.asarray(seen.colour)[:2] != NOTHING).sum() == 16
    assert (np.asarray(seen.colour)[2] == NOTHING).all()
    assert np.argwhere(np.asarray(seen.observed[:2])).tolist() == [[0, 0, cells[6]], [1, 0, cells[6]]]
    # Of the seven cards left, four are of the other colour; who has seen nothing guesses half of them.
    np.testing.assert_allclose(seen.guessed, [[4 / 7, 0.5]] * 3)


@pytest.mark.slow
def test_features_that_show_what_was_observed_reach_the_perfect_memory_there_alone(
    chosen: list[LearnedPolicy],
) -> None:
    told: list[tuple[int, int]] = []
    found = probing.run(chosen, 250, on_seating=lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4)
    assert (found.chance, found.trained_on, found.held_out) == (0.5, 200, 50)
    (method,) = found.methods
    observed, hidden = method.lines["observed"], method.lines["not observed"]
    for play in (SELF_PLAY, CROSS_PLAY):
        assert 0 not in observed[play]
        assert np.mean([observed[play][step].mean for step in range(2, 12)]) > 0.9
        assert np.mean([hidden[play][step].mean for step in range(2, 12)]) < 0.7
    assert all(value.mean == 1 for value in observed[ORACLE].values())
    assert hidden[ORACLE][0].mean == 0.5


def test_too_few_games_to_hold_some_out_are_refused(chosen: list[LearnedPolicy]) -> None:
    with pytest.raises(ProbeError, match="4 games leave none to test on"):
        probing.run(chosen, 4)
