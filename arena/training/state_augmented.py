"""State-augmented self-play: several policies learn side by side, in games that begin where pairs of them have been.

The training has ten iterations (OvercookedV2 paper, section 5 and appendix A.2). At the start of each but the first,
all ordered pairs of policies play, every tenth state of their games is kept, and until the next iteration every game
that is dealt begins at one of those, drawn uniformly. In the first one, where nobody has learnt anything yet, games
begin with fresh deals.
"""

from typing import Final

from arena.training import training_run
from arena.training.environments import training_env
from arena.training.recipes import Recipe
from arena.training.time_limit import TimeLimit
from arena.training.training_run import Listener, TrainingError, TrainingPlan
from games.batched import registry
from search.learn.methods.augmented import AugmentedTrainer
from search.learn.networks.actor_critic import ActorCritic

ITERATIONS: Final = 10
"""Of the paper."""
FEWEST: Final = 2


class StateAugmentedRun(AugmentedTrainer):
    """The training of a recipe as pieces that begin with a new buffer where an iteration does."""

    def __init__(self, recipe: Recipe, seeds: tuple[int, ...], devices: int = 1) -> None:
        """Sets up a training.

        Args:
            recipe: network and settings.
            seeds: of the policies.
            devices: accelerators that share the games.
        """
        env = training_env(recipe)
        game = registry.make(recipe.game)
        super().__init__(
            env,
            ActorCritic(recipe.network, env.num_actions),
            recipe.ppo,
            seeds,
            iterations(recipe),
            recipe.rollouts,
            game.max_length,
            one_decides=not game.simultaneous,
            devices=devices,
        )


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
