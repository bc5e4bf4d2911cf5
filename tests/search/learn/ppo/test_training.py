import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn.checkpoint import load_training, save_training
from search.learn.errors import PpoConfigError
from search.learn.ppo import ppo
from search.learn.ppo.training import Trainer


def plain(tree):
    """Returns the leaves as NumPy arrays; keys as the numbers they are made of."""
    return [
        np.asarray(jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf)
        for leaf in jax.tree.leaves(tree)
    ]


@pytest.fixture(scope="module")
def config(small_config):
    return small_config(minibatches=1, epochs=1, entropy=0.5, entropy_end=0.1, shaping=2.0, shaping_share=0.4)


@pytest.fixture(scope="module")
def trainer(recall, small_network, config):
    return Trainer(lambda _: recall, small_network("rnn"), config)


@pytest.fixture(scope="module")
def trained(trainer):
    """Returns the reports of the first four updates and the state after them, of one seed."""
    state, first = trainer.run(trainer.init([5]), 2)
    state, second = trainer.run(state, 2)
    reports = jax.tree.map(lambda a, b: np.concatenate([a, b], axis=1), first, second)
    return reports, plain(state)


@pytest.mark.extra("learn")
def test_training_that_is_stored_and_read_goes_on_bit_for_bit(trainer, trained, tmp_path):
    state, _ = trainer.run(trainer.init([5]), 2)
    save_training(tmp_path, state, {})
    read = load_training(tmp_path, jax.eval_shape(lambda: trainer.init([5])))
    state, _ = trainer.run(read, 2)
    for found, expected in zip(plain(state), trained[1], strict=True):
        np.testing.assert_array_equal(found, expected)


def test_coefficients_change_linearly_with_the_updates(trained, config):
    assert config.updates == 10
    reports = trained[0]
    np.testing.assert_allclose(reports.entropy_coefficient, [[0.5, 0.46, 0.42, 0.38]], rtol=1e-6)
    np.testing.assert_allclose(reports.shaping, [[2.0, 1.5, 1.0, 0.5]], rtol=1e-6)


def test_coefficients_stay_at_their_last_values(recall, small_network, small_config, trainer):
    def at(trainer, updates):
        entropy = ppo.annealed_entropy(trainer.config, jnp.int32(updates))
        return float(trainer._shaping(jnp.int32(updates))), float(entropy)

    assert at(trainer, 4) == (0, pytest.approx(0.34))
    assert at(trainer, 10) == at(trainer, 12) == (0, pytest.approx(0.1))
    never = Trainer(lambda _: recall, small_network(), small_config(shaping_share=0.0, entropy=0.25))
    assert at(never, 0) == at(never, 5) == (0, 0.25)


@pytest.mark.slow
def test_seeds_side_by_side_learn_what_each_learns_alone(trainer, trained):
    state, reports = trainer.run(trainer.init([9, 5]), 2)
    state, _ = trainer.run(state, 2)
    for both, alone in zip(plain(state), trained[1], strict=True):
        np.testing.assert_allclose(both[1:], alone, atol=1e-5)
    weights = jax.tree.leaves(state.learner.params)
    assert not any(np.allclose(leaf[0], leaf[1]) for leaf in weights if leaf.any())
    np.testing.assert_allclose(reports.losses.total[1], trained[0].losses.total[0, :2], atol=1e-5)


def test_state_is_float32_when_computing_in_bfloat16(recall, small_network, config):
    trainer = Trainer(lambda _: recall, small_network("rnn", bfloat16=True), config)
    state = jax.eval_shape(lambda: trainer.init([0]))
    after, _ = jax.eval_shape(lambda state: trainer._run(state, (), 1), state)
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), after) == jax.tree.map(
        lambda leaf: (leaf.shape, leaf.dtype), state
    )
    assert not any(leaf.dtype == jnp.bfloat16 for leaf in jax.tree.leaves(state))


def test_devices_that_are_not_there_are_refused(recall, small_network, config):
    expected = "1" if jax.device_count() == 1 else f"1 to {jax.device_count()}"
    with pytest.raises(PpoConfigError, match=f"devices is 99: expected {expected}, as many as JAX finds here"):
        Trainer(lambda _: recall, small_network(), config, devices=99)


TWO_DEVICES = """
import math, re, runpy, sys
import jax, numpy as np
from search.learn.ppo.training import Trainer
from search.learn.ppo.config import PpoConfig
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig

game = runpy.run_path(sys.argv[1])["Recall"]()
network = ActorCritic(NetworkConfig("mlp", "gru", hidden=8, filters=8, layers=1, head_scale=1.0), 3)
config = PpoConfig(total_steps=1280, environments=32, steps=10, epochs=2, minibatches=2)
one, two = (Trainer(lambda _: game, network, config, devices=devices, shares=2) for devices in (1, 2))
"""
LEARNED = """
found = []
for trainer in (one, two):
    state, reports = trainer.run(trainer.init([0]), 4)
    found.append(jax.tree.map(np.asarray, (state.learner.params, reports)))
jax.tree.map(lambda one, two: np.testing.assert_allclose(one, two, atol=1e-5), *found)
assert len(state.runner.starts.sharding.device_set) == 2
assert state.runner.starts.addressable_shards[0].data.shape == (1, 32)
print("equal", int(found[0][1].episodes.games.sum()))
"""
TRAVELLING = """
state = jax.eval_shape(lambda: two.init([0]))
program = two.lowered(state, 1).compile().as_text()
travelling = re.findall(r"= (.*) (?:all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter)\\(", program)
sizes = [math.prod(map(int, shape.split(","))) for text in travelling for shape in re.findall(r"\\[([\\d,]+)\\]", text)]
print(max(sizes), max(leaf.size for leaf in jax.tree.leaves(state.learner.params)))
"""


def on_two_devices(program):
    """Returns what a program prints that sees two devices, and finds a trainer for `one` and one for `two`."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", TWO_DEVICES + program, str(Path(__file__).parents[1] / "conftest.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_two_devices_learn_what_one_learns():
    equal, games = on_two_devices(LEARNED)
    assert equal == "equal"
    assert int(games) > 0


def test_gradients_alone_travel_between_devices():
    travelling, parameters = map(int, on_two_devices(TRAVELLING))
    # A minibatch's observations alone are 10 steps × 32 lanes × 5 numbers.
    assert travelling == parameters < 10 * 32 * 5
