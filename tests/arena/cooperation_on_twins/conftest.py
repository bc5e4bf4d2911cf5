"""A cooperative toy game on arrays: a coin falls, which the second player sees, and both say what they think fell."""

import jax.numpy as jnp
import pytest

from arena.pipeline import recorded_models
from cwm.interface.answers import programs
from cwm.interface.twin import TWIN_FUNCTIONS
from cwm.llm import recordings
from cwm.model.bundle import ModelBundle
from cwm.observations.vectors import infer
from cwm.twins.form import ArrayForm, TwinForm
from cwm.twins.proof import ProofConfig
from cwm.twins.stored import StoredTwin, jax_version
from cwm.twins.task import GameSample
from cwm.twins.traced import TwinWorker, sandbox

OVER, CHANCE = -4, -1
SAID = 2
"""Answers are numbered from 0; 2 stands for none yet."""


def init():
    return jnp.int32(CHANCE), jnp.int32(SAID), jnp.full(2, SAID, jnp.int32)


def step(turn, coin, said, index):
    following = jnp.where(turn == CHANCE, 1, jnp.where(turn == 1, 0, OVER))
    fell = jnp.where(turn == CHANCE, index, coin)
    answer = jnp.where(jnp.arange(2) == turn, index, said)
    return following.astype(jnp.int32), fell.astype(jnp.int32), answer.astype(jnp.int32)


def look(turn, coin, said):
    paid = jnp.where(turn == OVER, (said == coin).sum() - 1, 0).astype(jnp.float32)
    # The second player sees the coin, the first what the second said; both are told as one of two.
    own = jnp.stack([said[1], coin])
    seen = (own[:, None] == jnp.arange(2)).astype(jnp.float32)
    chance = jnp.where(turn == CHANCE, jnp.array([0.5, 0.5], jnp.float32), 0.0)
    return turn, jnp.broadcast_to(turn >= 0, (2,)), chance, jnp.stack([paid, paid]), seen


@pytest.fixture(scope="session")
def echo():
    """Form and functions of it."""
    arrays = ArrayForm("turn", "int32", ()), ArrayForm("coin", "int32", ()), ArrayForm("said", "int32", (2,))
    form = TwinForm(arrays, ("say heads", "say tails"), ("heads", "tails"), 2, 2)
    return form, {"init": init, "step": step, "look": look}


@pytest.fixture(scope="session")
def yokai(tmp_path_factory):
    """The recorded model of Yōkai with its recorded twin beside it, which is not proved here."""
    folder = tmp_path_factory.mktemp("yokai")
    bundle = ModelBundle.load(recorded_models.folder_of("yokai-9c-2p"))
    bundle.save(folder)
    answer = recordings.load("yokai-9c-2p+twin").records[-1].completion.text
    (source,) = programs(answer, TWIN_FUNCTIONS, 1)
    schema = infer(GameSample.of(bundle.program(), 0, None).observations)
    with TwinWorker(source, bundle.program(), sandbox(None)) as worker:
        traced = worker.traced(schema.width)
    told = ProofConfig(transitions=1), {}, (), jax_version()
    StoredTwin(source, traced, schema.to_json(), bundle.hash, *told).save(folder)
    return folder
