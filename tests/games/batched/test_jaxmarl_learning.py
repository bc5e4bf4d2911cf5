"""A short IPPO loop that knows JaxMARL's interface alone learns on a batched game, where JaxMARL is installed."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("jaxmarl", reason="the extra `jaxmarl` is not installed")

import optax
from jaxmarl.wrappers.baselines import LogWrapper

from games.batched.jaxmarl import make

pytestmark = pytest.mark.extra("jaxmarl")

GAMES = 64
STEPS = 32
UPDATES = 80
EPOCHS = 6
HIDDEN = 128
LEARNING_RATE = 2e-3
DISCOUNT, TRACE, CLIP, ENTROPY = 0.98, 0.9, 0.2, 0.003


class Sample(NamedTuple):
    """One step of all actors, [GAMES * agents, ...]."""

    obs: jax.Array
    avail: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    paid: jax.Array
    done: jax.Array


def new_network(key, size, actions):
    keys = jax.random.split(key, 3)
    shapes = {"body": (size, HIDDEN), "policy": (HIDDEN, actions), "value": (HIDDEN, 1)}
    scales = {"body": (2 / size) ** 0.5, "policy": 0.01, "value": 0.1}
    return {
        name: (jax.random.normal(one, shape) * scales[name], jnp.zeros(shape[1]))
        for one, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def apply(network, obs, avail):
    """Returns log-probabilities of the legal actions, [..., N], and the value, [...]."""
    body = jnp.tanh(obs @ network["body"][0] + network["body"][1])
    logits = body @ network["policy"][0] + network["policy"][1]
    value = body @ network["value"][0] + network["value"][1]
    return jax.nn.log_softmax(jnp.where(avail, logits, -1e9)), value[..., 0]


def actors(env, by_agent):
    """Stacks [GAMES, ...] by agent into one row an actor."""
    return jnp.concatenate([by_agent[agent] for agent in env.agents])


def by_agent(env, rows):
    return dict(zip(env.agents, rows.reshape(env.num_agents, GAMES), strict=True))


def rollout_step(env, network, carry, key):
    state, obs = carry
    choose, step = jax.random.split(key)
    seen = actors(env, obs)
    avail = actors(env, jax.vmap(env.get_avail_actions)(state.env_state))
    log_probs, value = apply(network, seen, avail)
    action = jax.random.categorical(choose, log_probs)
    log_prob = jnp.take_along_axis(log_probs, action[:, None], axis=1)[:, 0]
    keys = jax.random.split(step, GAMES)
    obs, state, reward, done, info = jax.vmap(env.step)(keys, state, by_agent(env, action))
    # All are paid alike, as in Overcooked: what one does well is shared.
    shaped = sum(info["shaped_reward"].values())
    paid = actors(env, {agent: 0.2 * reward[agent] + shaped for agent in env.agents})
    ended = info["returned_episode"][:, 0]
    figures = {
        "shaped": shaped.sum(),
        "games": ended.sum(),
        "length": (ended * info["returned_episode_lengths"][:, 0]).sum(),
        "early": info["ended_early"][:, 0].sum(),
        "illegal": info["illegal"].sum(),
    }
    return (state, obs), (Sample(seen, avail, action, log_prob, value, paid, actors(env, done)), figures)


def advantages(samples, last_value):
    def backwards(carry, sample):
        following, advantage = carry
        going_on = 1 - sample.done
        error = sample.paid + DISCOUNT * following * going_on - sample.value
        advantage = error + DISCOUNT * TRACE * going_on * advantage
        return (sample.value, advantage), advantage

    return jax.lax.scan(backwards, (last_value, jnp.zeros_like(last_value)), samples, reverse=True)[1]


def loss(network, samples, advantage):
    log_probs, value = apply(network, samples.obs, samples.avail)
    log_prob = jnp.take_along_axis(log_probs, samples.action[..., None], axis=-1)[..., 0]
    ratio = jnp.exp(log_prob - samples.log_prob)
    scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    policy = -jnp.minimum(ratio * scaled, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * scaled).mean()
    entropy = -jnp.where(samples.avail, jnp.exp(log_probs) * log_probs, 0).sum(axis=-1).mean()
    return policy + 0.5 * ((value - samples.value - advantage) ** 2).mean() - ENTROPY * entropy


def train(seed):
    """Returns sums of figures by update, [UPDATES], of training from scratch."""
    env = LogWrapper(make("yokai-9c-2p", memory=True))
    size, actions = env.observation_space("agent_0").shape[0], env.action_space("agent_0").n
    optimiser = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(LEARNING_RATE))

    def update(carry, key):
        network, memory, games = carry
        games, (samples, figures) = jax.lax.scan(
            lambda carry, key: rollout_step(env, network, carry, key), games, jax.random.split(key, STEPS)
        )
        state, obs = games
        last = apply(network, actors(env, obs), actors(env, jax.vmap(env.get_avail_actions)(state.env_state)))[1]
        advantage = advantages(samples, last)

        def epoch(carry, _):
            network, memory = carry
            changes, memory = optimiser.update(jax.grad(loss)(network, samples, advantage), memory)
            return (optax.apply_updates(network, changes), memory), None

        (network, memory), _ = jax.lax.scan(epoch, (network, memory), None, EPOCHS)
        return (network, memory, games), jax.tree.map(lambda values: values.sum(axis=0), figures)

    keys = jax.random.split(jax.random.PRNGKey(seed), 3)
    network = new_network(keys[0], size, actions)
    obs, state = jax.vmap(env.reset)(jax.random.split(keys[1], GAMES))
    carry = network, optimiser.init(network), (state, obs)
    return jax.tree.map(
        np.asarray, jax.jit(lambda c, k: jax.lax.scan(update, c, k))(carry, jax.random.split(keys[2], UPDATES))[1]
    )


@pytest.mark.slow
def test_ippo_on_jaxmarls_interface_learns_what_shaping_pays():
    figures = train(seed=0)
    games = figures["games"]
    early, shaped = figures["early"] / games, figures["shaped"] / games
    assert not figures["illegal"].any()
    assert early[0] > 0.5
    assert early[-10:].max() < 0.05
    # To end no game pays 13.4 a game with random actions; what is above that is learned from what is seen.
    assert shaped[0] < 11
    assert shaped[-10:].mean() > 15
