"""Environments of PettingZoo and Gymnasium as games of ours: states are handles of copies, and are never looked into.

Every step is played on a copy (`copy.deepcopy`), so that the rules are pure functions as everywhere. Chance is sampled,
never enumerated: a game starts from a drawn seed, and a step that draws from a generator within the environment, of
NumPy's or Python's, is played again with one that is seeded anew, so that a planner cannot foresee what chance will do.
(What draws from elsewhere, such as generators of modules themselves, cannot be repeated and is not fit.) Nothing of
PettingZoo or Gymnasium is imported: whoever made an environment has them.

Actions are discrete, and their names are the numbers. Legal are those of `action_mask`, in what the agent sees or in
its info, else all.
"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from games.adapters.copies import OpaqueState, copied, drawn_seed, stepped, tried
from games.api import Action, Json, Utility
from games.posg.api import Choose, Joint, Moved, Observation, PosgError, PosgInfo

Bounds: TypeAlias = tuple[float, float]


class _Facts:
    """What is known of a position of a parallel environment.

    Attributes:
        told: by agent; None for one for whom the game was over before.
        legal: by agent.
        active: whose actions count.
        over: by agent.
    """

    __slots__ = ("active", "legal", "over", "told")

    def __init__(self, told: tuple[Json, ...], legal: tuple[tuple[Action, ...], ...], over: tuple[bool, ...]) -> None:
        self.told, self.legal, self.over = told, legal, over
        self.active = tuple(agent for agent, own in enumerate(legal) if own)


class FromParallel:
    """A parallel environment of PettingZoo as a `PosgModel`; observations are JSON as text, since they need a hash."""

    def __init__(
        self,
        env: Any,
        *,
        reward_bounds: Bounds,
        step_limit: int,
        game_id: str = "",
        utility: Utility = "general_sum",
    ) -> None:
        """Wraps an environment, of which copies are played.

        Args:
            env: a `ParallelEnv` with discrete actions, made without a window.
            reward_bounds: the least and the largest reward of a step.
            step_limit: steps after which a game is broken off at the latest.
            game_id: what the game is called; "" for the environment's own name.
            utility: how rewards of the agents hang together.

        Raises:
            PosgError: it cannot be copied, or an action space is not discrete.
        """
        game_id = game_id or name_of_env(env)
        names = agents_of(env, game_id)
        self._env, self._names = env, names
        self._spaces = {name: env.action_space(name) for name in names}
        check_bounds(reward_bounds, step_limit)
        actions = tuple(numbers_of(game_id, name, self._spaces[name]) for name in names)
        self.info = PosgInfo(
            id=game_id,
            agent_names=tuple(map(str, names)),
            utility=utility,
            actions=actions,
            min_step=reward_bounds[0],
            max_step=reward_bounds[1],
            min_utility=reward_bounds[0] * step_limit,
            max_utility=reward_bounds[1] * step_limit,
            step_limit=step_limit,
        )
        copied(env, game_id)

    def initial_state(self, choose: Choose) -> OpaqueState:
        return self._started(drawn_seed(choose))

    def active(self, state: OpaqueState) -> Sequence[int]:
        return state.facts.active  # type: ignore[no-any-return]

    def legal_actions(self, state: OpaqueState, agent: int) -> Sequence[Action]:
        return state.facts.legal[agent]  # type: ignore[no-any-return]

    def move(self, state: OpaqueState, actions: Joint, choose: Choose) -> Moved:
        active = state.facts.active
        given = {self._names[agent]: int(actions[agent]) for agent in active}
        env, result, is_drawn = tried(state.env, self.info.id, partial(_step, given))
        seed = None
        if is_drawn:
            seed = drawn_seed(choose)
            env, result = stepped(state.env, self.info.id, partial(_step, given), seed)
        after, rewards = self._after(state, env, result, ("step", *(actions[agent] for agent in active), seed))
        return after, rewards, after.facts.over

    def observe(self, state: OpaqueState, actions: Joint | None, choose: Choose) -> Sequence[Observation | None]:
        return state.facts.told  # type: ignore[no-any-return]

    def state_to_json(self, state: OpaqueState) -> Json:
        return [list(entry) for entry in state.log]

    def state_from_json(self, described: Json) -> OpaqueState:
        state = self._started(described[0][1])
        for _, *chosen, seed in described[1:]:
            given = dict(zip((self._names[agent] for agent in state.facts.active), map(int, chosen), strict=True))
            env, result = stepped(state.env, self.info.id, partial(_step, given), seed)
            state, _ = self._after(state, env, result, ("step", *chosen, seed))
        return state

    def observation_to_json(self, agent: int, observation: Observation) -> Json:
        return json.loads(observation)

    def observation_from_json(self, agent: int, described: Json) -> Observation:
        return json.dumps(described, sort_keys=True)

    def _started(self, seed: int) -> OpaqueState:
        env = copied(self._env, self.info.id)
        told, infos = env.reset(seed=seed)
        over = (False,) * len(self._names)
        return OpaqueState(env, (("seed", seed),), self._facts(env, told, infos, over, 0))

    def _after(
        self, state: OpaqueState, env: Any, result: Any, entry: tuple[Json, ...]
    ) -> tuple[OpaqueState, list[float]]:
        told, rewards, ended, cut, infos = result
        before = state.facts.over
        over = tuple(
            before[agent] or bool(ended.get(name)) or bool(cut.get(name)) for agent, name in enumerate(self._names)
        )
        paid = [self._paid(name, rewards.get(name, 0.0)) for name in self._names]
        facts = self._facts(env, told, infos, over, len(state.log), before)
        return OpaqueState(env, (*state.log, entry), facts), paid

    def _paid(self, name: str, reward: Any) -> float:
        paid = float(reward)
        if not self.info.min_step <= paid <= self.info.max_step:
            raise PosgError(
                f"{self.info.id} paid {name} {paid:g}, and rewards of a step were said to lie from "
                f"{self.info.min_step:g} to {self.info.max_step:g}: give wider bounds."
            )
        return paid

    def _facts(
        self,
        env: Any,
        told: Mapping[Any, Any],
        infos: Mapping[Any, Any],
        over: tuple[bool, ...],
        step: int,
        before: tuple[bool, ...] = (),
    ) -> _Facts:
        out = [name for agent, name in enumerate(self._names) if over[agent]]
        check_agents(self.info.id, env, self._spaces, out, f"after step {step}")
        legal: list[tuple[Action, ...]] = []
        for agent, name in enumerate(self._names):
            acts = not over[agent] and name in env.agents
            own = self.info.actions[agent]
            legal.append(legal_of(own, told.get(name), infos.get(name)) if acts else ())
        seen = tuple(
            json.dumps(as_json(told[name]), sort_keys=True) if name in told and not (before and before[agent]) else None
            for agent, name in enumerate(self._names)
        )
        return _Facts(seen, tuple(legal), over)


class FromGymnasium(FromParallel):
    """An environment of Gymnasium as a `PosgModel` of one agent."""

    def __init__(self, env: Any, *, reward_bounds: Bounds, step_limit: int, game_id: str = "") -> None:
        """Wraps an environment, of which copies are played; for the arguments and errors see `FromParallel`."""
        super().__init__(
            _OneAgent(env), reward_bounds=reward_bounds, step_limit=step_limit, game_id=game_id, utility="identical"
        )


class _OneAgent:
    """An environment of Gymnasium behind what PettingZoo's parallel ones offer."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.possible_agents = ["agent_0"]
        self.agents = ["agent_0"]

    @property
    def metadata(self) -> dict[str, Any]:
        spec = getattr(self.env, "spec", None)
        return {"name": spec.id if spec is not None else type(self.env).__name__}

    def action_space(self, name: str) -> Any:
        return self.env.action_space

    def reset(self, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        told, info = self.env.reset(seed=seed)
        self.agents = list(self.possible_agents)
        return {"agent_0": told}, {"agent_0": info}

    def step(self, actions: Mapping[str, int]) -> tuple[dict[str, Any], ...]:
        result = self.env.step(actions["agent_0"])
        if result[2] or result[3]:
            self.agents = []
        return tuple({"agent_0": part} for part in result)


def agents_of(env: Any, game_id: str) -> list[Any]:
    """Returns the agents that an environment names.

    Raises:
        PosgError: it names none.
    """
    names = list(getattr(env, "possible_agents", ()))
    if not names:
        raise PosgError(f"{game_id} names no possible_agents; games here have the agents that they begin with.")
    return names


def check_agents(game_id: str, env: Any, spaces: Mapping[Any, Any], out: Collection[Any], when: str) -> None:
    """Checks that an environment keeps to what games here are.

    Args:
        game_id: for errors.
        env: just stepped.
        spaces: of the actions, by agent, as they were at first.
        out: for whom the game is over.
        when: for errors.

    Raises:
        PosgError: an agent is new or was out of the game before, or its actions have changed.
    """
    for name in env.agents:
        if name not in spaces:
            raise PosgError(
                f"{game_id}: the agent {name!r} came {when}, and is none of possible_agents; games here have "
                "the agents that they begin with."
            )
        if name in out:
            raise PosgError(
                f"{game_id}: the agent {name!r} was out of the game and is back {when}; here, whose game is over stays "
                "out: have the environment keep it in `agents`, or give it another name."
            )
        if env.action_space(name) != spaces[name]:
            raise PosgError(
                f"{game_id}: the actions of {name!r} are {env.action_space(name)} {when}, and were {spaces[name]}: "
                "give a fixed space, and tell by action_mask what is legal."
            )


def check_bounds(bounds: Bounds, limit: int) -> None:
    """Checks what is said of rewards and lengths.

    Raises:
        PosgError: the bounds are not finite, or the limit is below 1.
    """
    low, high = bounds
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise PosgError(f"bounds of rewards are the least and the largest one, finite numbers, not {bounds!r}.")
    if type(limit) is not int or limit < 1:
        raise PosgError(f"the number of steps after which a game is broken off is at least 1, not {limit!r}.")


def name_of_env(env: Any) -> str:
    """Returns what an environment calls itself."""
    told = getattr(env, "metadata", None) or {}
    return str(told.get("name") or type(env).__name__)


def numbers_of(game_id: str, name: Any, space: Any) -> tuple[Action, ...]:
    """Returns the names of an agent's actions.

    Raises:
        PosgError: their space is not discrete.
    """
    size = getattr(space, "n", None)
    if size is None or isinstance(size, np.ndarray):
        raise PosgError(f"{game_id}: the actions of {name!r} are {space}; only a Discrete space can be played here.")
    first = int(getattr(space, "start", 0))
    return tuple(str(first + number) for number in range(int(size)))


def legal_of(actions: tuple[Action, ...], told: Any, info: Any) -> tuple[Action, ...]:
    """Returns the actions that an agent is told to be legal; all where it is told nothing, or that none is."""
    mask = told.get("action_mask") if isinstance(told, Mapping) else None
    if mask is None and isinstance(info, Mapping):
        mask = info.get("action_mask")
    if mask is None:
        return actions
    return tuple(action for action, legal in zip(actions, mask, strict=True) if legal) or actions


def as_json(value: Any) -> Json:
    """Returns what an agent was told as JSON, without the mask of actions: rules of ours list what is legal."""
    if isinstance(value, Mapping):
        return {str(name): as_json(part) for name, part in value.items() if name != "action_mask"}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [as_json(part) for part in value]
    return value


def _step(given: Mapping[Any, int], env: Any) -> Any:
    return env.step(given)
