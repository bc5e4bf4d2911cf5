"""Methods of a matrix by the names of the POSGGym paper: how each takes its seat, given whom it plans for and a budget.

Planners play as the authors' experiments did, where nothing else is asked for: the published belief by rejection, half
of PUCB's prior uniform, and as many particles as they gave to a number of seconds.
"""

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from arena.agents.posg import SHORT_NAMES, settings
from arena.usage import UsageError

PUBLISHED: Final[Mapping[str, str]] = {"belief": "rejection", "mix": "0.5"}
"""Settings of the authors' experiments that are not our defaults."""
PARTICLES_A_SECOND: Final = 100
OF_THE_MATRIX: Final[Mapping[str, str]] = {
    "simulations": "sims",
    "seconds": "time",
    "types": "planned_for",
    "search": "trained",
}
"""Settings of planners that the matrix fills in, each with its option."""


@dataclass(frozen=True)
class MatrixMethod:
    """A row of `METHODS`.

    Attributes:
        title: as the paper names it.
        planner: of `search.posg`; "" for none.
        told: it is told whom it plans for.
        trained: it needs trained best responses to these.
    """

    title: str
    planner: str = ""
    told: bool = False
    trained: bool = False


MEMBERS: Final = "members"
RANDOM: Final = "random"
METHODS: Final[Mapping[str, MatrixMethod]] = {
    "pomcp": MatrixMethod("POMCP", "pomcp"),
    "ipomcp": MatrixMethod("IPOMCP", "ipomcp", told=True),
    "potmmcp": MatrixMethod("POTMMCP", "potmmcp", told=True),
    "intmcp": MatrixMethod("INTMCP", "intmcp"),
    "combined": MatrixMethod("Combined", "combined", told=True, trained=True),
    "rl-br": MatrixMethod("RL-BR", told=True, trained=True),
    MEMBERS: MatrixMethod("members", told=True),
    RANDOM: MatrixMethod("random"),
}
"""By the name that is asked for; `members` are those of the population that is planned for, in the planner's seat."""


@dataclass(frozen=True)
class MoveBudget:
    """What a planner has for a move: simulations, or seconds.

    Attributes:
        simulations: None where there are seconds.
        seconds: None where there are simulations.
    """

    simulations: int | None = None
    seconds: float | None = None

    @property
    def text(self) -> str:
        return f"{self.simulations} sims" if self.seconds is None else f"{self.seconds:g} s"

    @property
    def settings(self) -> dict[str, str]:
        """Of a planner: what it has, and for seconds the number of particles that the authors gave for so many."""
        if self.seconds is None:
            return {"simulations": str(self.simulations)}
        particles = math.ceil(PARTICLES_A_SECOND * self.seconds)
        return {"seconds": repr(self.seconds), "particles": str(particles + math.ceil(particles / 16))}


@dataclass(frozen=True)
class AskedMethod:
    """A method with settings of its own.

    Attributes:
        key: of `METHODS`.
        name: in tables.
        settings: of its planner, by full name, as written.
    """

    key: str
    name: str
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def method(self) -> MatrixMethod:
        return METHODS[self.key]

    def planner(self, budget: MoveBudget, types: Sequence[str], search: str) -> dict[str, Any]:
        """Returns the planner's settings.

        Args:
            budget: of a move.
            types: policies that the others may have; not read where the method is not told.
            search: what leads it; not read where nothing trained does.

        Raises:
            PlannerConfigError: a setting is unknown or out of range.
        """
        policies: dict[str, Any] = {"types": list(types)} if self.method.told else {}
        policies |= {"search": search} if self.method.trained else {}
        # As text a folder could not have a plus in its name.
        known = {**PUBLISHED, **budget.settings, **self.settings} | dict.fromkeys(policies, "uniform")
        return settings(self.method.planner, known) | policies


def asked_method(text: str) -> AskedMethod:
    """Reads `NAME[,SETTING=VALUE,…]`, e.g. `ipomcp,belief=adapted`; `name=` is what tables call it.

    Raises:
        UsageError: there is no such method, or a setting does not go with it.
    """
    key, *parts = [part.strip() for part in text.split(",")]
    if key.lower() not in METHODS:
        near = difflib.get_close_matches(key.lower(), METHODS, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"the method {key!r} is none of a matrix: it is one of {', '.join(METHODS)}.{hint}")
    method, given = METHODS[key.lower()], dict[str, str]()
    for part in parts:
        short, equals, value = part.partition("=")
        name = SHORT_NAMES.get(short, short)
        if not equals or not value:
            raise UsageError(f"the method {text!r} has {part!r}: write SETTING=VALUE, e.g. belief=adapted.")
        if name in OF_THE_MATRIX:
            raise UsageError(
                f"the method {text!r} has {short}=, which the matrix fills in: use the option `{OF_THE_MATRIX[name]}`."
            )
        if not method.planner and name != "name":
            raise UsageError(f"the method {key} plans nothing: leave out {part}.")
        given[name] = value
    label = given.pop("name", None) or " ".join([method.title, *(part for part in parts)])
    return AskedMethod(key.lower(), label, given)
