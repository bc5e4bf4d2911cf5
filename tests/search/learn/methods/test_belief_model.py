from itertools import permutations

import jax
import numpy as np
import pytest

from search.learn.beliefs.belief_model import BeliefModel
from search.learn.beliefs.hidden import UNKNOWN
from search.learn.errors import NetworkConfigError
from search.learn.networks.belief import BeliefConfig

COUNTS = (2, 1, 1)
EVERY = np.array(sorted(set(permutations([0, 0, 1, 2]))))
CONFIG = {"encoder": "mlp", "filters": 8, "layers": 1, "hidden": 8}


@pytest.fixture(scope="module")
def seen():
    return np.random.default_rng(0).normal(size=(3, 2, 2, 2, 3)).astype(np.float32)


def build(seen, **changes):
    model = BeliefModel(BeliefConfig(**CONFIG | changes), COUNTS)
    return model, jax.jit(model.init)(jax.random.key(0), seen)


def probabilities(model, params, features, known):
    """Returns the probability of every assignment, [A]."""
    found = jax.jit(lambda truth: model.log_likelihood(params, features, known, truth))(EVERY)
    return np.exp(np.asarray(found).sum(axis=-1))


@pytest.fixture(scope="module")
def fresh(seen):
    """Returns a model, its first parameters, and how it reads, compiled."""
    model, params = build(seen)
    return model, params, jax.jit(model.read)


@pytest.fixture(scope="module")
def opinionated(seen):
    model, params = build(seen, head_scale=4.0)
    _, features = jax.jit(model.read)(params, model.initial_memory(2), seen, np.zeros((3, 2), bool))
    return model, params, features[-1, 0]


def test_a_fresh_belief_is_uniform_over_consistent_assignments(seen, fresh):
    model, params, read = fresh
    _, features = read(params, model.initial_memory(2), seen, np.zeros((3, 2), bool))
    nothing = np.full(4, UNKNOWN)
    np.testing.assert_allclose(probabilities(model, params, features[-1, 0], nothing), 1 / 12, atol=1e-6)


@pytest.mark.parametrize("known", [[-1, -1, -1, -1], [-1, 2, -1, -1], [-1, -1, 0, -1]])
def test_likelihoods_of_all_consistent_assignments_add_up_to_one(opinionated, known):
    model, params, features = opinionated
    known = np.array(known)
    found = probabilities(model, params, features, known)
    consistent = ((known == UNKNOWN) | (known == EVERY)).all(axis=1)
    assert found[consistent].sum() == pytest.approx(1, abs=1e-5)
    assert found[consistent].std() > 0.01


def test_samples_follow_the_likelihoods(opinionated):
    model, params, features = opinionated
    known = np.array([-1, -1, -1, 0])
    consistent = EVERY[EVERY[:, 3] == 0]
    expected = probabilities(model, params, features, known)[EVERY[:, 3] == 0]
    draws = 4000
    found = jax.jit(model.sample)(
        params, np.broadcast_to(features, (draws, 8)), np.tile(known, (draws, 1)), jax.random.key(1)
    )
    shares = (np.asarray(found)[:, None] == consistent[None]).all(axis=2).mean(axis=0)
    assert shares.sum() == 1
    np.testing.assert_allclose(shares, expected, atol=0.04)


def test_known_slots_cost_nothing(opinionated):
    model, params, features = opinionated
    known = np.array([-1, 2, -1, -1])
    truth = np.array([0, 2, 1, 0])
    found = np.asarray(jax.jit(model.log_likelihood)(params, features, known, truth))
    assert found[1] == 0
    assert (found[[0, 2]] < 0).all()
    assert found[3] == 0, "one kind alone is left for the last slot"
    told = jax.jit(model.cross_entropy)(params, features[None], known[None], truth[None])
    assert (told.unknown, told.positions) == (3, 1)
    assert told.per_slot == pytest.approx(-found.sum() / 3, rel=1e-5)
    assert told.per_position == pytest.approx(-found.sum(), rel=1e-5)


def test_reading_at_once_equals_reading_step_by_step_and_forgets_at_starts(seen, fresh):
    model, params, read = fresh
    starts = np.array([[True, True], [False, False], [True, False]])
    _, at_once = read(params, model.initial_memory(2), seen, starts)
    memory, rows = model.initial_memory(2), []
    for number in range(3):
        memory, features = read(params, memory, seen[number][None], starts[number][None])
        rows.append(features[0])
    np.testing.assert_allclose(at_once, rows, atol=1e-6)
    _, alone = read(params, model.initial_memory(2), seen[2:], starts[2:])
    np.testing.assert_allclose(at_once[2, 0], alone[0, 0], atol=1e-6)
    assert not np.allclose(at_once[2, 1], alone[0, 1])


@pytest.mark.parametrize("changes", [{"encoder": "gru"}, {"hidden": 0}, {"head_scale": -1.0}])
def test_a_belief_network_that_cannot_be_is_refused(changes):
    with pytest.raises(NetworkConfigError, match="a belief's"):
        BeliefConfig(**changes)


def test_settings_survive_json_and_unknown_keys_are_left_out():
    config = BeliefConfig(encoder="mlp", layers=2)
    assert BeliefConfig.from_json(config.to_json() | {"newer": 1}) == config
