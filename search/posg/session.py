"""What a worker runs beside a program with a joint step: the planners of this package, one call a decision.

An argument is JSON, and so is what is returned. States of the program stay in the worker.
"""

import random
import time
from collections.abc import Collection
from dataclasses import asdict, replace
from typing import Any, Final, Protocol

from games.posg.api import PolicyOnHistory, PosgModel
from search.api import Decision, PlannerConfigError, Position
from search.errors import SearchFailedError
from search.marginals import shares
from search.posg.config import PosgPlannerConfig
from search.posg.others import OnHistory, OtherPolicy, Uniform
from search.posg.planner import PosgPlanner, make
from search.posg.types import SOFTENED

PAYLOAD: tuple[str, ...] = (
    "games.api",
    "games.posg.api",
    "games.posg.chance",
    "search.api",
    "search.errors",
    "search.resampling",
    "search.marginals",
    "search.posg.config",
    "search.posg.steps",
    "search.posg.others",
    "search.posg.tree",
    "search.posg.select",
    "search.posg.types",
    "search.posg.simulate",
    "search.posg.told",
    "search.posg.belief",
    "search.posg.meta",
    "search.posg.belief_exact",
    "search.posg.belief_adapted",
    "search.posg.belief_rejection",
    "search.posg.belief_inferred",
    "search.posg.tables",
    "search.posg.nested",
    "search.posg.planner",
    "search.posg.session",
)
"""The modules that a worker must load, each after those it imports."""
UNIFORM: Final = "uniform"
PRIOR: Final = "prior"
"""The policy that stands beside a program; with `uniform` all the types that need nothing of the true game."""


class Program(Protocol):
    """What a worker calls: a loaded program."""

    @property
    def posg(self) -> PosgModel: ...


def choose(program: Program, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Decides one move.

    Args:
        program: with a joint step.
        argument: `config`, `PosgPlannerConfig` as JSON; `player`; `history` ([[observation, action or null], …], the
            last action null); `legal`, what may be played now; `explain` (default false).
        rng: the search's randomness.

    Returns:
        The fields of `Decision`, and `seconds`. If the search has no action at all, `action` is null and `fallback`
        says why. Where an explanation was asked for, `belief_shares` (see `search.marginals.shares`) may be there.

    Raises:
        PlannerConfigError: the settings are none. Settings that do not fit the model are an answer: nobody is at fault.
    """
    begin = time.perf_counter()
    config, explains = PosgPlannerConfig.from_json(argument["config"]), argument.get("explain", False)
    history = [(observation, action) for observation, action in argument["history"]]
    try:
        planner = _SEATED.planner(program, config, argument["player"])
        decision = planner.choose(Position(argument["player"], history, as_searched=explains), rng, argument["legal"])
    except (SearchFailedError, PlannerConfigError) as error:
        decision = Decision("", {}, {}, 0, str(error), {}, {})
    told = asdict(replace(decision, belief_states=None))
    del told["belief_states"], told["priors"]
    told["action"] = decision.action or None
    if explains and decision.belief_states:
        told["belief_shares"] = shares(decision.belief_states)
    return told | {"seconds": time.perf_counter() - begin}


def _policies(model: PosgModel) -> dict[str, list[OtherPolicy]]:
    found: dict[str, list[OtherPolicy]] = {UNIFORM: [Uniform()] * model.info.num_agents}
    if isinstance(model, PolicyOnHistory):
        found[PRIOR] = [OnHistory(model)] * model.info.num_agents
    return found


class _Seated:
    """The planners of the game in progress, by agent: what each knows of the game it keeps from move to move."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._planners: dict[int, tuple[PosgPlannerConfig, PosgPlanner]] = {}

    def planner(self, program: Program, config: PosgPlannerConfig, agent: int) -> PosgPlanner:
        """Returns the planner of an agent, a new one if there is none with these settings.

        Raises:
            PlannerConfigError: there can be none.
        """
        if program is not self._program:
            self._program, self._planners = program, {}
        kept = self._planners.get(agent)
        if kept is None or kept[0] != config:
            kept = self._planners[agent] = (config, make(program.posg, agent, config, _policies(program.posg)))
        return kept[1]


_SEATED = _Seated()


def check_types(config: PosgPlannerConfig, beside: Collection[str] = ()) -> None:
    """Checks that a planner on a program alone can have what its settings ask for.

    Args:
        config: of the planner.
        beside: the kinds of functions that stand beside the program: `value`, `prior`, `resample`.

    Raises:
        PlannerConfigError: a policy is one of the true game, or a function is asked for that the program lacks.
    """
    if config.belief == "inferred" and "resample" not in beside:
        raise PlannerConfigError("a model without an inference function beside it infers nothing: use belief=adapted.")
    if config.leaf == "value" and "value" not in beside:
        raise PlannerConfigError("its model has no value function: use leaf=rollout.")
    known = (UNIFORM, PRIOR) if "prior" in beside else (UNIFORM,)
    unknown = (config.unknown_as.removeprefix(SOFTENED),) if config.unknown else ()
    search = (config.search,) if config.search else ()
    for setting, names in (("types", config.types), ("search", search), ("unknown_as", unknown)):
        others = [name for name in names if name.removeprefix(SOFTENED) not in known]
        if others and others[0].removeprefix(SOFTENED) == PRIOR:
            raise PlannerConfigError(
                f"{setting} names {PRIOR!r}, and no policy stands beside the model: use {UNIFORM}."
            )
        if others:
            raise PlannerConfigError(
                f"{setting} names {others[0]!r}, a policy of the true game, which a model does not have: use "
                f"{' or '.join(known)}, or method=pomcp."
            )
