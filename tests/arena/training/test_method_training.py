"""Methods that are more than self-play: each is stopped and goes on to the same end, and leaves policies to play with.

The quick tests put counting in the place of learning, so that what follows from what is known exactly; the slow ones
train tiny networks.
"""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
from safetensors.numpy import load_file

from arena import cli
from arena.policy_play import cross_play
from arena.training import (
    fictitious_co_play,
    method_training,
    off_belief_levels,
    off_belief_run,
    state_augmented,
    training_log,
    training_run,
)
from arena.training.recipes import Recipe, RecipeError, adapted, belief_settings, recipe
from arena.training.training_run import TrainingError, TrainingPlan
from cwm.storage.journal import RunLockedError
from games.batched.wrappers import no_episodes
from games.batched.yokai.environment import make
from search.learn import checkpoint
from search.learn.beliefs.belief_model import CrossEntropy
from search.learn.errors import DivergedError, LearnError
from search.learn.methods import augmented
from search.learn.methods.state_buffer import StateBuffer
from search.learn.ppo.losses import Losses
from search.learn.ppo.ppo import Learner
from search.learn.ppo.training import UpdateReport

GAME = "yokai-8c-2p"
NETWORK = {"encoder": "mlp", "filters": 8, "layers": 1, "hidden": 8}
PPO = {"environments": 4, "steps": 4, "epochs": 1, "minibatches": 2}
STEPS = 16
"""Environment steps of an update."""


def tiny(method: str, updates: int = 2, level: int = 1, **own: object) -> Recipe:
    """Returns a recipe of a tiny network."""
    made = recipe(GAME, method, "reduced", level=level)
    return adapted(made, NETWORK, {**PPO, "total_steps": STEPS * updates}, **own)


def in_pieces(plan: TrainingPlan) -> int:
    """Trains with a stop after every piece; returns how often it had to be started."""
    for times in range(1, 200):
        if method_training.train(plan, 0.0, lambda standing: None):
            return times
    raise AssertionError("it does not come to an end")


def parameters(folder: Path) -> list[np.ndarray]:
    return jax.tree.leaves(checkpoint.load_policy(folder))


def assert_same_policy(one: Path, other: Path) -> None:
    for left, right in zip(parameters(one), parameters(other), strict=True):
        np.testing.assert_array_equal(left, right)
    assert checkpoint.load_about(one) == checkpoint.load_about(other)


def told(folder: Path, method: str) -> list[dict[str, Any]]:
    """Returns what the policies of a training say of themselves."""
    return [checkpoint.load_about(path.parent) for path in sorted(folder.glob(f"{method}-s*/{checkpoint.ABOUT}"))]


def sum_of(folder: Path) -> float:
    return float(checkpoint.load_policy(folder)["sum"])


class Counted(NamedTuple):
    """State of a training whose parameters begin as its seeds."""

    params: dict[str, jax.Array]
    updates: jax.Array

    @property
    def learner(self) -> Learner:
        return Learner(self.params, ())


@cache
def episodes_of_yokai():
    return no_episodes(make(GAME))


class Counting:
    """Stands in for a trainer: an update adds 1 to all parameters, and the sum of all that it learns from."""

    def __init__(self, *given: object, **named: object) -> None:
        pass

    def init(self, seeds, context=()):
        return Counted({"sum": np.asarray(seeds, np.float32)}, np.zeros(len(seeds), np.int32))

    def count(self, state, updates, context):
        each = 1 + sum(float(np.asarray(leaf).sum()) for leaf in jax.tree.leaves(context))
        return Counted({"sum": np.asarray(state.params["sum"] + np.float32(updates * each))}, state.updates + updates)

    def run(self, state, updates, context=()):
        shape = len(state.updates), updates
        episodes = jax.tree.map(lambda _: np.ones(shape, np.float32), episodes_of_yokai())
        report = UpdateReport(Losses(*np.zeros((6, *shape))), episodes, np.zeros(shape), np.zeros(shape))
        return self.count(state, updates, context), report


class CountingBelief(Counting):
    """Stands in for the trainer of a belief."""

    def run(self, state, players, updates):
        return self.count(state, updates, players), CrossEntropy(*np.full((3, 1, 1), 2.0, np.float32))


