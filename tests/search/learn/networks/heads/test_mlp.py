import numpy as np
import pytest

from search.learn.errors import NetworkConfigError
from search.learn.networks.heads.mlp import Mlp, one_of


def test_layers_read_the_flattened_observation(rng, ready):
    seen = rng.normal(size=(2, 3, 2, 2)).astype(np.float32)
    params, apply = ready(Mlp(width=5, layers=2, rank=2), seen)
    hidden = seen.reshape(2, 3, 4)
    for layer in range(2):
        weights = params["params"][f"linear_{layer}"]
        hidden = np.tanh(hidden @ weights["kernel"] + weights["bias"])
    np.testing.assert_allclose(apply(params, seen), hidden, atol=1e-5)


def test_whole_numbers_are_read_as_one_of_those_that_a_place_may_hold():
    found = one_of(np.array([[-1.0, 2.0], [1.0, 0.0], [5.0, 3.0]]), ((-1, 3), (0, 3)))
    assert found.tolist() == [[1, 0, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0], [0] * 6]


def test_observations_of_other_places_are_refused():
    with pytest.raises(NetworkConfigError, match="values_of tells of 1 places, but observations have 2"):
        one_of(np.zeros((1, 2)), ((0, 3),))
