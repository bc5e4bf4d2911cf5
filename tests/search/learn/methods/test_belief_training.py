import jax
import numpy as np
import pytest

from search.learn import checkpoint
from search.learn.beliefs.belief_model import BeliefModel
from search.learn.beliefs.belief_training import BeliefTrainer, BeliefTrainingConfig
from search.learn.errors import OffBeliefError
from search.learn.networks.belief import BeliefConfig
from search.learn.networks.heads.uniform import UniformPolicy

from .conftest import COUNTS, Bits, BitSlots, Scripted

SETTINGS = {"total_steps": 32 * 6 * 40, "environments": 32, "steps": 6, "minibatches": 2, "learning_rate": 0.01}


def trainer(policy, **changes):
    belief = BeliefModel(BeliefConfig("mlp", 16, 1, 16), COUNTS)
    env, slots = Bits(seer=0), BitSlots(seers=(0,))
    return BeliefTrainer(lambda context: env, slots, policy, belief, BeliefTrainingConfig(**SETTINGS | changes))


@pytest.fixture(scope="module")
def truthful():
    """A belief trained on players of whom the one who sees the bit says it, and its cross-entropies."""
    training = trainer(Scripted())
    state, found = training.run(training.init([0, 1]), {}, 40)
    return training, state, found


def test_words_that_tell_the_truth_are_believed(truthful):
    _, _, found = truthful
    per_slot = np.asarray(found.per_slot)
    assert per_slot.shape == (2, 40)
    np.testing.assert_allclose(per_slot[:, 0], np.log(2) / 2, atol=0.05)
    untold = np.log(2) / 2 / 3
    """Of both players' positions in three steps, one where the bit has not been said to who does not see it."""
    np.testing.assert_allclose(np.asarray(found.per_position)[:, -1], untold, rtol=0.15)


def test_words_of_random_players_say_nothing():
    training = trainer(UniformPolicy(3))
    _, found = training.run(training.init([0]), {}, 40)
    np.testing.assert_allclose(np.asarray(found.per_slot)[0, -10:].mean(), np.log(2) / 2, atol=0.03)


def test_seeds_are_trained_apart(truthful):
    _, state, found = truthful
    assert not np.array_equal(found.total[0], found.total[1])
    np.testing.assert_array_equal(state.updates, [40, 40])


@pytest.mark.slow
def test_a_training_that_was_stored_goes_on_bit_for_bit(tmp_path):
    training = trainer(Scripted())
    state, _ = training.run(training.init([5]), {}, 2)
    checkpoint.save_training(tmp_path, state, {})
    loaded = checkpoint.load_training(tmp_path, training.init([5]))
    one, two = training.run(state, {}, 2), training.run(loaded, {}, 2)
    jax.tree.map(np.testing.assert_array_equal, one[0].params, two[0].params)
    jax.tree.map(np.testing.assert_array_equal, one[1], two[1])


def test_lanes_that_cannot_be_shared_out_are_refused():
    with pytest.raises(OffBeliefError, match="64 sequences"):
        trainer(Scripted(), minibatches=3).init([0])


@pytest.mark.parametrize("changes", [{"steps": 0}, {"learning_rate": 0.0}, {"epochs": 1.5}, {"total_steps": 10}])
def test_settings_out_of_range_are_refused(changes):
    with pytest.raises(OffBeliefError, match=f"a belief's {next(iter(changes))} is"):
        BeliefTrainingConfig(**SETTINGS | changes)
    assert BeliefTrainingConfig.from_json(BeliefTrainingConfig().to_json() | {"newer": 1}) == BeliefTrainingConfig()
