"""Off-Belief Learning level by level: a belief about the level below, then a policy trained on it, and so on.

Level 0 plays uniformly random legal actions. `belief-0` foresees the cards of a player beside it, `obl1` is trained on
that belief, `belief-1` foresees cards beside `obl1`, `obl2` is trained on that, up to the level asked for (the Yōkai
Learning Environment paper, section 5.2, has five). Every stage has a folder of its own and goes on where it stopped.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import jax
import numpy as np

from arena.training.environments import training_env
from arena.training.recipes import Recipe
from arena.training.time_limit import TimeLimit
from arena.training.training_log import check_finite
from arena.training.training_run import CHECKPOINT_SECONDS, SNAPSHOTS, about, snapshots_at
from games.batched import registry
from games.batched.wrappers import metrics
from search.learn import checkpoint
from search.learn.api import Network, Params
from search.learn.beliefs.belief_model import BeliefModel, CrossEntropy
from search.learn.beliefs.belief_training import BeliefTrainer, BeliefTrainingConfig
from search.learn.beliefs.beliefs import LearnedBelief, UniformBelief
from search.learn.beliefs.hidden import HiddenSlots
from search.learn.errors import OffBeliefError
from search.learn.methods import off_belief
from search.learn.methods.off_belief import BelievingNetwork, FictitiousConfig
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.belief import BeliefConfig
from search.learn.networks.heads.uniform import UniformPolicy
from search.learn.ppo.training import Trainer, UpdateReport

METHOD: Final = "obl"
REPORTS: Final = 50
"""A stage reports about so many times."""


@dataclass(frozen=True)
class LevelsPlan:
    """What is trained and where.

    Attributes:
        recipe: of all policies; its level is the highest.
        seed: of everything.
        folder: keeps everything.
        belief: network of every belief.
        belief_training: settings of every belief's training.
        exact_first: level 1 draws from the exact belief about random players and `belief-0` is not trained.
        snapshots: into how many equal parts a policy's training falls at whose ends it is kept; 0: at the end alone.
    """

    recipe: Recipe
    seed: int
    folder: Path
    belief: BeliefConfig = field(default_factory=BeliefConfig)
    belief_training: BeliefTrainingConfig = field(default_factory=BeliefTrainingConfig)
    exact_first: bool = False
    snapshots: int = 0

    def __post_init__(self) -> None:
        if self.recipe.method != METHOD:
            raise OffBeliefError(
                f"the recipe is of {self.recipe.method!r}: levels are trained with one of the method {METHOD!r}."
            )


class LevelReport(NamedTuple):
    """How far a stage is.

    Attributes:
        stage: e.g. `belief-0` or `obl1`.
        updates: done so far.
        total: of the whole stage.
        numbers: of the last updates: `cross_entropy` (nats, an unknown card) and `cross_entropy_of_all` (nats, all
            unknown cards of a position) of a belief, the paper's metrics and mean losses of a policy.
    """

    stage: str
    updates: int
    total: int
    numbers: dict[str, float | None]


Listener = Callable[[LevelReport], None]


class _Stage(NamedTuple):
    """One training as the driver sees it.

    Attributes:
        name: of the stage and its folder.
        total: updates.
        state: before the first update.
        run: (state, updates) -> (state, report); the state before is used up.
        numbers: report -> numbers by name.
        keep: writes what is to be kept on the way, given the state and its updates.
    """

    name: str
    total: int
    state: Any
    run: Callable[[Any, int], tuple[Any, Any]]
    numbers: Callable[[Any], dict[str, float | None]]
    keep: Callable[[Any, int], None] = lambda state, done: None


def hidden_of(recipe: Recipe) -> HiddenSlots:
    """Returns what a recipe's game hides.

    Raises:
        OffBeliefError: nothing that beliefs could be trained on.
    """
    hidden = registry.make(recipe.game).hidden
    if hidden is None:
        raise OffBeliefError(f"{recipe.game} does not say what it hides: choose another method than {METHOD}.")
    slots: HiddenSlots = hidden()
    return slots


def policy_trainer(recipe: Recipe, belief: LearnedBelief) -> Trainer:
    """Returns the trainer of one level's policy; `init` and `run` are given the belief's parameters as context.

    Fictitious games last a round, and the critic's answers at the player's own decisions in it are mixed by λ: where
    it was asked at the next decision alone, which is mostly the next step, policies learned less than half as fast.

    Args:
        recipe: network and settings.
        belief: about the level below.

    Raises:
        OffBeliefError: the network's memory would read private observations.
    """
    env = training_env(recipe)
    network = BelievingNetwork(ActorCritic(recipe.network, env.num_actions), belief)
    fictitious = FictitiousConfig(registry.make(recipe.game).round_length, recipe.fictitious_decay)
    collect = off_belief.collector(lambda _: env, network, hidden_of(recipe), recipe.ppo, fictitious)
    return Trainer(lambda _: env, network, recipe.ppo, collect)


def belief_trainer(recipe: Recipe, level: int, belief: BeliefModel, config: BeliefTrainingConfig) -> BeliefTrainer:
    """Returns the trainer of the belief about a level's players; `run` is given the parameters of their policy.

    Args:
        recipe: of the policies.
        level: 0 for players of uniformly random actions, whose parameters are `{}`.
        belief: what is trained.
        config: its settings.
    """
    env = training_env(recipe)
    policy: Network = ActorCritic(recipe.network, env.num_actions) if level else UniformPolicy(env.num_actions)
    return BeliefTrainer(lambda _: env, hidden_of(recipe), policy, belief, config)


def train(plan: LevelsPlan, limit: TimeLimit, on_report: Listener) -> bool:
    """Trains on from where the folder stands.

    Args:
        plan: what is trained.
        limit: when to stop and keep the state.
        on_report: told after every report.

    Returns:
        Whether all levels are finished; the policies then stand in the folders `obl1-sSEED`, `obl2-sSEED`, …

    Raises:
        CheckpointError: the folder holds another training, or its state cannot be read.
        OffBeliefError: the settings do not fit.
    """
    for level in range(1, plan.recipe.level + 1):
        for finish in (_finish_belief, _finish_policy):
            if limit.is_up() or not finish(plan, level, limit, on_report):
                return False
    return True


def belief_folder(plan: LevelsPlan, level: int) -> Path:
    """Returns where the belief about a level's players stands."""
    return plan.folder / f"belief-{level}-s{plan.seed}"


