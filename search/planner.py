"""From settings to a planner."""

import math

from games.api import EstimatesPolicy, EstimatesValue, Game, ResamplesHistory, ResamplesState
from search.api import Planner, PlannerConfig, PlannerConfigError
from search.blueprint import Blueprint
from search.ismcts import Ismcts
from search.mcts import Mcts

MOST = 1_000_000_000
"""No count is higher: such a search would never end."""
COUNTS = ("simulations", "rollouts", "max_rollout_actions", "max_depth", "belief_size", "resample_tries", "candidates")
AMOUNTS = (
    "exploration",
    "widening_coefficient",
    "widening_exponent",
    "widening_minimum",
    "puct",
    "first_play_reduction",
    "belief_temper",
    "margin",
    "margin_errors",
)
SHARES = ("root_noise", "belief_mix", "belief_threshold")
CHOICES = {
    "algorithm": ("mcts", "ismcts", "blueprint"),
    "leaf": ("rollout", "value"),
    "selection": ("ucb", "puct"),
    "prior": ("uniform", "policy"),
}


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
    if needs_policy(config) and not isinstance(game, EstimatesPolicy):
        raise PlannerConfigError(
            f"{config.algorithm} plays by a policy prior, and {info.id} has none: use ismcts."
            if config.algorithm == "blueprint"
            else f"prior='policy' and belief_temper above 0 need a policy prior, and {info.id} has none: use "
            "prior='uniform' and belief_temper=0."
        )
    if config.algorithm == "mcts":
        if not info.perfect_information:
            raise PlannerConfigError(
                f"mcts needs perfect information, and players of {info.id} do not see the whole state: use 'ismcts'."
            )
        return Mcts(game, config)
    search = Blueprint if config.algorithm == "blueprint" else Ismcts
    if isinstance(game, ResamplesHistory):
        return search(game, game, config)
    if not isinstance(game, ResamplesState):
        raise PlannerConfigError(
            f"{config.algorithm} needs resample_history, and {info.id} has none: "
            + ("use 'mcts'." if info.perfect_information else "give the game an inference function.")
        )
    if remembers(config):
        raise PlannerConfigError(
            f"belief_temper above 0 reads what the others did, and {info.id} infers states without their past: "
            "use belief_temper=0."
        )
    return search(game, game, config)


def needs_policy(config: PlannerConfig) -> bool:
    """Returns whether a search with these settings asks the game for its policy prior."""
    in_tree = config.selection == "puct" and config.prior == "policy"
    return in_tree or remembers(config) or config.algorithm == "blueprint"


def remembers(config: PlannerConfig) -> bool:
    """Returns whether a planner with these settings keeps anything from one decision to the next."""
    return config.algorithm != "mcts" and config.belief_temper > 0.0


def check(config: PlannerConfig) -> None:
    """Checks the ranges of the settings.

    Raises:
        PlannerConfigError: one is out of range; the message names it.
    """
    for name, choices in CHOICES.items():
        choice = getattr(config, name)
        if choice not in choices:
            raise PlannerConfigError(f"{name} is {choice!r}, expected {' or '.join(map(repr, choices))}.")
    for name in COUNTS:
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise PlannerConfigError(f"{name} is {value!r}, expected a whole number of at least 1.")
        if value > MOST:
            raise PlannerConfigError(f"{name} is {value!r}, expected at most {MOST:,}: more would never end.")
    for name in AMOUNTS:
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise PlannerConfigError(f"{name} is {value!r}, expected a number of at least 0.")
    if config.seconds is not None:
        seconds = config.seconds
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
            raise PlannerConfigError(f"seconds is {seconds!r}, expected a number above 0.")
    if config.widening_coefficient and config.widening_minimum < 1:
        raise PlannerConfigError("widening_minimum is 0, expected at least 1 child a node.")
    for name in SHARES:
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise PlannerConfigError(f"{name} is {value!r}, expected a share from 0 to 1.")
    concentration = config.noise_concentration
    if (
        isinstance(concentration, bool)
        or not isinstance(concentration, int | float)
        or not 0 < concentration < math.inf
    ):
        raise PlannerConfigError(f"noise_concentration is {concentration!r}, expected a number above 0.")
    if config.prior == "policy" and config.selection != "puct":
        raise PlannerConfigError("prior='policy' is read by selection='puct' alone: set both.")
