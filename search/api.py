"""Types of the planners. Standard library only: planners run inside sandboxed workers, next to the model."""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Protocol, TypeAlias

from games.api import Action, Game, ObsActionHistory, State

Algorithm: TypeAlias = Literal["mcts", "ismcts", "blueprint"]
Leaf: TypeAlias = Literal["rollout", "value"]
Selection: TypeAlias = Literal["ucb", "puct"]
Prior: TypeAlias = Literal["uniform", "policy"]


class PlannerConfigError(ValueError):
    """A planner setting is unknown or out of range."""


@dataclass(frozen=True)
class PlannerConfig:
    """Settings of one search; JSON in and out.

    Attributes:
        algorithm: `mcts` (perfect information), `ismcts` (a belief over histories), or `blueprint` (one ply over the
            game's `policy`, in worlds of the same belief).
        simulations: simulations a move; of `blueprint`, games that are played on.
        exploration: UCB constant, in units of half the game's utility range (returns are scaled to [-1, 1]).
        leaf: how a new leaf is valued: random `rollout`s, or the game's `value` function.
        rollouts: random rollouts a leaf, where `leaf` is `rollout`.
        max_rollout_actions: a rollout is cut after that many actions; what is still open counts as 0.
        max_depth: a simulation goes no deeper than this into the tree.
        widening_coefficient: progressive widening: a node with n visits has at most
            max(widening_minimum, coefficient * (n + 1) ** exponent) children; 0 turns it off.
        widening_exponent: see above.
        widening_minimum: see above.
        belief_size: at most so many sampled histories are drawn a move; simulations share them in turn.
        resample_tries: tries to get one history that recreates the current observation (the CWM paper, G.6: 10).
        selection: how a simulation chooses among a node's actions: `ucb`, or `puct`, which weighs them by a prior.
        prior: where PUCT's prior comes from: `uniform`, or the game's `policy`.
        puct: PUCT's constant, in the units of `exploration`.
        first_play_reduction: under PUCT an action not yet tried counts as worth its node's mean less this; in the
            units of `exploration`.
        root_noise: under PUCT, share of Dirichlet noise in the root's prior.
        noise_concentration: sum of the noise's Dirichlet parameters; the fewer, the more it singles actions out.
        belief_temper: sampled histories are weighed by the likelihood of the other players' actions in them under the
            game's `policy`, its probabilities raised to this and divided by their sum; 0 weighs all the same.
        belief_mix: share of the uniform policy that is mixed into those likelihoods, before they are tempered.
        belief_threshold: more histories are drawn while the effective sample size is below this share of
            `belief_size`.
        candidates: `blueprint` tries at most so many actions, the likeliest ones under the game's `policy`; 1 plays the
            likeliest.
        margin: `blueprint` leaves the likeliest action only for one that gains more than this, in the game's units,
        margin_errors: and more than so many standard errors of the gain.
        seconds: a search ends after so many seconds, with one simulation at least; None for no limit. What it decides
            then depends on the machine.
    """

    algorithm: Algorithm = "mcts"
    simulations: int = 1000
    exploration: float = 1.0
    leaf: Leaf = "rollout"
    rollouts: int = 10
    max_rollout_actions: int = 1000
    max_depth: int = 200
    widening_coefficient: float = 0.0
    widening_exponent: float = 0.5
    widening_minimum: int = 6
    belief_size: int = 500
    resample_tries: int = 10
    selection: Selection = "ucb"
    prior: Prior = "uniform"
    puct: float = 0.65
    first_play_reduction: float = 0.08
    root_noise: float = 0.0
    noise_concentration: float = 10.0
    belief_temper: float = 0.0
    belief_mix: float = 0.05
    belief_threshold: float = 0.5
    candidates: int = 4
    margin: float = 0.05
    margin_errors: float = 2.0
    seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns the settings by name; those of `PRIOR_SETTINGS` and of `BLUEPRINT_SETTINGS` only where one of them is
        not its default, and `seconds` only where there is a limit."""
        data = asdict(self)
        if self.seconds is None:
            del data["seconds"]
        # Seeds and keys of stored results are hashes of this: a search without priors keeps those it always had.
        plain = PlannerConfig()
        if all(data[name] == getattr(plain, name) for name in PRIOR_SETTINGS):
            for name in PRIOR_SETTINGS:
                del data[name]
        if all(data[name] == getattr(plain, name) for name in BLUEPRINT_SETTINGS):
            for name in BLUEPRINT_SETTINGS:
                del data[name]
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "PlannerConfig":
        """Builds a configuration.

        Raises:
            PlannerConfigError: a key is unknown.
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(data) - known)
        if unknown:
            raise PlannerConfigError(f"unknown planner settings {unknown}; known: {sorted(known)}")
        return cls(**data)


PRIOR_SETTINGS = (
    "selection",
    "prior",
    "puct",
    "first_play_reduction",
    "root_noise",
    "noise_concentration",
    "belief_temper",
    "belief_mix",
    "belief_threshold",
)
"""The settings of searches that use a prior or read what the others did."""
BLUEPRINT_SETTINGS = ("candidates", "margin", "margin_errors")
"""The settings of `blueprint` alone."""


@dataclass(frozen=True)
class Position:
    """What a planner is told: one player's own decision point.

    Attributes:
        player: who is to move.
        history: the player's own observations and actions, the last action None.
        state: the state itself, in games of perfect information only; else None.
        report_belief: whether the decision is to tell what the player believes.
        as_searched: whether it is to explain itself: the belief as far as the search drew it, and priors.
    """

    player: int
    history: ObsActionHistory
    state: State | None = None
    report_belief: bool = False
    as_searched: bool = False


@dataclass(frozen=True)
class Decision:
    """What a search returns.

    Attributes:
        action: the move.
        visits: simulations by root action.
        values: mean return of the player to move, by root action, in the game's units.
        simulations: how many ran.
        fallback: None, or why the search gave up and a random legal action was played (the CWM paper, G.6).
        belief: figures of the belief (see `BeliefCounts`), empty for `mcts`.
        errors: exceptions that the model raised during the search, by message, with counts.
        belief_states: where asked for, (weight, state) of what the player believes possible, the weights summing to 1,
            at most `belief_size` of them; else None.
        priors: where the search weighed actions by a prior and was to explain itself, the prior of each root action,
            with the root's noise; else None.
    """

    action: Action
    visits: dict[Action, int]
    values: dict[Action, float]
    simulations: int
    fallback: str | None
    belief: dict[str, float]
    errors: dict[str, int]
    belief_states: list[tuple[float, State]] | None = None
    priors: dict[Action, float] | None = None


class Planner(Protocol):
    """A search on one game."""

    def choose(self, position: Position, rng: random.Random) -> Decision: ...


class Evaluator(Protocol):
    """Values a leaf."""

    def __call__(self, game: Game, state: State, rng: random.Random) -> list[float]:
        """Returns each player's expected sum of rewards paid after `state`, shape [num_players]."""
        ...


class ActionPrior(Protocol):
    """How likely a sensible player is to choose each action (used by PUCT)."""

    def __call__(self, state: State, actions: Sequence[Action], player: int) -> list[float]: ...