@pytest.fixture
def counting(monkeypatch):
    """Puts counting in the place of training; a buffer of states holds the sum of the policies that filled it."""

    def fill(env, network, params, rollouts, steps, key):
        return StateBuffer(params["sum"].sum(), np.ones((), np.int32))

    monkeypatch.setattr(training_run, "trainer_of", Counting)
    monkeypatch.setattr(fictitious_co_play, "response_trainer", Counting)
    monkeypatch.setattr(off_belief_levels, "belief_trainer", CountingBelief)
    monkeypatch.setattr(off_belief_levels, "policy_trainer", Counting)
    monkeypatch.setattr(augmented, "Trainer", Counting)
    monkeypatch.setattr(augmented.state_buffer, "fill", fill)
    empty = StateBuffer(np.zeros((), np.float32), np.zeros((), np.int32))
    monkeypatch.setattr(augmented.state_buffer, "empty", lambda env, room: empty)


def test_iterations_begin_after_every_tenth_of_the_training():
    assert state_augmented.iterations(tiny("sa", 12)) == {2, 3, 4, 5, 6, 8, 9, 10, 11}
    assert state_augmented.iterations(tiny("sa", 4000)) == set(range(400, 4000, 400))
    assert state_augmented.iterations(tiny("sa", 2)) == {1}


def test_the_first_iteration_begins_where_untrained_policies_come_to_if_asked_for(counting, tmp_path):
    made = tiny("sa", 12, rollouts=10, untrained_start=True)
    assert state_augmented.iterations(made) == {0, 2, 3, 4, 5, 6, 8, 9, 10, 11}
    plan = TrainingPlan(made, (0, 3), tmp_path)
    assert method_training.train(plan, None, lambda standing: None)
    sums, buffered = [0, 3], 0
    for update in range(12):
        if update in {0, 2, 3, 4, 5, 6, 8, 9, 10, 11}:
            buffered = sum(sums) + 1
        sums = [one + 1 + buffered for one in sums]
    assert [sum_of(tmp_path / name) for name in ("sa-s0", "sa-s3")] == sums
    about = checkpoint.load_about(tmp_path / "sa-s0")
    assert (about["rollouts"], about["untrained_start"]) == (10, True)


def test_state_augmented_policies_learn_from_the_buffer_of_their_iteration(counting, tmp_path):
    heard = []
    plan = TrainingPlan(tiny("sa", 12), (0, 3), tmp_path)
    assert method_training.train(plan, None, heard.append)
    sums, buffered = [0, 3], 0
    for update in range(12):
        if update in {2, 3, 4, 5, 6, 8, 9, 10, 11}:
            buffered = sum(sums) + 1
        sums = [one + 1 + buffered for one in sums]
    assert [sum_of(tmp_path / name) for name in ("sa-s0", "sa-s3")] == sums
    assert [(standing.steps, standing.total) for standing in heard] == [(STEPS * n, STEPS * 12) for n in range(1, 13)]


def test_state_augmented_training_that_is_stopped_after_every_piece_comes_to_the_same_end(counting, tmp_path):
    whole = TrainingPlan(tiny("sa", 12), (0, 3), tmp_path / "whole")
    parts = TrainingPlan(tiny("sa", 12), (0, 3), tmp_path / "parts")
    assert method_training.train(whole, None, lambda standing: None)
    assert in_pieces(parts) == 12
    for name in ("sa-s0", "sa-s3"):
        assert_same_policy(whole.folder / name, parts.folder / name)
    lines = training_log.read(parts.folder)
    assert [(line["steps"], line["seed"]) for line in lines] == [(STEPS * n, s) for n in range(1, 13) for s in (0, 3)]


def test_best_response_learns_from_every_member_at_three_ages(counting, tmp_path):
    heard = []
    plan = TrainingPlan(tiny("fcp", 12, population=2), (0, 1), tmp_path)
    assert method_training.train(plan, None, heard.append)
    for seed in (0, 1):
        first = 1000 * seed
        population = tmp_path / f"population-s{seed}"
        kept = {f"sp-s{m}{age}": m + n for m in (first, first + 1) for age, n in (("-age1", 2), ("-age2", 6), ("", 12))}
        assert {path.name: sum_of(path) for path in population.glob("sp-*")} == kept
        assert checkpoint.load_about(population / f"sp-s{first}-age2")["steps"] == 6 * STEPS
        assert sum_of(tmp_path / f"fcp-s{seed}") == seed + 12 * (1 + sum(kept.values()))
    assert [standing.steps for standing in heard] == [STEPS * n for n in range(1, 49)]
    assert {standing.total for standing in heard} == {STEPS * 48}
    assert heard[0].stage == "population of 2 for fcp-s0"
    assert heard[-1].stage == "fcp-s1"
    assert [(about["name"], about["method"], about["population"]) for about in told(tmp_path, "fcp")] == [
        ("fcp-s0", "fcp", 2),
        ("fcp-s1", "fcp", 2),
    ]


