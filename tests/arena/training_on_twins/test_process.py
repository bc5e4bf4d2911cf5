"""What leaves the process in which agents learn: arrays of the names, types and shapes that they must have."""

import jax
import numpy as np
import pytest

from arena.training_on_models.results import Results
from arena.training_on_models.training import network_config
from arena.training_on_twins.learning import SeatTask
from arena.training_on_twins.process import NEVER_MOVES, OTHER_FORM, LearningTwin
from arena.training_on_twins.seats import STUCK, Ended
from cwm.twins.compiled import TwinProcess
from cwm.twins.traced import TracedTwin, TwinProblemError
from search.learn import checkpoint
from search.learn.errors import LearnError
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.losses import Losses

TASK = SeatTask(
    network_config(False, 4), PpoConfig(total_steps=40, environments=4, steps=2, minibatches=2), max_actions=10
)
GOOD = {f"losses/{name}": np.zeros(2, np.float32) for name in Losses._fields} | {
    "ended/games": np.array([4, 0], np.int32),
    "ended/wins": np.array([3, 0], np.int32),
    "ended/losses": np.array([1, 0], np.int32),
    "ended/total": np.array([2, 0], np.float32),
    "ended/cut": np.array([0, 5], np.int32),
    "seconds": np.ones(1, np.float32),
}


def zero_state(process):
    def zeros(leaf):
        is_key = jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return jax.random.key(0) if is_key else np.zeros(leaf.shape, leaf.dtype)

    return jax.tree.map(zeros, process.shapes)


@pytest.fixture(scope="module")
def told(coin):
    """Returns a twin's process that answers what it is told to answer."""
    patch = pytest.MonkeyPatch()
    patch.setattr(TwinProcess, "__init__", lambda *_: None)
    process = LearningTwin(TracedTwin(coin[0], {}), TASK)
    patch.undo()

    def answering(answer):
        process.asked = lambda head, arrays, seconds, what, most_bytes: dict(answer)
        process.begin(0, 0)
        return process

    return answering


def test_updates_are_told_as_losses_and_results(told):
    lot = told(GOOD).run(3, 1.0)
    assert lot.results == [Results(4, 0.75, 0.25, 0.5), Results(0, 0.0, 0.0, 0.0)]
    assert lot.cut == [0, 5]
    assert lot.losses[0] == dict.fromkeys(Losses._fields, 0.0)


@pytest.mark.parametrize(
    "forged",
    [
        {"further": np.zeros(1, np.float32)},
        {"losses/total": np.zeros(4, np.float32)},
        {"losses/total": np.zeros((), np.float32)},
        {"losses/policy": np.zeros(3, np.float32)},
        {"losses/policy": np.zeros(2, np.int32)},
        {"ended/games": np.array([-1, 0], np.int32)},
        {"ended/games": np.array([1, 0], np.float32)},
        {"seconds": np.zeros(2, np.float32)},
        {"seconds": np.full(1, np.nan, np.float32)},
        {"seconds": np.full(1, np.inf, np.float32)},
        {"seconds": np.full(1, -1, np.float32)},
        {"ended/wins": np.array([4, 0], np.int32)},
        {"ended/losses": np.array([2**31 - 1, 0], np.int32)},
    ],
)
def test_an_answer_of_another_form_is_refused(told, forged):
    with pytest.raises(TwinProblemError, match=OTHER_FORM):
        told(GOOD | forged).run(3, 1.0)


def test_a_seat_that_never_moves_ends_the_training(told):
    with pytest.raises(TwinProblemError, match=NEVER_MOVES):
        told(GOOD | {"ended/games": np.array([4, STUCK], np.int32)}).run(3, 1.0)


def test_losses_that_are_not_finite_end_the_training(told):
    with pytest.raises(LearnError, match="not finite"):
        told(GOOD | {"losses/value": np.array([0, np.nan], np.float32)}).run(3, 1.0)


def test_returns_that_are_not_finite_are_refused(told):
    row = {name: np.zeros(1, np.int32) for name in Ended._fields} | {"total": np.full(1, np.inf, np.float32)}
    with pytest.raises(TwinProblemError, match="no finite numbers"):
        told(row).evaluate(0, 10)


def test_a_state_has_the_arrays_of_its_training_and_finite_parameters(told):
    shapes = told({}).shapes
    zeros = {
        name: np.zeros(2, np.uint32) if name == "key" else np.zeros(leaf.shape, leaf.dtype)
        for name, leaf in checkpoint.named_leaves(shapes).items()
    }
    state = told(zeros).state()
    assert jax.tree.map(lambda leaf: leaf.shape, state) == jax.tree.map(lambda leaf: leaf.shape, shapes)
    assert zeros["standing/games/0"].shape == (4,)
    others = [zeros | {"updates": np.array(number, np.int32)} for number in (-1, 1, 10**9)]
    for forged in ({}, zeros | {"more": np.zeros(1)}, zeros | {"updates": np.zeros(3, np.int32)}, *others):
        with pytest.raises(TwinProblemError, match=OTHER_FORM):
            told(forged).state()
    real = [name for name in zeros if name.startswith("learner/") and zeros[name].dtype == np.float32]
    for start in ("learner/params", "learner/optimiser"):
        name = next(name for name in real if name.startswith(start))
        with pytest.raises(LearnError, match="no finite numbers"):
            told(zeros | {name: np.full_like(zeros[name], np.nan)}).state()


def test_no_answer_is_read_that_is_longer_than_it_can_be(told):
    process, most = told(GOOD), []
    process.asked = lambda head, arrays, seconds, what, most_bytes: most.append(most_bytes) or dict(GOOD)
    process.run(2, 1.0)
    assert most == [sum(array.nbytes for array in GOOD.values())]
    zeros = {name: np.asarray(array) for name, array in checkpoint.arrays_of(zero_state(process)).items()}
    process.asked = lambda head, arrays, seconds, what, most_bytes: most.append(most_bytes) or zeros
    process.begin(0, 0)
    process.state()
    assert most[1:] == [0, sum(array.nbytes for array in zeros.values())]
