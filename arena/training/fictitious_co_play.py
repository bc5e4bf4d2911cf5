"""Fictitious Co-Play: one policy as the best response to a frozen population (OvercookedV2 paper, appendix C.1.3).

Every seed has a population of its own, as in the paper: eight self-play policies, trained side by side, each kept at
three ages, the end among them. The paper leaves the other two open; ours are a tenth and the half of the training.
Then one policy learns at a seat drawn anew for every game, with partners drawn from all of the population.

`population-sSEED` holds a population, `fcp-sSEED` the policy that was trained with it.
"""

from dataclasses import replace
from typing import Final

from arena.training import training_run
from arena.training.environments import training_env
from arena.training.recipes import Recipe
from arena.training.time_limit import TimeLimit
from arena.training.training_run import Listener, Standing, Trained, TrainingPlan
from search.learn import checkpoint
from search.learn.api import Params
from search.learn.methods.population import FictitiousPartners
from search.learn.networks.actor_critic import ActorCritic
from search.learn.play import several_policies
from search.learn.ppo.training import Trainer, TrainingState, UpdateReport

AGES: Final = (0.1, 0.5)
"""Shares of a member's training after which it is kept, before the end."""
STRIDE: Final = 1000
"""Members of the population of seed s have the seeds from s times this on."""


def train(plan: TrainingPlan, limit: TimeLimit, on_report: Listener) -> bool:
    """Trains on from where the folder stands, one seed after the other; see `training_run.train`.

    Raises:
        TrainingError: the folder holds another training.
        CheckpointError: its state cannot be read.
    """
    with training_run.claimed(plan):
        for index, seed in enumerate(plan.seeds):
            for number, stage in enumerate((_population, _response)):
                if limit.is_up():
                    return False
                told = _stage_of(plan, 2 * index + number, on_report)
                if not stage(replace(plan, seeds=(seed,)), limit, told):
                    return False
    return True


def population_plan(plan: TrainingPlan) -> TrainingPlan:
    """Returns the training of the population of a plan's only seed."""
    recipe = replace(plan.recipe, method="sp")
    (seed,) = plan.seeds
    members = tuple(STRIDE * seed + number for number in range(recipe.population))
    return TrainingPlan(recipe, members, plan.folder / f"population-s{seed}", plan.devices)


def members(population: TrainingPlan) -> list[str]:
    """Returns the names of all members, one a policy and age, the end last."""
    ends = [f"sp-s{seed}" for seed in population.seeds]
    return [f"{name}-age{age}" for age in range(1, 1 + len(AGES)) for name in ends] + ends


def load(population: TrainingPlan) -> Params:
    """Returns all members stacked, leaves [M, ...].

    Raises:
        CheckpointError: one cannot be read.
    """
    return several_policies.stacked([checkpoint.load_policy(population.folder / name) for name in members(population)])


def response_trainer(recipe: Recipe, devices: int = 1) -> Trainer:
    """Returns the trainer of a best response; `init` and `run` are given the population as context."""
    env = training_env(recipe)
    network = ActorCritic(recipe.network, env.num_actions)
    return Trainer(lambda members: FictitiousPartners(env, network, members), network, recipe.ppo, devices=devices)


def _stage_of(plan: TrainingPlan, before: int, on_report: Listener) -> Listener:
    """Returns a listener of one stage that tells how far the whole is; every stage has equally many steps."""
    seed, is_response = plan.seeds[before // 2], before % 2
    name = f"fcp-s{seed}" if is_response else f"population of {plan.recipe.population} for fcp-s{seed}"

    def told(standing: Standing) -> None:
        steps, total = before * standing.total + standing.steps, 2 * len(plan.seeds) * standing.total
        on_report(standing._replace(steps=steps, total=total, stage=name))

    return told


def _population(plan: TrainingPlan, limit: TimeLimit, on_report: Listener) -> bool:
    population = population_plan(plan)
    if all((population.folder / name / checkpoint.ABOUT).exists() for name in members(population)):
        return True
    training_run.claim(population)
    trainer = training_run.trainer_of(population.recipe, population.devices)
    recipe = population.recipe
    each = training_run.piece(recipe)
    kept = [training_run.whole_pieces(recipe.ppo.updates, each, share) for share in AGES]

    def keep(state: Trained, done: int) -> None:
        for age, at in enumerate(kept, start=1):
            if at == done:
                training_run.export(population, state, population.folder, f"-age{age}")

    state = training_run.restored(population, trainer.init(list(population.seeds)))
    state = training_run.advance(population, state, trainer.run, limit, on_report, keep)
    return training_run.finished(population, state)


def _response(plan: TrainingPlan, limit: TimeLimit, on_report: Listener) -> bool:
    (seed,) = plan.seeds
    stage = replace(plan, folder=plan.folder / f"fcp-s{seed}")
    if (stage.folder / checkpoint.ABOUT).exists():
        return True
    population = load(population_plan(plan))
    trainer = response_trainer(plan.recipe, plan.devices)

    def run(state: TrainingState, updates: int) -> tuple[TrainingState, UpdateReport]:
        return trainer.run(state, updates, population)

    stage.folder.mkdir(parents=True, exist_ok=True)
    state = training_run.restored(stage, trainer.init([seed], population))
    keep = training_run.keeper(stage, plan.folder)
    state = training_run.advance(stage, state, run, limit, on_report, keep)
    return training_run.finished(plan, state)
