"""Where a training at a seat of a twin begins."""

import numpy as np

from arena.training_on_models.training import network_config
from arena.training_on_twins.learning import ITSELF, SeatLearner, SeatTask
from search.learn import checkpoint
from search.learn.ppo.config import PpoConfig

TASK = SeatTask(
    network_config(False, 2),
    PpoConfig(total_steps=4, environments=2, steps=1, minibatches=1),
    max_actions=4,
    others=ITSELF,
)


def test_who_learns_with_itself_begins_alike_whichever_seat_is_asked_for_first(coin):
    learner = SeatLearner(*coin, TASK)
    first, second = (checkpoint.arrays_of(learner.begin(np.uint32(5), np.int32(seat), ())) for seat in (0, 1))
    assert first["key"].any()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name])
