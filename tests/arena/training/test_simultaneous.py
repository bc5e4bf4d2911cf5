"""Learners of games of simultaneous moves: the paper's settings, refusals, and tiny trainings for planners."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from arena.checkpoints import for_planners, on_game
from arena.training import method_training, responses, simultaneous, training_log
from arena.training.recipes import Recipe, RecipeError, adapted
from arena.training.training_run import TrainingPlan
from games.posg import registry
from search.api import PlannerConfigError
from search.learn import checkpoint

REACHING = "cooperative-reaching"
TINY = {"environments": 4, "steps": 10, "bptt_steps": 5, "minibatches": 2, "epochs": 1}


def tiny(method: str, updates: int = 2, **own: object) -> Recipe:
    made = simultaneous.recipe(REACHING, method, "reduced", **own)  # type: ignore[arg-type]
    return adapted(made, {"hidden": 4, "trunk": (4,), "head_widths": ()}, {**TINY, "total_steps": 40 * updates})


def test_settings_are_those_of_the_paper_s_tables() -> None:
    made = simultaneous.recipe(REACHING, "br", partners=["H1", "H2"])
    network, ppo = made.network, made.ppo
    assert (network.core, network.trunk, network.hidden, network.head_widths) == ("lstm", (64, 64), 64, (64,))
    assert (ppo.total_steps, ppo.environments * ppo.pieces, ppo.bptt_steps, ppo.epochs) == (32_000_000, 6144, 10, 2)
    assert (ppo.learning_rate, ppo.anneal_learning_rate, ppo.entropy, ppo.max_grad_norm) == (3e-4, False, 0.01, 10.0)
    assert (made.partners, made.levels, made.seat) == (("H1", "H2"), 0, None)
    population = simultaneous.recipe(REACHING, "klr")
    assert (population.levels, population.ppo.environments, population.ppo.minibatches) == (4, 96, 3)
    assert simultaneous.recipe(REACHING, "sp-br", runs=3).population == 3
    for one in (made, population):
        assert Recipe.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_places_of_a_vector_are_read_as_one_of_their_values_and_marks_as_they_are() -> None:
    assert simultaneous.values_of(REACHING) == ((0, 5), (0, 5), (0, 6), (0, 6))
    driving = simultaneous.values_of("driving")
    assert (driving[0], driving[-3], driving[-1]) == ((1, 1), (0, 14), (1, 1))


@pytest.mark.parametrize(
    ("game", "method", "own", "said"),
    [
        (
            "tiger-2a",
            "br",
            {"partners": ["random"]},
            "tiger-2a is no batched game of simultaneous moves: choose one of",
        ),
        (REACHING, "obl", {}, "There is no method 'obl': choose one of br, klr, sp-br"),
        (REACHING, "br", {}, "br needs somebody to answer: give the option `population` names"),
        (
            REACHING,
            "klr",
            {"partners": ["H1"]},
            "the option `population` is of the method br, not of klr: leave it out",
        ),
        (REACHING, "br", {"partners": ["H1"], "levels": 2}, "the option `levels` is of the method klr, not of br"),
        (REACHING, "sp-br", {"runs": 0}, "runs is 0: expected 1 or more"),
        (REACHING, "br", {"partners": ["H1"], "seat": 2}, "cooperative-reaching has the agents 0 to 1, not 2"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_sentence(
    game: str, method: str, own: dict[str, object], said: str
) -> None:
    with pytest.raises(RecipeError, match=said):
        simultaneous.recipe(game, method, **own)  # type: ignore[arg-type]


def test_members_that_there_are_not_are_named(tmp_path: Path) -> None:
    made = simultaneous.recipe(REACHING, "br", partners=["H1", "H99"])
    with pytest.raises(RecipeError, match=r"has no policy 'H99': choose of H1, .*, random, or give the folder"):
        responses.members(made)
    assert len(responses.members(simultaneous.recipe(REACHING, "br", partners=["H1", "random"]))) == 2


def test_policies_of_a_population_have_folders_of_their_own(tmp_path: Path) -> None:
    def names(recipe: Recipe) -> list[str]:
        return [str(one.relative_to(tmp_path)) for one in responses.folders_of(TrainingPlan(recipe, (3,), tmp_path))]

    assert names(tiny("klr", levels=2)) == ["klr1-s3", "klr2-s3"]
    assert names(tiny("sp-br", runs=2)) == ["sp0-s3", "sp1-s3"]


@pytest.mark.slow
def test_a_trained_response_is_a_policy_of_planners_and_a_member_of_populations(tmp_path: Path) -> None:
    plan = TrainingPlan(tiny("br", partners=["H1", "random"]), (0, 2), tmp_path / "br")
    assert method_training.train(plan, None, lambda standing: None)
    folder = tmp_path / "br" / "br-s2"
    about = checkpoint.load_about(folder)
    assert (about["name"], about["game"], about["partners"], about["seed"]) == ("br-s2", REACHING, ["H1", "random"], 2)
    assert [line["seed"] for line in training_log.read(plan.folder)] == [0, 2, 0, 2]
    model = registry.make(REACHING)
    for policy in for_planners.load(folder, model):
        memory = policy.update(policy.start(0), None, (6, 8))
        learned = on_game.load(folder)
        shown = np.array(model.encode(0, (6, 8)), np.float32).reshape(1, 1, 1, 1, 4)  # type: ignore[attr-defined]
        _, said = learned.network.apply(learned.params, learned.network.initial_memory(1), shown, np.ones((1, 1), bool))
        assert policy.value(memory) == pytest.approx(float(said.values[0, 0]), abs=1e-5)
        assert policy.act(memory, random.Random(0)) in model.info.actions[0]
    again = tiny("br", partners=["H2", str(folder)])
    assert method_training.train(TrainingPlan(again, (0,), tmp_path / "again"), None, lambda standing: None)
    with pytest.raises(PlannerConfigError, match="was trained on cooperative-reaching, the game is driving"):
        for_planners.load(folder, registry.make("driving"))


@pytest.mark.slow
@pytest.mark.parametrize(("method", "own"), [("klr", {"levels": 2}), ("sp-br", {"runs": 2})])
def test_a_population_that_is_stopped_after_every_piece_comes_to_the_same_end(
    method: str, own: dict[str, int], tmp_path: Path
) -> None:
    whole = TrainingPlan(tiny(method, **own), (1,), tmp_path / "whole")
    parts = TrainingPlan(whole.recipe, (1,), tmp_path / "parts")
    told: list[str] = []
    assert method_training.train(whole, None, lambda standing: told.append(standing.stage))
    assert told == ["population of seed 1"] * 2 + ["best response of seed 1"] * 2
    times = 1
    while not method_training.train(parts, 0.0, lambda standing: None):
        times += 1
    assert times > 2
    short = method.removesuffix("-br")
    names = {path.parent.name for path in whole.folder.glob("*/config.json")}
    assert names == {f"{short}br-s1", *(path.name for path in responses.folders_of(whole))}
    for name in names:
        one, other = (checkpoint.load_policy(plan.folder / name) for plan in (whole, parts))
        np.testing.assert_array_equal(one["actor"]["kernel"], other["actor"]["kernel"])