def policy_folder(plan: LevelsPlan, level: int) -> Path:
    """Returns where a level's policy stands."""
    return plan.folder / f"obl{level}-s{plan.seed}"


def _belief_of(plan: LevelsPlan, level: int) -> tuple[LearnedBelief, Params]:
    """Returns the belief that a level's policy is trained on, with its parameters."""
    counts = hidden_of(plan.recipe).counts
    if level == 1 and plan.exact_first:
        return UniformBelief(counts), ()
    return BeliefModel(plan.belief, counts), checkpoint.load_policy(belief_folder(plan, level - 1))


def _finish_belief(plan: LevelsPlan, level: int, limit: TimeLimit, on_report: Listener) -> bool:
    below = level - 1
    folder = belief_folder(plan, below)
    if (folder / checkpoint.ABOUT).exists() or (below == 0 and plan.exact_first):
        return True
    model = BeliefModel(plan.belief, hidden_of(plan.recipe).counts)
    trainer = belief_trainer(plan.recipe, below, model, plan.belief_training)
    players = checkpoint.load_policy(policy_folder(plan, below)) if below else {}

    def run(state: Any, updates: int) -> tuple[Any, Any]:
        return trainer.run(state, players, updates)

    def numbers_of(found: CrossEntropy) -> dict[str, float | None]:
        mean = {"cross_entropy": found.per_slot, "cross_entropy_of_all": found.per_position}
        return {name: float(np.asarray(value).mean()) for name, value in mean.items()}

    state = trainer.init([_seed(plan, 2 * level)])
    stage = _Stage(f"belief-{below}", plan.belief_training.updates, state, run, numbers_of)
    state, numbers = _advance(stage, folder, limit, on_report)
    if int(state.updates[0]) < stage.total:
        return False
    told = {"belief": plan.belief.to_json(), "training": plan.belief_training.to_json()}
    _export(folder, state.params, {"game": plan.recipe.game, "players": below, "seed": plan.seed, **told, **numbers})
    return True


