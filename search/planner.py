"""From settings to a planner."""

import math

from games.api import EstimatesValue, Game, ResamplesHistory
from search.api import Planner, PlannerConfig, PlannerConfigError
from search.ismcts import Ismcts
from search.mcts import Mcts

COUNTS = ("simulations", "rollouts", "max_rollout_actions", "max_depth", "belief_size", "resample_tries")
AMOUNTS = ("exploration", "widening_coefficient", "widening_exponent", "widening_minimum")


def make(game: Game, config: PlannerConfig) -> Planner:
    """Returns a planner for `game`.

    Args:
        game: any game, a synthesised one too.
        config: the settings.

    Raises:
        PlannerConfigError: a setting is out of range, or asks for something that the game does not offer.
    """
    check(config)
    info = game.info
    if config.leaf == "value" and not isinstance(game, EstimatesValue):
        raise PlannerConfigError(f"leaf='value' needs a value function, and {info.id} has none: use leaf='rollout'.")
    if config.algorithm == "mcts":
        if not info.perfect_information:
            raise PlannerConfigError(
                f"mcts needs perfect information, and players of {info.id} do not see the whole state: use 'ismcts'."
            )
        return Mcts(game, config)
    if not isinstance(game, ResamplesHistory):
        raise PlannerConfigError(
            f"ismcts needs resample_history, and {info.id} has none: "
            + ("use 'mcts'." if info.perfect_information else "give the game an inference function.")
        )
    return Ismcts(game, game, config)


def check(config: PlannerConfig) -> None:
    """Checks the ranges of the settings.

    Raises:
        PlannerConfigError: one is out of range; the message names it.
    """
    if config.algorithm not in ("mcts", "ismcts"):
        raise PlannerConfigError(f"algorithm is {config.algorithm!r}, expected 'mcts' or 'ismcts'.")
    if config.leaf not in ("rollout", "value"):
        raise PlannerConfigError(f"leaf is {config.leaf!r}, expected 'rollout' or 'value'.")
    for name in COUNTS:
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise PlannerConfigError(f"{name} is {value!r}, expected a whole number of at least 1.")
    for name in AMOUNTS:
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise PlannerConfigError(f"{name} is {value!r}, expected a number of at least 0.")
    if config.widening_coefficient and config.widening_minimum < 1:
        raise PlannerConfigError("widening_minimum is 0, expected at least 1 child a node.")
