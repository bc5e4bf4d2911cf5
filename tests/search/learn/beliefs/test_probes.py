import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn.beliefs import probes
from search.learn.beliefs.probes import NOTHING, ProbeConfig, ProbeError

ROWS, WIDTH, CLASSES = 512, 6, 3
CONFIG = ProbeConfig(epochs=12, batch=128, learning_rate=0.05)


@pytest.fixture(scope="module")
def features():
    return jnp.asarray(np.random.default_rng(0).normal(size=(ROWS, WIDTH)), jnp.float32)


@pytest.fixture(scope="module")
def labels(features):
    """Returns labels of three places: the largest of three features, a coin that no feature knows, always 2."""
    coin = np.random.default_rng(1).integers(0, 2, ROWS)
    return jnp.stack([jnp.argmax(features[:, :3], axis=1), jnp.asarray(coin), jnp.full(ROWS, 2)], axis=1)


@pytest.fixture(scope="module")
def trained(features, labels):
    return probes.train(features, labels, CLASSES, jax.random.key(0), CONFIG)


def test_what_is_linear_is_read_and_what_is_absent_is_not(trained):
    fresh = jnp.asarray(np.random.default_rng(2).normal(size=(2000, WIDTH)), jnp.float32)
    coin = np.random.default_rng(3).integers(0, 2, 2000)
    wanted = jnp.stack([jnp.argmax(fresh[:, :3], axis=1), jnp.asarray(coin), jnp.full(2000, 2)], axis=1)
    shares = np.asarray(probes.right(trained, fresh, wanted)).mean(axis=0)
    assert shares[0] > 0.95
    assert 0.45 < shares[1] < 0.55
    assert shares[2] == 1


def test_a_probe_is_trained_as_if_it_were_alone(trained, features, labels):
    others = labels.at[:, 1:].set(0)
    again = probes.train(features, others, CLASSES, jax.random.key(0), CONFIG)
    np.testing.assert_allclose(again.weights[:, 0], trained.weights[:, 0], rtol=1e-5, atol=1e-6)
    assert not np.allclose(again.weights[:, 1], trained.weights[:, 1])


def test_places_without_a_label_teach_nothing(features, labels):
    bare = labels.at[:, 0].set(NOTHING)
    found = probes.train(features, bare, CLASSES, jax.random.key(0), CONFIG)
    assert not np.asarray(found.weights[:, 0]).any()
    assert not np.asarray(probes.right(found, features, bare)[:, 0]).any()


def test_rows_without_any_label_do_not_move_the_scale(features, labels):
    half = labels.at[ROWS // 2 :].set(NOTHING)
    wild = features.at[ROWS // 2 :].set(1000.0)
    found = probes.train(wild, half, CLASSES, jax.random.key(0), CONFIG)
    np.testing.assert_allclose(found.centre, features[: ROWS // 2].mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(found.spread, features[: ROWS // 2].std(axis=0), rtol=1e-4)


def test_a_feature_that_never_changes_is_harmless(features, labels):
    found = probes.train(features.at[:, 5].set(3.0), labels, CLASSES, jax.random.key(0), CONFIG)
    assert found.spread[5] == 1
    assert np.isfinite(found.weights).all()


def test_no_rows_are_refused():
    with pytest.raises(ProbeError, match="need rows"):
        probes.train(jnp.zeros((0, 4)), jnp.zeros((0, 2), int), 2, jax.random.key(0))


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"batch": 0}, {"learning_rate": 0.0}])
def test_settings_that_teach_nothing_are_refused_by_name(wrong):
    with pytest.raises(ProbeError, match=next(iter(wrong))):
        ProbeConfig(**wrong)