def test_fictitious_co_play_that_is_stopped_after_every_piece_comes_to_the_same_end(counting, tmp_path):
    whole = TrainingPlan(tiny("fcp", 4, population=2), (1,), tmp_path / "whole")
    parts = TrainingPlan(tiny("fcp", 4, population=2), (1,), tmp_path / "parts")
    assert method_training.train(whole, None, lambda standing: None)
    assert in_pieces(parts) == 8
    assert_same_policy(whole.folder / "fcp-s1", parts.folder / "fcp-s1")
    assert [line["steps"] for line in training_log.read(parts.folder / "fcp-s1")] == [16, 32, 48, 64]


def test_off_belief_levels_of_several_seeds_are_one_training(counting, tmp_path):
    heard = []
    plan = TrainingPlan(tiny("obl", 4), (1, 2), tmp_path / "whole")
    assert method_training.train(plan, None, heard.append)
    # A belief is trained half as long.
    assert off_belief_run.stages(plan) == {"belief-0": 2 * STEPS, "obl1": 4 * STEPS}
    assert [standing.steps for standing in heard] == [STEPS * n for n in range(1, 13)]
    assert {standing.total for standing in heard} == {12 * STEPS}
    assert [standing.stage for standing in heard[:3]] == ["belief-0-s1", "belief-0-s1", "obl1-s1"]
    assert heard[0].reports == [{"cross_entropy": 1.0, "cross_entropy_of_all": 1.0}]
    parts = TrainingPlan(plan.recipe, plan.seeds, tmp_path / "parts")
    assert in_pieces(parts) < 20
    for seed in (1, 2):
        assert_same_policy(plan.folder / f"obl1-s{seed}", parts.folder / f"obl1-s{seed}")
        lines = training_log.read(parts.folder / f"obl1-s{seed}")
        assert [(line["steps"], line["seed"], line["R"]) for line in lines] == [
            (16 * n, seed, 1.0) for n in range(1, 5)
        ]
    assert [(about["name"], about["method"]) for about in told(plan.folder, "obl1")] == [
        ("obl1-s1", "obl1"),
        ("obl1-s2", "obl1"),
    ]


def test_exact_belief_spares_the_first_learned_one(counting, tmp_path):
    plan = TrainingPlan(tiny("obl", 2, exact_belief=True), (0,), tmp_path)
    assert list(off_belief_run.stages(plan)) == ["obl1"]
    assert method_training.train(plan, None, lambda standing: None)
    assert not (tmp_path / "belief-0-s0").exists()
    assert checkpoint.load_about(tmp_path / "obl1-s0")["exact_belief"] is True


@pytest.mark.parametrize(("method", "name"), [("sp", "sp"), ("sa", "sa"), ("fcp", "fcp"), ("obl", "obl1")])
def test_policies_are_kept_at_the_ends_of_equal_parts(method, name, counting, tmp_path):
    own = {"population": 2} if method == "fcp" else {}
    whole = TrainingPlan(tiny(method, 10, **own), (0, 1), tmp_path / "whole", snapshots=4)
    parts = TrainingPlan(tiny(method, 10, **own), (0, 1), tmp_path / "parts", snapshots=4)
    assert method_training.train(whole, None, lambda standing: None)
    in_pieces(parts)
    for folder in (whole.folder, parts.folder):
        kept = {(path.parent.name, path.name): path for path in folder.glob("**/snapshots/*/*")}
        assert set(kept) == {(str(STEPS * n), f"{name}-s{seed}") for n in (3, 5, 8) for seed in (0, 1)}
        for (steps, _), path in kept.items():
            assert checkpoint.load_about(path)["steps"] == int(steps)
    for path in whole.folder.glob("**/snapshots/*/*"):
        assert_same_policy(path, parts.folder / path.relative_to(whole.folder))


@pytest.mark.parametrize(("method", "name"), [("sp", "sp-s0"), ("obl", "obl1-s0")])
def test_a_snapshot_that_an_interruption_prevented_is_written_when_the_training_goes_on(
    method, name, counting, tmp_path
):
    plan = TrainingPlan(tiny(method, 10, **({"exact_belief": True} if method == "obl" else {})), (0, 1), tmp_path)
    for _ in range(3):
        assert not method_training.train(plan, 0.0, lambda standing: None)
    assert not (tmp_path / "snapshots").exists()
    method_training.train(replace(plan, snapshots=4), 0.0, lambda standing: None)
    assert checkpoint.load_about(tmp_path / "snapshots" / str(3 * STEPS) / name)["steps"] == 3 * STEPS


