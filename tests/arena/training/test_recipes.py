"""Networks of recipes fit their games: every action has a logit."""

import jax
import jax.numpy as jnp
import pytest

from arena.checkpoints import on_game
from arena.training.recipes import adapted, recipe
from search.learn.errors import NetworkConfigError
from search.learn.networks.actor_critic import ActorCritic


def logits(made):
    """Returns the shape of what a recipe's network says of one step of one game."""
    env = on_game.environment(made.game, made.view, made.network)
    network = ActorCritic(made.network, env.num_actions)

    def asked(key):
        seen = jax.tree.map(lambda leaf: leaf[None], env.observe(env.init(key)))
        params = network.init(key, seen)
        starts = jnp.ones((1, env.num_players), bool)
        return network.apply(params, network.initial_memory(env.num_players), seen, starts)[1].logits

    return jax.eval_shape(asked, jax.random.key(0)).shape, (1, env.num_players, env.num_actions)


@pytest.mark.parametrize(
    ("game", "method"), [("yokai-8c-2p", "sp"), ("yokai-9c-3p", "sp"), ("yokai-16c-4p", "sp"), ("yokai-9c-2p", "obl")]
)
def test_every_action_of_a_game_is_pointed_at(game, method):
    made = recipe(game, method, "reduced")
    assert made.network.actions
    found, expected = logits(made)
    assert found == expected


def test_actions_are_pointed_at_on_the_papers_network_if_asked_for():
    plain = recipe("yokai-9c-2p", "sp")
    assert not plain.network.actions
    pointing = adapted(plain, {}, {}, pointing=True)
    assert pointing.network.actions == recipe("yokai-9c-2p", "sp", "reduced").network.actions
    found, expected = logits(pointing)
    assert found == expected


def test_networks_on_graphs_do_not_point():
    made = adapted(recipe("yokai-9c-2p", "sp", "reduced"), {"encoder": "gcn"}, {})
    assert not made.network.actions
    found, expected = logits(made)
    assert found == expected
    with pytest.raises(NetworkConfigError, match="the encoder is 'gcn'"):
        adapted(recipe("yokai-9c-2p", "sp"), {"encoder": "gcn"}, {}, pointing=True)
