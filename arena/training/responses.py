"""Best responses in games of simultaneous moves, and the populations that some of them answer.

`br` answers policies that are there: `br-sSEED`. `klr` and `sp-br` train a population first, all of its policies at
once (`search.learn.methods.synchronous`), and then a best response to all of them: `klr1-sSEED`, … and `klrbr-sSEED`,
or `sp0-sSEED`, … and `spbr-sSEED`. Where agents differ, each of these folders holds one for every agent. Other than in
Cui et al. (2021), the best response is trained after the levels, to what they came to and to the random level 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import jax
import numpy as np

from arena.checkpoints import on_game, places
from arena.training import simultaneous, training_run
from arena.training.environments import training_env
from arena.training.recipes import Recipe, RecipeError
from arena.training.time_limit import TimeLimit
from arena.training.training_run import Listener, Standing, Trained, TrainingPlan
from games.batched import registry
from search.learn import checkpoint
from search.learn.api import BatchedPolicy, Params
from search.learn.methods.best_response import DrawnNetwork, against
from search.learn.methods.synchronous import Side, SynchronousTrainer, k_level, self_play
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.heads.uniform import UniformPolicy
from search.learn.ppo.training import Trainer, TrainingState, UpdateReport

Member = tuple[BatchedPolicy, Params]

STRIDE: Final = 1000
"""Policies of the population of seed s have the seeds from s times this on."""
RANDOM: Final = "random"
"""A uniformly random co-player, beside those of a game."""
FIRST: Final = {"klr": 1, "sp-br": 0}
"""Number of the first policy of a population in its name."""


def train(plan: TrainingPlan, limit: TimeLimit, on_report: Listener) -> bool:
    """Trains best responses to a population, one a seed, side by side; see `training_run.train`.

    Raises:
        RecipeError: a member of the population cannot be had.
        TrainingError: the folder holds another training.
    """
    population = members(plan.recipe)
    with training_run.claimed(plan):
        return training_run.finished(plan, _answered(plan, population, plan.recipe.seat, limit, on_report))


def members(recipe: Recipe) -> list[Member]:
    """Returns the population of a recipe: hand-written policies by name, trained ones by their folders.

    Raises:
        RecipeError: there is none of a name, or it was trained on another game.
        CheckpointError: one cannot be read.
    """
    game = registry.make(recipe.game)
    written = {} if game.partners is None else dict(game.partners())
    random = DrawnNetwork(UniformPolicy(game.env(recipe.view).num_actions))
    found: list[Member] = []
    for name in recipe.partners:
        place = _folder_of(Path(name), recipe.seat)
        if name in written:
            found.append((written[name], ()))
        elif name == RANDOM:
            found.append((random, {}))
        elif (place / checkpoint.ABOUT).is_file():
            policy = on_game.load(place)
            if policy.game != recipe.game:
                raise RecipeError(f"{name} was trained on {policy.game}, the game is {recipe.game}.")
            found.append((DrawnNetwork(policy.network), policy.params))
        else:
            raise RecipeError(
                f"{recipe.game} has no policy {name!r}: choose of {', '.join([*written, RANDOM])}, or give the folder "
                "of a trained one."
            )
    return found


def _folder_of(folder: Path, seat: int | None) -> Path:
    """Returns where the policy lies that a learner at a seat meets: that of the other agent, where agents differ."""
    other = places.seat_folder(folder, 0 if seat is None else 1 - seat)
    return other if (other / checkpoint.ABOUT).is_file() else folder


def train_with_population(plan: TrainingPlan, limit: TimeLimit, on_report: Listener) -> bool:
    """Trains a population and then the best response to it, one seed after the other; see `training_run.train`.

    Raises:
        TrainingError: the folder holds another training.
        CheckpointError: its state cannot be read.
    """
    seats: Sequence[int | None] = (0, 1) if simultaneous.differ(plan.recipe.game) else (None,)
    stages: list[Callable[[TrainingPlan, TimeLimit, Listener], bool]] = [
        _population,
        *(partial(_response, seat=seat) for seat in seats),
    ]
    with training_run.claimed(plan):
        for index, seed in enumerate(plan.seeds):
            for number, stage in enumerate(stages):
                if limit.is_up():
                    return False
                told = _stage_of(plan, index * len(stages) + number, len(stages), on_report)
                if not stage(replace(plan, seeds=(seed,)), limit, told):
                    return False
    return True


def sides_of(recipe: Recipe) -> tuple[Side, ...]:
    """Returns the learners of a population."""
    agents = 2 if simultaneous.differ(recipe.game) else 1
    return k_level(recipe.levels, agents) if recipe.method == "klr" else self_play(recipe.population, agents)


def folders_of(plan: TrainingPlan) -> list[Path]:
    """Returns where the policies of the population of a plan's only seed are kept, in the order of their learners."""
    sides = sides_of(plan.recipe)
    (seed,) = plan.seeds
    short, first = plan.recipe.method.removesuffix("-br"), FIRST[plan.recipe.method]
    each = len(sides) // (1 if sides[0].seat is None else 2)
    found = []
    for number, side in enumerate(sides):
        folder = plan.folder / f"{short}{first + number % each}-s{seed}"
        found.append(folder if side.seat is None else places.seat_folder(folder, side.seat))
    return found