def test_the_command_says_whether_policies_were_kept_on_the_way(counting, cwm, tmp_path):
    words = ("train", "yokai", GAME, "--scale", "reduced", "--steps", str(4 * 3072), "--out")
    assert f"curves: cwm train curves {tmp_path / 'one'}" in cwm(*words, str(tmp_path / "one"), "--snapshots", "2").err
    assert "curves" not in cwm(*words, str(tmp_path / "two")).err
    assert "no policies were kept on the way" in cwm(*words, str(tmp_path / "two"), "--snapshots", "2").err


@pytest.mark.parametrize("snapshots", [1, 5])
def test_snapshots_that_are_not_on_the_way_are_refused(snapshots, tmp_path):
    with pytest.raises(TrainingError, match=f"{snapshots} snapshots were asked for: give 2 parts or more"):
        TrainingPlan(tiny("sp", 4), (0,), tmp_path, snapshots=snapshots)


def test_off_belief_learning_with_other_targets_is_another_training(counting, tmp_path):
    plan = TrainingPlan(tiny("obl", 2, exact_belief=True), (0,), tmp_path)
    method_training.train(plan, 0.0, lambda standing: None)
    told = json.loads((tmp_path / training_run.RUN).read_text())
    assert told["recipe"].pop("fictitious_decay") == 0.95
    (tmp_path / training_run.RUN).write_text(json.dumps(told))
    with pytest.raises(TrainingError, match="holds another training"):
        method_training.train(plan, None, lambda standing: None)


def test_beliefs_are_trained_on_as_many_games_as_the_policies():
    small = belief_settings(recipe(GAME, "obl", "reduced"))[1]
    assert (small.total_steps, small.environments, small.steps) == (750_000, 128, 24)
    paper = belief_settings(recipe("yokai-9c-2p", "obl"))[1]
    assert (paper.total_steps, paper.environments, paper.steps) == (50_000_000, 256, 128)


def test_folder_of_another_training_is_refused(counting, tmp_path):
    plan = TrainingPlan(tiny("fcp", 2, population=1), (0,), tmp_path)
    assert not method_training.train(plan, 0.0, lambda standing: None)
    with pytest.raises(TrainingError, match="holds another training"):
        method_training.train(TrainingPlan(tiny("fcp", 2, population=2), (0,), tmp_path), None, lambda standing: None)


@pytest.mark.parametrize(("method", "name"), [("sp", "sp-s1"), ("sa", "sa-s1"), ("fcp", "sp-s1"), ("obl", "obl1-s0")])
def test_training_that_diverges_is_stopped_and_keeps_its_last_good_state(method, name, counting, tmp_path, monkeypatch):
    def diverge(self, state, updates, context=()):
        later, report = run(self, state, updates, context)
        largest = later.params["sum"] == later.params["sum"].max()
        bad = np.where((later.updates[0] > 2) & largest, np.nan, 0.0)
        losses = report.losses._replace(value=report.losses.value + bad[:, None])
        return Counted({"sum": later.params["sum"]}, later.updates), report._replace(losses=losses)

    plan = TrainingPlan(tiny(method, 4, **({"population": 2} if method == "fcp" else {})), (0, 1), tmp_path)
    run = Counting.run
    monkeypatch.setattr(Counting, "run", diverge)
    monkeypatch.setattr(training_run, "CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(off_belief_levels, "CHECKPOINT_SECONDS", -1.0)
    with pytest.raises(DivergedError, match=f"training of {name} diverged: value is nan after 3 updates"):
        method_training.train(plan, None, lambda standing: None)
    kept = list(tmp_path.rglob(checkpoint.TRAINING))
    assert kept
    for path in kept:
        (updates,) = (array for name, array in load_file(path).items() if name.endswith("updates"))
        assert updates.max() <= 2


@pytest.mark.parametrize("method", ["sp", "sa", "fcp", "obl"])
def test_folder_in_which_somebody_trains_is_refused_until_the_end(method, counting, tmp_path):
    plan = TrainingPlan(tiny(method), (0, 1), tmp_path)

    def train_beside(standing):
        with pytest.raises(RunLockedError, match="is open already in this process"):
            method_training.train(plan, None, lambda standing: None)

    assert method_training.train(plan, None, train_beside)
    assert method_training.train(plan, None, lambda standing: None)


def test_folder_that_another_training_claims_meanwhile_is_left_to_it(tmp_path, monkeypatch):
    other = TrainingPlan(tiny("sp"), (5,), tmp_path)
    own = training_run.trainer_of

    def claimed_meanwhile(*given):
        monkeypatch.setattr(training_run, "trainer_of", own)
        training_run.claim(other)
        return own(*given)

    monkeypatch.setattr(training_run, "trainer_of", claimed_meanwhile)
    with pytest.raises(TrainingError, match="holds another training"):
        method_training.train(TrainingPlan(tiny("sp"), (0,), tmp_path), None, lambda standing: None)
    assert training_run.read_plan(tmp_path) == (other.recipe, other.seeds)
    assert not checkpoint.has_training(tmp_path)


@pytest.mark.parametrize(
    ("method", "changed", "message"),
    [
        ("sp", {"environments": 3}, "3 sequences"),
        ("fcp", {"environments": 3}, "3 sequences"),
        ("sa", {"environments": 3}, "3 sequences"),
    ],
)
def test_settings_with_which_nothing_can_be_trained_claim_no_folder(method, changed, message, tmp_path):
    made = adapted(recipe(GAME, method, "reduced"), NETWORK, {**PPO, **changed, "minibatches": 4})
    with pytest.raises(LearnError, match=message):
        method_training.train(TrainingPlan(made, (0, 1), tmp_path), None, lambda standing: None)
    with pytest.raises(LearnError, match="devices is 999"):
        method_training.train(TrainingPlan(tiny(method), (0, 1), tmp_path, devices=999), None, lambda standing: None)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["[1]", '{"recipe": [], "seeds": [0]}', '{"recipe"', '{"game": "tic_tac_toe"}'])