def _finish_policy(plan: LevelsPlan, level: int, limit: TimeLimit, on_report: Listener) -> bool:
    folder = policy_folder(plan, level)
    if (folder / checkpoint.ABOUT).exists():
        return True
    belief, believed = _belief_of(plan, level)
    trainer = policy_trainer(plan.recipe, belief)
    of_level = replace(plan.recipe, level=level)
    total = plan.recipe.ppo.updates
    marks = snapshots_at(total, _piece(total), plan.snapshots)

    def run(state: Any, updates: int) -> tuple[Any, Any]:
        return trainer.run(state, updates, believed)

    def keep(state: Any, done: int) -> None:
        if done in marks:
            told = about(of_level, folder.name, plan.seed, done)
            _export(plan.folder / SNAPSHOTS / str(told["steps"]) / folder.name, state.learner.params, told)

    def numbers_of(report: UpdateReport) -> dict[str, float | None]:
        episodes = jax.tree.map(lambda value: np.asarray(value).sum(), report.episodes)
        losses = {name: float(np.asarray(value).mean()) for name, value in report.losses._asdict().items()}
        return metrics(episodes, registry.make(plan.recipe.game).means) | losses

    state = trainer.init([_seed(plan, 2 * level + 1)], believed)
    stage = _Stage(f"obl{level}", total, state, run, numbers_of, keep)
    state, _ = _advance(stage, folder, limit, on_report)
    done = int(state.updates[0])
    if done < stage.total:
        return False
    _export(folder, state.learner.params, about(of_level, folder.name, plan.seed, done))
    return True


def _piece(total: int) -> int:
    """Returns the number of updates between two reports."""
    return max(1, total // REPORTS)


def _seed(plan: LevelsPlan, stage: int) -> int:
    return 1000 * plan.seed + stage


def _export(folder: Path, params: Params, told: dict[str, Any]) -> None:
    checkpoint.save_policy(folder, jax.tree.map(lambda leaf: np.asarray(leaf[0]), params), told)


def _advance(stage: _Stage, folder: Path, limit: TimeLimit, on_report: Listener) -> tuple[Any, dict[str, float | None]]:
    """Trains a stage to its end or to the limit; returns its state and last numbers.

    When it is interrupted, what was trained is kept. The end is not, since the finished stage is exported right after
    it; so there are always last numbers.

    Raises:
        DivergedError: some numbers are not finite; the state that was kept last is left as it is.
    """
    state = checkpoint.load_training(folder, stage.state) if checkpoint.has_training(folder) else stage.state
    done, each = int(state.updates[0]), _piece(stage.total)
    numbers: dict[str, float | None] = {}

    def keep() -> None:
        checkpoint.save_training(folder, state, {"stage": stage.name, "updates": done, "numbers": numbers})

    stage.keep(state, done)
    kept = begun = done
    saved = time.monotonic()
    try:
        while done < stage.total:
            # Bound at once: the state before is used up, and the first to wait for the computation is `numbers`.
            before, count = time.monotonic(), min(each, stage.total - done)
            state, report = stage.run(state, count)
            numbers = stage.numbers(report)
            done = int(state.updates[0])
            check_finite(folder.name, done, numbers)
            stage.keep(state, done)
            on_report(LevelReport(stage.name, done, stage.total, numbers))
            now = time.monotonic()
            limit.trained(now - before, compiled=done - count == begun or count < each)
            late = limit.is_up()
            if done < stage.total and (late or now - saved > CHECKPOINT_SECONDS):
                keep()
                kept, saved = done, now
            if late:
                break
    except KeyboardInterrupt:
        done = int(state.updates[0])
        if kept < done < stage.total:
            keep()
        raise
    return state, numbers
