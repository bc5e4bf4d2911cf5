"""A toy game on arrays; and a twin that was written by hand, beside a recorded model as a proved one would be."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from arena.pipeline import recorded_models
from cwm.model.bundle import ModelBundle
from cwm.observations.vectors import infer
from cwm.twins.form import ArrayForm, TwinForm
from cwm.twins.proof import ProofConfig
from cwm.twins.stored import StoredTwin, jax_version
from cwm.twins.task import GameSample
from cwm.twins.traced import TwinWorker, sandbox

TWINS = Path(__file__).parents[2] / "data" / "programs" / "twins"
OVER, CHANCE = -4, -1


def init():
    return (jnp.int32(CHANCE), jnp.zeros(3, jnp.int32))


def step(turn, done, index):
    following = jnp.where(turn == CHANCE, 0, jnp.where(turn == 0, 1, OVER))
    return following.astype(jnp.int32), done.at[jnp.where(turn == CHANCE, 2, turn)].set(index)


def look(turn, done):
    paid = jnp.where(turn == OVER, done @ np.array([1, 10, 100], np.int32), 0).astype(jnp.float32)
    seen = jnp.stack([done, done]).astype(jnp.float32)
    chance = jnp.where(turn == CHANCE, jnp.array([0.5, 0.5], jnp.float32), 0.0)
    return turn, jnp.broadcast_to(turn >= 0, (2,)), chance, jnp.stack([paid, -paid]), seen


@pytest.fixture(scope="session")
def coin():
    """Form and functions: a coin falls, each player says 0 or 1; then the second pays the first 1, 10, 100 for them."""
    arrays = ArrayForm("turn", "int32", ()), ArrayForm("done", "int32", (3,))
    return TwinForm(arrays, ("no", "yes"), ("tails", "heads"), 2, 3), {"init": init, "step": step, "look": look}


@pytest.fixture(scope="session")
def twin_folder(tmp_path_factory):
    """A model's folder with a twin beside it that was not proved: whoever trains on it does not look at proofs."""
    folder = tmp_path_factory.mktemp("twin")
    bundle = ModelBundle.load(recorded_models.folder_of("tic_tac_toe"))
    bundle.save(folder)
    source = (TWINS / "tic_tac_toe.py").read_text()
    schema = infer(GameSample.of(bundle.program(), 0, None, games=60).observations)
    with TwinWorker(source, bundle.program(), sandbox(None)) as worker:
        traced = worker.traced(schema.width)
    told = ProofConfig(transitions=1), {}, (), jax_version()
    StoredTwin(source, traced, schema.to_json(), bundle.hash, *told).save(folder)
    return folder