def test_folder_of_something_else_is_refused_and_left_alone(text, tmp_path):
    (tmp_path / training_run.RUN).write_text(text)
    with pytest.raises(TrainingError, match="tells of no training that was begun here"):
        method_training.train(TrainingPlan(tiny("sp"), (0,), tmp_path), None, lambda standing: None)
    assert (tmp_path / training_run.RUN).read_text() == text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "sa"), "there is one seed, 0: give at least two by --seeds, e.g. 0,1"),
        (("--method", "sp", "--exact-belief"), "--exact-belief is of the method obl, not of sp"),
        (("--method", "obl", "--population", "3"), "--population is of the method fcp, not of obl"),
        (("--method", "sp", "--level", "3"), "--level is of the method obl, not of sp"),
        (("--method", "sp", "--entropy", "inf"), "--entropy is inf: give a finite number"),
        (("--steps", str(10**18)), "more than it counts (2,147,483,648): train for fewer steps"),
        (("--method", "fcp", "--population", "1001"), "Invalid value for '--population'"),
        (("--seeds", "0,00"), "--seeds is '0,00': give different whole numbers from 0 to 999999"),
        (("--seeds", str(10**30)), "give different whole numbers from 0 to 999999"),
        (("--seeds", "-1"), "give different whole numbers"),
        (("--method", "obl", "--devices", "2"), "obl is trained on one accelerator, not on 2"),
    ],
)
def test_settings_that_do_not_fit_the_method_are_refused(words, message, tmp_path, capsys):
    assert cli.run(["train", "yokai", GAME, "--scale", "reduced", "--out", str(tmp_path), *words]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


def test_recipes_that_cannot_be_are_refused():
    with pytest.raises(RecipeError, match="the exact belief is of obl alone"):
        tiny("sp", exact_belief=True)
    with pytest.raises(RecipeError, match="a population of 0"):
        tiny("fcp", population=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "seeds", "names"),
    [
        (tiny("sa"), (0, 3), ["sa-s0", "sa-s3"]),
        (tiny("fcp", population=2), (1,), ["fcp-s1"]),
        (tiny("obl", exact_belief=True), (1,), ["obl1-s1"]),
    ],
    ids=["sa", "fcp", "obl"],
)
def test_policies_are_trained_on_yokai_and_play(made, seeds, names, tmp_path):
    whole, parts = (TrainingPlan(made, seeds, tmp_path / name) for name in ("whole", "parts"))
    assert method_training.train(whole, None, lambda standing: None)
    in_pieces(parts)
    for name in names:
        assert_same_policy(whole.folder / name, parts.folder / name)
    found = cross_play.load_all(GAME, [str(whole.folder)])
    assert [policy.name for policy in found] == names
    assert cross_play.run(found, 4, 0).methods[0].policies == tuple(names)