def _stage_of(plan: TrainingPlan, before: int, stages: int, on_report: Listener) -> Listener:
    """Returns a listener of one stage that tells how far the whole is; every stage has equally many steps."""
    seed, number = plan.seeds[before // stages], before % stages
    name = f"best response of seed {seed}" if number else f"population of seed {seed}"

    def told(standing: Standing) -> None:
        steps, total = before * standing.total + standing.steps, stages * len(plan.seeds) * standing.total
        on_report(standing._replace(steps=steps, total=total, stage=name))

    return told


def _population(plan: TrainingPlan, limit: TimeLimit, on_report: Listener) -> bool:
    folders, recipe, (seed,) = folders_of(plan), plan.recipe, plan.seeds
    if all((folder / checkpoint.ABOUT).exists() for folder in folders):
        return True
    sides, env = sides_of(recipe), training_env(recipe)
    seeds = tuple(STRIDE * seed + number for number in range(len(sides)))
    stage = TrainingPlan(recipe, seeds, plan.folder / f"population-s{seed}")
    trainer = SynchronousTrainer(env, ActorCritic(recipe.network, env.num_actions), recipe.ppo, sides)
    stage.folder.mkdir(parents=True, exist_ok=True)
    state = training_run.restored(stage, trainer.init(seeds))
    state = training_run.advance(stage, state, trainer.run, limit, on_report)
    if training_run.updates_of(state) < recipe.ppo.updates:
        return False
    for number, (folder, side) in enumerate(zip(folders, sides, strict=True)):
        _export(recipe, state, number, folder, seeds[number], side.seat)
    return True


def _response(plan: TrainingPlan, limit: TimeLimit, on_report: Listener, seat: int | None) -> bool:
    recipe, (seed,) = plan.recipe, plan.seeds
    name = f"{recipe.method.removesuffix('-br')}br-s{seed}"
    folder = plan.folder / name if seat is None else places.seat_folder(plan.folder / name, seat)
    if (folder / checkpoint.ABOUT).exists():
        return True
    env = training_env(recipe)
    played = DrawnNetwork(ActorCritic(recipe.network, env.num_actions))
    met = zip(folders_of(plan), sides_of(recipe), strict=True)
    population: list[Member] = [
        (played, checkpoint.load_policy(place)) for place, side in met if seat is None or side.seat != seat
    ]
    if recipe.method == "klr":
        population.insert(0, (DrawnNetwork(UniformPolicy(env.num_actions)), {}))
    place = plan.folder / (f"response-s{seed}" if seat is None else f"response-s{seed}-of-{seat}")
    stage = TrainingPlan(recipe, (seed,), place)
    stage.folder.mkdir(parents=True, exist_ok=True)
    state = _answered(stage, population, seat, limit, on_report)
    if training_run.updates_of(state) < recipe.ppo.updates:
        return False
    _export(recipe, state, 0, folder, seed, seat)
    return True


def _answered(
    stage: TrainingPlan, population: Sequence[Member], seat: int | None, limit: TimeLimit, on_report: Listener
) -> TrainingState:
    """Trains best responses to a population on from where a stage's folder stands; returns where it stands then."""
    recipe, env = stage.recipe, training_env(stage.recipe)
    policies = [policy for policy, _ in population]
    # Parameters are arguments of the compiled program, and no part of it.
    context = tuple(own for _, own in population)
    network = ActorCritic(recipe.network, env.num_actions)
    trainer = Trainer(
        lambda own: against(env, list(zip(policies, own, strict=True)), seat),
        network,
        recipe.ppo,
        devices=stage.devices,
    )

    def run(state: TrainingState, updates: int) -> tuple[TrainingState, UpdateReport]:
        return trainer.run(state, updates, context)

    state = training_run.restored(stage, trainer.init(list(stage.seeds), context))
    return training_run.advance(stage, state, run, limit, on_report)


def _export(recipe: Recipe, state: Trained, number: int, folder: Path, seed: int, seat: int | None) -> None:
    """Writes the policy of one of the learners of a state."""
    params = jax.tree.map(lambda leaf: np.asarray(leaf[number]), state.learner.params)
    name = folder.name if seat is None else folder.parent.name
    told = training_run.about(replace(recipe, seat=seat), name, seed, training_run.updates_of(state))
    checkpoint.save_policy(folder, params, told)
