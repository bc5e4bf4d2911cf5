"""What leaves the process in which policies learn together: arrays of names, types and shapes that are known."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from arena.cooperation_on_twins.process import TeamProcess
from arena.cooperation_on_twins.served import Team
from arena.cooperation_on_twins.task import TeamTask
from arena.training_on_twins.process import OTHER_FORM
from cwm.twins.compiled import TwinProcess
from cwm.twins.traced import TracedTwin, TwinProblemError
from search.learn import checkpoint
from search.learn.errors import LearnError, PpoConfigError
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.config import PpoConfig

NETWORK = NetworkConfig("mlp", "gru", hidden=2, filters=2, layers=1)
PPO = PpoConfig(total_steps=8, environments=2, steps=2, epochs=1, minibatches=1)
TASK = TeamTask(NETWORK, PPO, max_actions=4, seeds=(0, 1))


@pytest.fixture(scope="module")
def told(echo):
    """Returns a twin's process that answers what it is told to answer."""
    patch = pytest.MonkeyPatch()
    patch.setattr(TwinProcess, "__init__", lambda *_: None)
    process = TeamProcess(TracedTwin(echo[0], {}), TASK)
    patch.undo()

    def answering(answer):
        process.asked = lambda head, arrays, seconds, what, most_bytes: dict(answer)
        return process

    return answering


def arrays_of(shapes):
    """Returns arrays of 0 of the shapes."""

    def zeros(leaf):
        is_key = jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return jax.random.split(jax.random.key(0), 2) if is_key else np.zeros(leaf.shape, leaf.dtype)

    return checkpoint.arrays_of(jax.tree.map(zeros, shapes))


def test_a_state_has_the_arrays_of_its_training_and_finite_parameters(told):
    zeros = arrays_of(told({}).shapes)
    assert np.asarray(told(zeros).begin().updates).tolist() == [0, 0]
    for forged in ({}, zeros | {"more": np.zeros(1)}, zeros | {"updates": np.array([0, 1], np.int32)}):
        with pytest.raises(TwinProblemError, match=OTHER_FORM):
            told(forged).begin()
    name = next(name for name in zeros if name.startswith("learner/params"))
    with pytest.raises(LearnError, match="no finite numbers"):
        told(zeros | {name: np.full_like(zeros[name], np.nan)}).begin()


def test_reports_of_updates_have_the_shapes_of_seeds_and_updates(told):
    process = told({})
    state = {f"state/{name}": array for name, array in arrays_of(process.shapes).items()}
    state["state/updates"] = np.array([3, 3], np.int32)
    report = {
        name: np.zeros((2, 3), np.int32 if name.startswith("episodes/") and name != "episodes/total" else np.float32)
        for name in checkpoint.named_leaves(process._shaped.report_shapes(3))
    }
    good = state | {f"report/{name}": array for name, array in report.items()}
    zeros = arrays_of(process.shapes)
    first = told(zeros).begin()
    _, came = told(good).run(first, 3)
    assert came.episodes.games.shape == (2, 3)
    negative = {"report/episodes/games": np.full((2, 3), -1, np.int32)}
    for forged in (state, good | {"report/losses/total": np.zeros((2, 2), np.float32)}, good | negative):
        told(zeros).begin()
        with pytest.raises(TwinProblemError, match=OTHER_FORM):
            told(forged).run(first, 3)


@pytest.mark.parametrize(
    ("name", "forged"),
    [
        ("total", np.zeros(3, np.float32)),
        ("total", np.full(4, np.nan, np.float32)),
        ("length", np.zeros(4, np.float32)),
        ("more", np.zeros(4, np.float32)),
    ],
)
def test_played_games_are_as_many_as_were_asked_for_and_pay_finite_numbers(told, name, forged):
    good = {"total": np.ones(4, np.float32), "length": np.ones(4, np.int32), "cut": np.zeros(4, bool)}
    assert told(good).play([0, 0], 4, 0).total.tolist() == [1.0] * 4
    with pytest.raises(TwinProblemError):
        told(good | {name: forged}).play([0, 0], 4, 0)


def test_settings_that_cannot_be_shared_out_are_refused_before_a_process_starts(echo):
    ppo = PpoConfig(total_steps=60, environments=6, steps=2, minibatches=4)
    with pytest.raises(PpoConfigError, match="cannot be shared out over 4 minibatches"):
        TeamProcess(TracedTwin(echo[0], {}), TeamTask(NETWORK, ppo, 4, (0,)))


@pytest.mark.slow
def test_a_state_augmented_training_goes_on_from_its_state_as_if_it_had_not_stopped(echo, monkeypatch):
    """Both ends of the pipe, in this process."""
    wanted = replace(TASK, ppo=replace(PPO, total_steps=16), begins=(1, 2), rollouts=2)

    def both_ends():
        monkeypatch.setattr(TwinProcess, "__init__", lambda *_: None)
        process = TeamProcess(TracedTwin(echo[0], {}), wanted)
        team = Team(*echo, TeamTask.from_json(wanted.to_json()), {})
        process.asked = lambda head, arrays, seconds, what, most: getattr(team, head["function"])(head, arrays)
        return process

    process = both_ends()
    state = process.begin()
    for _ in range(2):
        state, _ = process.run(state, 1)
    kept = checkpoint.arrays_of(state)
    assert int(state.buffer.filled) == 8
    whole, _ = process.run(state, 1)
    other = both_ends()
    resumed, _ = other.run(other.resume(checkpoint.state_of(kept, other.shapes, "kept")), 1)
    own, going_on = checkpoint.arrays_of(whole), checkpoint.arrays_of(resumed)
    assert all(np.array_equal(own[name], going_on[name]) for name in own)
    assert any((own[name] != kept[name]).any() for name in own if "/params/" in name)
