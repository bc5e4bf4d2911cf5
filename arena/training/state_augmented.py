"""State-augmented self-play: several policies learn side by side, in games that begin where pairs of them have been.

The training has ten iterations (OvercookedV2 paper, section 5 and appendix A.2). At the start of each but the first,
all ordered pairs of policies play, every tenth state of their games is kept, and until the next iteration every game
that is dealt begins at one of those, drawn uniformly. In the first one, where nobody has learnt anything yet, games
begin with fresh deals.
"""

from functools import partial
from typing import Any, Final, NamedTuple

import jax

from arena.training import training_run
from arena.training.environments import training_env
from arena.training.recipes import Recipe
from arena.training.time_limit import TimeLimit
from arena.training.training_run import Listener, TrainingError, TrainingPlan
from games.batched import registry
from games.batched.api import Array
from search.learn.methods import state_buffer
from search.learn.methods.state_buffer import BufferedStarts, StateBuffer
from search.learn.networks.actor_critic import ActorCritic
from search.learn.ppo.ppo import Learner
from search.learn.ppo.training import Trainer, TrainingState, UpdateReport

ITERATIONS: Final = 10
"""Of the paper."""
FEWEST: Final = 2


class AugmentedState(NamedTuple):
    """A training, and where its games begin.

    Attributes:
        training: of all policies.
        buffer: shared by them.
    """

    training: TrainingState
    buffer: StateBuffer

    @property
    def learner(self) -> Learner:
        return self.training.learner

    @property
    def updates(self) -> Array:
        return self.training.updates


class StateAugmentedRun:
    """The training of a recipe as pieces that begin with a new buffer where an iteration does."""

    def __init__(self, recipe: Recipe, seeds: tuple[int, ...], devices: int = 1) -> None:
        """Sets up a training.

        Args:
            recipe: network and settings.
            seeds: of the policies.
            devices: accelerators that share the games.
        """
        self.begins = iterations(recipe)
        self._seeds = seeds
        env = training_env(recipe)
        network = ActorCritic(recipe.network, env.num_actions)
        game = registry.make(recipe.game)
        self._trainer = Trainer(
            lambda buffer: BufferedStarts(env, buffer),
            network,
            recipe.ppo,
            devices=devices,
            one_decides=not game.simultaneous,
        )
        steps = game.max_length
        rollouts = recipe.rollouts
        room = state_buffer.capacity(len(seeds), rollouts, steps)
        self._empty = partial(state_buffer.empty, env, room)
        self._fill = jax.jit(lambda policies, key: state_buffer.fill(env, network, policies, rollouts, steps, key))

    def init(self) -> AugmentedState:
        """Returns the state before the first update, with an empty buffer."""
        return AugmentedState(self._trainer.init(list(self._seeds), self._empty()), self._empty())

    def run(self, state: AugmentedState, updates: int) -> tuple[AugmentedState, UpdateReport]:
        """Returns the state after more updates, and what each came to, [seeds, updates].

        Args:
            state: its arrays but for the buffer are used up.
            updates: must not go on beyond the start of an iteration.
        """
        training, buffer = state
        done = training_run.updates_of(state)
        if done in self.begins:
            buffer = self._fill(training.learner.params, self._key(done))
        training, report = self._trainer.run(training, updates, buffer)
        return AugmentedState(training, buffer), report

    def _key(self, done: int) -> Any:
        key = jax.random.key(done)
        for seed in self._seeds:
            key = jax.random.fold_in(key, seed)
        return key


def iterations(recipe: Recipe) -> frozenset[int]:
    """Returns after which updates a buffer is filled; in whole pieces, so that no piece is cut.

    For the first iteration, at 0, none is unless the recipe says so.
    """
    begins = training_run.snapshots_at(recipe.ppo.updates, training_run.piece(recipe), ITERATIONS)
    return begins | {0} if recipe.untrained_start else begins


def train(plan: TrainingPlan, limit: TimeLimit, on_report: Listener) -> bool:
    """Trains on from where the folder stands; see `training_run.train`.

    Raises:
        TrainingError: there are fewer than two seeds, or the folder holds another training.
        CheckpointError: its state cannot be read.
    """
    if len(plan.seeds) < FEWEST:
        raise TrainingError(
            f"sa trains policies on states that pairs of them reach, but there is one seed, {plan.seeds[0]}: "
            "give at least two by the option `seeds`, e.g. 0,1; the paper has ten."
        )
    with training_run.claimed(plan):
        course = StateAugmentedRun(plan.recipe, plan.seeds, plan.devices)
        state = training_run.restored(plan, course.init())
        return training_run.finished(plan, training_run.advance(plan, state, course.run, limit, on_report))
