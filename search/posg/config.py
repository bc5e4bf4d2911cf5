"""Settings of the planners for games of simultaneous moves."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, TypeAlias, get_args

from search.api import PlannerConfigError

Method: TypeAlias = Literal["pomcp", "ipomcp", "intmcp", "potmmcp", "combined"]
Filter: TypeAlias = Literal["rejection", "adapted", "exact", "inferred"]
Filling: TypeAlias = Literal["rejected", "fitting"]
Meta: TypeAlias = Literal["softmax", "greedy", "uniform"]
Tables: TypeAlias = Literal["auto", "always", "never"]
Leaf: TypeAlias = Literal["rollout", "value"]

MOST: Final = 1_000_000_000
"""No count is higher: such a search would never end."""
MOST_LEVELS: Final = 5
"""Of `intmcp`: each divides the simulations further."""


@dataclass(frozen=True)
class PosgPlannerConfig:
    """Settings of one search; JSON in and out.

    Source of methods and defaults: Schwartz et al., "POSGGym" (2025), section 5.2 and table 7.

    Attributes:
        method: `pomcp` (the others act at random), `ipomcp` (the others are of one of the `types`), `intmcp` (the
            others search, too, one level below), `potmmcp` (as `ipomcp`, and the search is led by policies of the
            types themselves) or `combined` (likewise, and it is led by the policy `search` and its values).
        simulations: simulations a decision.
        seconds: a search ends after so many seconds, with one simulation at least; None for no limit. What it decides
            then depends on the machine.
        level: of `intmcp`: on level 0 the others act at random, as in `pomcp`.
        types: names of policies that the others may have; none for `pomcp` and `intmcp`.
        search: name of the policy that leads `combined`, as a rule a best response to the types; "" for other methods.
        unknown: probability, before the game, that an agent has none of them.
        unknown_as: how it then acts: the name of a policy, or `softened:NAME`, which acts at random now and then.
        belief: how the belief is carried on: `rejection` as published, `adapted` (no particle contradicts what was
            seen), `exact` (all that is possible, for small games) or `inferred` (drawn anew by the model's inference).
        particles: of a belief; `exact` has as many as there are.
        tries: draws a missing particle, at most.
        branches: `adapted` goes through a step's chance where it has no more ways than this, or where its particles
            are fewer than `particles`, so many more; and draws it otherwise.
        evidence: the power of the likelihood by which the types are weighed; below 1 they are doubted for longer.
        fill: what `rejection` fills a belief with that it could not complete: `rejected` draws, which contradict what
            was seen, or `fitting` ones once more.
        exploration: UCB's constant; action values are scaled to [0, 1] by the range met in the tree.
        puct: PUCB's constant, for `potmmcp` and `combined`.
        mix: share of the uniform policy in PUCB's prior.
        meta: how `potmmcp` chooses a policy of its own, given the others' type: by `softmax` of its payoffs, the best
            (`greedy`) or any (`uniform`).
        temperature: of the softmax.
        episodes: games that each payoff of `potmmcp` is estimated by, where it is not known.
        discount: of rewards a step.
        epsilon: a simulation goes no deeper than where the discount of a reward falls below this.
        tables: whether steps are gone through once and looked up afterwards: `always`, `never`, or `auto`, where few
            states are met in random play.
        leaf: what a new leaf is worth: a `rollout`'s return (where a policy leads that knows what it expects, that), or
            what the model's value function says of its state (`value`).
    """

    method: Method = "ipomcp"
    simulations: int = 1000
    seconds: float | None = None
    level: int = 2
    types: tuple[str, ...] = ()
    search: str = ""
    unknown: float = 0.0
    unknown_as: str = "uniform"
    belief: Filter = "adapted"
    particles: int = 500
    tries: int = 4
    branches: int = 64
    evidence: float = 1.0
    fill: Filling = "rejected"
    exploration: float = math.sqrt(2.0)
    puct: float = 1.25
    mix: float = 0.25
    meta: Meta = "softmax"
    temperature: float = 0.25
    episodes: int = 100
    discount: float = 0.99
    epsilon: float = 0.01
    tables: Tables = "auto"
    leaf: Leaf = "rollout"

    def to_json(self) -> dict[str, Any]:
        """Returns the settings by name; those that came later only where they are not as they always were."""
        data = asdict(self) | {"types": list(self.types)}
        if self.seconds is None:
            del data["seconds"]
        later = {name for name in LATER if data[name] == getattr(PosgPlannerConfig, name)}
        if self.method == "intmcp":
            later.discard("level")
        return {name: value for name, value in data.items() if name not in later}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PosgPlannerConfig":
        """Builds a configuration and checks it.

        Raises:
            PlannerConfigError: a key is unknown or a value out of range.
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(data) - known)
        if unknown:
            raise PlannerConfigError(f"unknown planner settings {unknown}; known: {sorted(known)}")
        types = data.get("types", ())
        if isinstance(types, str) or not all(isinstance(name, str) for name in types):
            raise PlannerConfigError(f"types is {types!r}, expected a list of names.")
        if not isinstance(data.get("search", ""), str):
            raise PlannerConfigError(f"search is {data['search']!r}, expected the name of a policy.")
        config = cls(**{**data, "types": tuple(types)})
        check(config)
        return config

    @property
    def depth(self) -> int:
        """Steps after which a reward counts for less than `epsilon`."""
        return max(1, math.ceil(math.log(self.epsilon) / math.log(self.discount))) if self.discount < 1.0 else MOST

    @property
    def searches(self) -> int:
        """Searches of a decision, which share its simulations equally."""
        return self.level + 1 if self.method == "intmcp" else 1


CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "method": get_args(Method),
    "belief": get_args(Filter),
    "fill": get_args(Filling),
    "meta": get_args(Meta),
    "tables": get_args(Tables),
    "leaf": get_args(Leaf),
}
COUNTS: Final = ("simulations", "particles", "tries", "branches", "episodes")
AMOUNTS: Final = ("exploration", "puct")
SHARES: Final = ("mix", "unknown")
POSITIVE: Final = ("temperature", "discount", "epsilon", "evidence")
LATER: Final = ("level", "search", "unknown", "unknown_as", "evidence", "leaf")
"""Settings that agents stored earlier do not have."""


def check(config: PosgPlannerConfig) -> None:
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
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
            raise PlannerConfigError(f"{name} is {value!r}, expected a whole number from 1 to {MOST:,}.")
    for name in AMOUNTS:
        if not _is_number(getattr(config, name)) or not 0 <= getattr(config, name) < math.inf:
            raise PlannerConfigError(f"{name} is {getattr(config, name)!r}, expected a number of at least 0.")
    for name in SHARES:
        if not _is_number(getattr(config, name)) or not 0 <= getattr(config, name) <= 1:
            raise PlannerConfigError(f"{name} is {getattr(config, name)!r}, expected a share from 0 to 1.")
    for name in POSITIVE:
        value = getattr(config, name)
        most = math.inf if name == "temperature" else 1.0
        if not _is_number(value) or not 0 < value <= most or value == math.inf:
            wanted = "a number above 0" if name == "temperature" else "a number above 0, at most 1"
            raise PlannerConfigError(f"{name} is {value!r}, expected {wanted}.")
    if config.seconds is not None and (not _is_number(config.seconds) or not 0 < config.seconds < math.inf):
        raise PlannerConfigError(f"seconds is {config.seconds!r}, expected a number above 0.")
    if isinstance(config.level, bool) or not isinstance(config.level, int) or not 0 <= config.level <= MOST_LEVELS:
        raise PlannerConfigError(f"level is {config.level!r}, expected a whole number from 0 to {MOST_LEVELS}.")
    if config.method != "intmcp" and config.level != PosgPlannerConfig.level:
        raise PlannerConfigError(f"{config.method} has no levels: leave out level, or use intmcp.")
    if config.method == "intmcp" and config.belief == "inferred" and config.level:
        raise PlannerConfigError(
            "intmcp searches on from histories that it has searched before, and inferred draws new ones: use adapted."
        )
    if config.evidence < 1.0 and config.belief == "rejection":
        raise PlannerConfigError("rejection weighs no type: leave out evidence, or use another belief.")
    _check_types(config)


def _check_types(config: PosgPlannerConfig) -> None:
    if config.method == "pomcp" and config.types:
        raise PlannerConfigError("pomcp takes the others to act at random: leave out types, or use ipomcp.")
    if config.method == "intmcp" and config.types:
        raise PlannerConfigError("intmcp takes the others to search as it does: leave out types, or use ipomcp.")
    if config.method not in ("pomcp", "intmcp") and not config.types:
        raise PlannerConfigError(
            f"{config.method} needs types, the policies that the others may have, e.g. types=H1+H2."
        )
    if config.method == "combined" and not config.search:
        raise PlannerConfigError(
            "combined needs search, the policy that leads it: a trained best response to the types, e.g. "
            "search=runs/br/br-s0, or any policy that types may name."
        )
    if config.search and config.method != "combined":
        raise PlannerConfigError(f"search goes with combined alone, not with {config.method}: leave it out.")
    if config.unknown == 1.0 or not isinstance(config.unknown_as, str):
        raise PlannerConfigError(
            f"unknown is {config.unknown!r} and unknown_as {config.unknown_as!r}, expected a share below 1 and a name."
        )
    if config.unknown and not config.types:
        raise PlannerConfigError(f"{config.method} takes no types: leave out unknown, or use ipomcp.")
    if len(set(config.types)) < len(config.types):
        raise PlannerConfigError(f"types names a policy twice: {'+'.join(config.types)}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
