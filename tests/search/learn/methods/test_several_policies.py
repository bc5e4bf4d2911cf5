import jax
import numpy as np
import pytest

from search.learn.play import several_policies


@pytest.fixture(scope="module")
def trio(public_private):
    """A network, three sets of its parameters, and observations and memories of five lanes."""
    network = public_private(head_scale=1.0)
    noise = np.random.default_rng(0)
    seen = jax.numpy.asarray(noise.normal(size=(5, 1, 1, 10)), jax.numpy.float32)
    init = jax.jit(network.init)
    policies = [init(jax.random.key(seed), seen[None]) for seed in range(3)]
    return network, policies, seen, noise.normal(size=(5, 16)).astype(np.float32)


def test_every_lane_is_answered_by_its_own_policy(trio):
    network, policies, seen, memory = trio
    which, starts = np.array([2, 0, 1, 2, 0]), np.array([True, False, False, False, False])
    stacked = several_policies.stacked(policies)
    assert several_policies.count(stacked) == 3
    act = jax.jit(lambda *inputs: several_policies.act(network, *inputs))
    after, logits = act(stacked, which, memory, seen, starts)
    apply = jax.jit(network.apply)
    for lane, number in enumerate(which):
        alone, outputs = apply(policies[number], memory, seen[None], starts[None])
        np.testing.assert_allclose(logits[lane], outputs.logits[0, lane], atol=1e-5)
        np.testing.assert_allclose(after[lane], alone[lane], atol=1e-5)


def test_frozen_policies_get_no_gradient(trio):
    network, policies, seen, memory = trio
    stacked = several_policies.stacked(policies)

    def answer(policies, memory):
        which, starts = np.array([2, 0, 1, 2, 0]), np.zeros(5, bool)
        after, logits = several_policies.act(network, policies, which, memory, seen, starts)
        return logits.sum() + after.sum()

    of_policies, of_memory = jax.jit(jax.grad(answer, argnums=(0, 1)))(stacked, memory)
    assert not any(np.asarray(leaf).any() for leaf in jax.tree.leaves(of_policies))
    assert np.asarray(of_memory).any()
