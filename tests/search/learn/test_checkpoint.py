import json
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn import checkpoint
from search.learn.errors import CheckpointError


class Everything(NamedTuple):
    params: dict
    key: jax.Array
    count: jax.Array
    pair: tuple


@pytest.fixture
def params():
    noise = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    return {"encoder": {"layer_0": {"kernel": noise, "bias": noise[0]}}, "critic": {"kernel": noise.T}}


@pytest.fixture
def state(params):
    return Everything(
        jax.tree.map(jnp.asarray, params), jax.random.key(5), jnp.int32(7), ((), jnp.array([True, False]))
    )


def equal(one, other):
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert a.dtype == b.dtype
        if jnp.issubdtype(a.dtype, jax.dtypes.prng_key):
            a, b = jax.random.key_data(a), jax.random.key_data(b)
        np.testing.assert_array_equal(a, b)
        assert a.shape == b.shape


def test_policy_and_what_it_says_of_itself_come_back(tmp_path, params):
    checkpoint.save_policy(tmp_path / "new", params, {"game": "x", "seed": 3})
    equal(checkpoint.load_policy(tmp_path / "new"), params)
    assert checkpoint.load_about(tmp_path / "new") == {"format": 1, "game": "x", "seed": 3}


def test_half_precision_is_read_as_float32(tmp_path, params):
    checkpoint.save_policy(tmp_path, params, {}, half=True)
    equal(
        checkpoint.load_policy(tmp_path), jax.tree.map(lambda leaf: leaf.astype(np.float16).astype(np.float32), params)
    )


def test_training_comes_back_with_keys_and_single_numbers(tmp_path, state):
    assert not checkpoint.has_training(tmp_path)
    checkpoint.save_training(tmp_path, state, {"seed": 1})
    assert checkpoint.has_training(tmp_path)
    equal(checkpoint.load_training(tmp_path, state), state)
    equal(checkpoint.load_training(tmp_path, jax.eval_shape(lambda: state)), state)


def test_keys_of_another_kind_come_back(tmp_path):
    keys = jax.random.split(jax.random.key(5, impl="rbg"), 3)
    checkpoint.save_training(tmp_path, {"key": keys}, {})
    equal(checkpoint.load_training(tmp_path, {"key": keys})["key"], keys)


def test_writing_again_replaces_what_was_there_and_leaves_nothing_beside(tmp_path, state):
    checkpoint.save_training(tmp_path, state, {})
    later = state._replace(count=jnp.int32(8))
    checkpoint.save_training(tmp_path, later, {})
    equal(checkpoint.load_training(tmp_path, state), later)
    assert [path.name for path in tmp_path.iterdir()] == [checkpoint.TRAINING]


def test_training_of_other_arrays_is_refused(tmp_path, state):
    checkpoint.save_training(tmp_path, state, {})
    with pytest.raises(CheckpointError, match=r"count is int32\[\], expected int32\[2\]"):
        checkpoint.load_training(tmp_path, state._replace(count=jnp.zeros(2, jnp.int32)))
    with pytest.raises(CheckpointError, match=r"params/more is in one of both alone"):
        checkpoint.load_training(tmp_path, state._replace(params=state.params | {"more": jnp.zeros(1)}))


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (jax.random.key(5, impl="rbg"), r"key is uint32\[4\], expected uint32\[2\]"),
        (jnp.zeros(2), r"key is float32\[2\], expected uint32\[2\]"),
    ],
)
def test_a_key_that_is_none_of_the_kind_is_refused(tmp_path, stored, message):
    checkpoint.save_training(tmp_path, {"key": stored}, {})
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load_training(tmp_path, {"key": jax.random.key(0)})


def test_policy_of_another_network_is_refused(tmp_path, params):
    checkpoint.save_policy(tmp_path, params, {})
    equal(checkpoint.load_policy(tmp_path, params), params)
    with pytest.raises(CheckpointError, match="critic/kernel is in one of both alone"):
        checkpoint.load_policy(tmp_path, {"encoder": params["encoder"]})
    wider = params | {"critic": {"kernel": jax.ShapeDtypeStruct((4, 5), jnp.float32)}}
    with pytest.raises(CheckpointError, match=r"critic/kernel is \[4, 3\], expected \[4, 5\]"):
        checkpoint.load_policy(tmp_path, wider)


def test_damaged_or_missing_files_are_named(tmp_path, params):
    with pytest.raises(CheckpointError, match="No checkpoint can be read"):
        checkpoint.load_about(tmp_path)
    with pytest.raises(CheckpointError, match=r"policy\.safetensors cannot be read"):
        checkpoint.load_policy(tmp_path)
    checkpoint.save_policy(tmp_path, params, {})
    whole = (tmp_path / checkpoint.POLICY).read_bytes()
    (tmp_path / checkpoint.POLICY).write_bytes(whole[:-5])
    with pytest.raises(CheckpointError, match=r"policy\.safetensors cannot be read"):
        checkpoint.load_policy(tmp_path)
    (tmp_path / checkpoint.ABOUT).write_text(json.dumps({"format": 99}))
    with pytest.raises(CheckpointError, match="has format 99; this version reads 1"):
        checkpoint.load_about(tmp_path)


def test_arrays_that_cannot_be_written_leave_what_was_there(tmp_path, state):
    checkpoint.save_training(tmp_path, state, {"updates": 1})
    before = (tmp_path / checkpoint.TRAINING).read_bytes()
    (tmp_path / "training.safetensors.partial").mkdir()
    with pytest.raises(CheckpointError, match=r"training\.safetensors cannot be written .*make room"):
        checkpoint.save_training(tmp_path, state, {"updates": 2})
    assert (tmp_path / checkpoint.TRAINING).read_bytes() == before


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_fails_at_the_last_step_is_named(tmp_path, params, monkeypatch, call):
    def full(*given):
        raise OSError(28, "No space left on device")

    checkpoint.save_policy(tmp_path, params, {"name": "old"})
    monkeypatch.setattr(checkpoint.os, call, full)
    with pytest.raises(CheckpointError, match=r"policy\.safetensors cannot be written .*No space left"):
        checkpoint.save_policy(tmp_path, params, {"name": "new"})
    assert checkpoint.load_about(tmp_path)["name"] == "old"


def test_a_description_that_cannot_be_written_is_named(tmp_path, params):
    (tmp_path / f"{checkpoint.ABOUT}.partial").mkdir()
    with pytest.raises(CheckpointError, match=r"config\.json cannot be written .*make room"):
        checkpoint.save_policy(tmp_path, params, {})


def test_whoever_may_read_the_folder_may_read_its_arrays(tmp_path, params):
    checkpoint.save_policy(tmp_path, params, {"name": "a"})
    plain = tmp_path / "plain"
    plain.touch()
    assert (tmp_path / checkpoint.POLICY).stat().st_mode == plain.stat().st_mode


def test_parameters_that_are_not_finite_are_refused(tmp_path, params):
    broken = params | {"critic": {"kernel": jnp.full((4, 3), jnp.inf)}}
    checkpoint.save_policy(tmp_path, broken, {})
    with pytest.raises(CheckpointError, match="holds numbers that are not finite"):
        checkpoint.load_policy(tmp_path)
