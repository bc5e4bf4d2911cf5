"""Training of any method: who runs a recipe."""

from collections.abc import Callable
from typing import Final

from arena.training import fictitious_co_play, off_belief_run, responses, state_augmented, training_run
from arena.training.time_limit import TimeLimit
from arena.training.training_run import Listener, TrainingPlan

Training = Callable[[TrainingPlan, TimeLimit, Listener], bool]

OWN: Final[dict[str, Training]] = {
    "obl": off_belief_run.train,
    "sa": state_augmented.train,
    "fcp": fictitious_co_play.train,
    "br": responses.train,
    "klr": responses.train_with_population,
    "sp-br": responses.train_with_population,
}
"""Methods that are more than the self-play of an environment."""


def train(plan: TrainingPlan, stop_after: float | None, on_report: Listener) -> bool:
    """Trains on from where the folder stands, by the recipe's method.

    Args:
        plan: what is trained.
        stop_after: seconds after which to stop and keep the state; None: to the end.
        on_report: told after every report.

    Returns:
        Whether the training is finished; its policies then stand in `NAME-sSEED` folders.

    Raises:
        LearnError: the folder holds another training, or the settings do not fit the method.
    """
    return OWN.get(plan.recipe.method, training_run.train)(plan, TimeLimit(stop_after), on_report)
