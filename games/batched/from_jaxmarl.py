"""Environments of JaxMARL as batched environments, for our learners; needs the extra `jaxmarl`.

Games are stepped by `step_env`, so that nothing is reset behind the learner's back, and chance draws from the keys that
the step is given. What is needed: one number an action (`Discrete`), observations that are arrays, and shapes that stay
as they are; anything else is refused with the reason. Agents with fewer actions than others may choose among theirs
alone, and shorter vectors are filled up with zeros.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from games.api import GameError
from games.batched.api import Array, Outcome, Transition
from games.extras import install

try:
    from jaxmarl.environments import spaces
    from jaxmarl.environments.multi_agent_env import MultiAgentEnv
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"games.batched.from_jaxmarl needs {error.name}, which is not installed; run: {install('jaxmarl')}.",
        name=error.name,
    ) from error

MASKS: Final = ("get_avail_actions", "get_legal_moves")
"""What tells which actions are legal is called so, in most environments and in Hanabi."""
SHAPED: Final = "shaped_reward"
"""What tells of the training signal that is no part of the reward is called so."""
ALL: Final = "__all__"

Counting: TypeAlias = Callable[[Any, Array, Any], Mapping[str, Array]]
"""(JaxMARL's state before, actions int32 [P], its state after) -> what the step adds to each figure, numbers []."""


class JaxMarlError(GameError):
    """An environment of JaxMARL cannot be played as a batched one; the message says why."""


class ImportedState(NamedTuple):
    """A game of JaxMARL, and what was counted in it.

    Attributes:
        game: JaxMARL's own state.
        over: bool [].
        total: float32 [P], what each player was paid so far.
        length: int32 [], steps so far.
        figures: sums so far, by name.
        seen: float32 [P, *image_shape], what the players see, where that does not follow from the state; else ().
    """

    game: Any
    over: Array
    total: Array
    length: Array
    figures: dict[str, Array]
    seen: Any


class FromJaxMarl:
    """An environment of JaxMARL as `BatchedEnv`.

    A reward in which players differ is paid to each alone; `Outcome.total` is their mean, and figures `return AGENT`
    tell them apart unless all are paid alike.
    """

    def __init__(
        self,
        env: MultiAgentEnv,
        *,
        paid_alike: bool = False,
        count: Counting | None = None,
        seen_in_state: bool = False,
        restart: Callable[[Any], Any] | None = None,
    ) -> None:
        """Wraps an environment.

        Args:
            env: of JaxMARL.
            paid_alike: whether all players are always paid the same.
            count: figures of the game.
            seen_in_state: whether `get_obs(state)` is what `step_env` shows on reaching the state; otherwise what it
                shows is kept beside the state.
            restart: makes a state one in which a game begins, where time is counted in it.

        Raises:
            JaxMarlError: its actions are no single numbers, or its shapes differ by player or change with a step.
        """
        self.env = env
        self.agents = tuple(env.agents)
        self._alike, self._count, self._restart = paid_alike, count, restart
        self._sizes = tuple(_actions_of(env, agent) for agent in self.agents)
        self._mask = _mask_of(env)
        self._types, self._image_shape = _shapes_of(env, self.agents)
        self._seen_in_state = seen_in_state
        if self._mask is not None:
            _check_mask(env, self._mask, self.agents, self._sizes)

    @property
    def num_players(self) -> int:
        return len(self.agents)

    @property
    def num_actions(self) -> int:
        return max(self._sizes)

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return self._image_shape

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest number that an observation may hold, as JaxMARL tells."""
        told = [self.env.observation_space(agent) for agent in self.agents]
        return min(float(np.min(space.low)) for space in told), max(float(np.max(space.high)) for space in told)

    def init(self, key: Array) -> ImportedState:
        """Returns a freshly dealt game, or B games; each depends on its own key alone."""
        return jax.vmap(self._init, out_axes=-1)(key) if key.ndim else self._init(key)

    def step(self, state: ImportedState, actions: Array, keys: Array) -> tuple[ImportedState, Transition]:
        """Plays one action of every player, int32 [P]; in place of an illegal one the lowest-numbered legal one."""
        stepping = jax.vmap(self._step, in_axes=(-1, 0, 0), out_axes=(-1, 0)) if keys.ndim else self._step
        following: tuple[ImportedState, Transition] = stepping(state, jnp.asarray(actions, jnp.int32), keys)
        return following

    def legal_mask(self, state: ImportedState) -> Array:
        """Returns which actions are legal, bool [P, N]: all of a player's where JaxMARL tells of none."""
        return self._by_lane(self._legal, state)

    def sample(self, state: ImportedState, uniform: Array) -> Array:
        """Returns uniformly drawn legal actions, int32 [P], each player's independent of the others'."""
        drawing = jax.vmap(self._sample, in_axes=(-1, 0)) if state.over.ndim else self._sample
        drawn: Array = drawing(state, uniform)
        return drawn

    def observe(self, state: ImportedState) -> Array:
        """Returns what every player sees, float32 [P, *image_shape]; vectors are images of one cell."""
        return self._by_lane(self._observe, state)

    def is_over(self, state: ImportedState) -> Array:
        return state.over

    def outcome(self, state: ImportedState) -> Outcome:
        """Returns what was paid on average, and the figures."""
        own = {} if self._alike else {f"return {agent}": state.total[at] for at, agent in enumerate(self.agents)}
        total = state.total[0] if self._alike else state.total.mean(axis=0)
        return Outcome(total, state.length, {**state.figures, **own})

    def restarted(self, state: ImportedState) -> ImportedState:
        """Returns the position as the beginning of a game: nothing was paid yet, and no time has passed."""
        game = state.game if self._restart is None else self._of_types(self._restart(state.game))
        over, total, length, figures = jax.tree.map(
            jnp.zeros_like, (state.over, state.total, state.length, state.figures)
        )
        return ImportedState(game, over, total, length, figures, state.seen)

    def _by_lane(self, function: Callable[[ImportedState], Array], state: ImportedState) -> Array:
        return jax.vmap(function, in_axes=-1)(state) if state.over.ndim else function(state)

    def _init(self, key: Array) -> ImportedState:
        seen, dealt = self.env.reset(key)
        game = self._of_types(dealt)
        figures: dict[str, Array] = {}
        if self._count is not None:
            nothing = jnp.zeros(self.num_players, jnp.int32)
            shapes = jax.eval_shape(self._count, game, nothing, game)
            figures = {name: jnp.zeros((), _summed(shape.dtype)) for name, shape in shapes.items()}
        paid = jnp.zeros(self.num_players, jnp.float32)
        return ImportedState(
            game, jnp.zeros((), bool), paid, jnp.zeros((), jnp.int32), figures, self._kept(self._image(seen))
        )

    def _step(self, state: ImportedState, actions: Array, key: Array) -> tuple[ImportedState, Transition]:
        legal = self._legal(state)
        known = (actions >= 0) & (actions < self.num_actions)
        fits = known & jnp.take_along_axis(legal, jnp.where(known, actions, 0)[:, None], axis=1)[:, 0]
        chosen = jnp.where(fits, actions, jnp.argmax(legal, axis=1).astype(jnp.int32))
        seen, after, rewards, dones, infos = self.env.step_env(key, state.game, self._by_agent(chosen))
        game = self._of_types(after)
        reward = jnp.stack([jnp.asarray(rewards[agent], jnp.float32).reshape(()) for agent in self.agents])
        figures = dict(state.figures)
        if self._count is not None:
            for name, more in self._count(state.game, chosen, game).items():
                figures[name] = state.figures[name] + more.astype(state.figures[name].dtype)
        ended = jnp.asarray(dones[ALL], bool).reshape(())
        following = ImportedState(
            game, ended, state.total + reward, state.length + 1, figures, self._kept(self._image(seen))
        )
        over = state.over
        stayed: ImportedState = jax.tree.map(lambda new, old: jnp.where(over, old, new), following, state)
        info = {"illegal": ~fits & ~over, "shaping": jnp.where(over, 0.0, self._shaping(infos))}
        return stayed, Transition(jnp.where(over, 0.0, reward), ended & ~over, info)

    def _shaping(self, infos: Mapping[str, Any]) -> Array:
        told = infos.get(SHAPED)
        if told is None:
            return jnp.zeros(self.num_players, jnp.float32)
        values = [told[agent] for agent in self.agents] if isinstance(told, Mapping) else list(told)
        return jnp.stack([jnp.asarray(value, jnp.float32).reshape(()) for value in values])

    def _legal(self, state: ImportedState) -> Array:
        own = jnp.arange(self.num_actions) < jnp.asarray(self._sizes)[:, None]
        if self._mask is None:
            return own
        told = self._mask(state.game)
        return own & jnp.stack([_longer(jnp.asarray(told[agent]) > 0, self.num_actions) for agent in self.agents])

    def _sample(self, state: ImportedState, uniform: Array) -> Array:
        bits = jax.lax.bitcast_convert_type(uniform.astype(jnp.float32), jnp.uint32)
        legal = self._legal(state)
        share = jax.random.uniform(jax.random.fold_in(jax.random.key(0), bits), (self.num_players,))
        wanted = jnp.floor(share * legal.sum(axis=1)).astype(jnp.int32)
        return jnp.argmax(jnp.cumsum(legal, axis=1) > wanted[:, None], axis=1).astype(jnp.int32)

    def _observe(self, state: ImportedState) -> Array:
        if not self._seen_in_state:
            seen: Array = state.seen
            return seen
        return self._image(self.env.get_obs(state.game))

    def _image(self, seen: Mapping[str, Any]) -> Array:
        width = self._image_shape[-1]
        own = [jnp.asarray(seen[agent], jnp.float32) for agent in self.agents]
        return jnp.stack([_longer(one, width).reshape(self._image_shape) for one in own])

    def _kept(self, image: Array) -> Any:
        return () if self._seen_in_state else image

    def _by_agent(self, actions: Array) -> dict[str, Array]:
        return {agent: actions[at] for at, agent in enumerate(self.agents)}

    def _of_types(self, game: Any) -> Any:
        return jax.tree.map(_cast, game, self._types)


def _longer(values: Array, width: int) -> Array:
    """Returns a vector filled up with zeros; an image, or a vector of that length, as it is."""
    return jnp.pad(values, (0, width - len(values))) if values.ndim == 1 else values


def _cast(leaf: Any, like: Any) -> Array:
    array = jnp.asarray(leaf)
    return array if jnp.issubdtype(like.dtype, jax.dtypes.extended) else array.astype(like.dtype)


def _summed(kind: Any) -> Any:
    return jnp.float32 if jnp.issubdtype(kind, jnp.floating) else jnp.int32


def _actions_of(env: MultiAgentEnv, agent: str) -> int:
    """Returns the number of actions of an agent.

    Raises:
        JaxMarlError: they are no numbers from 0 on.
    """
    space = env.action_space(agent)
    if not isinstance(space, spaces.Discrete):
        raise JaxMarlError(
            f"{env.name} of JaxMARL cannot be batched: the actions of {agent} are a {type(space).__name__}, expected "
            "Discrete; where the environment has both, ask it for discrete actions."
        )
    return int(space.n)


def _mask_of(env: MultiAgentEnv) -> Callable[[Any], Mapping[str, Any]] | None:
    """Returns what tells which actions are legal; None where the environment has nothing that does."""
    for name in MASKS:
        own = getattr(type(env), name, None)
        if own is not None and own is not getattr(MultiAgentEnv, name, None):
            found: Callable[[Any], Mapping[str, Any]] = getattr(env, name)
            return found
    return None


def _traced(env: MultiAgentEnv, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns the shapes of what a function of the environment returns.

    Raises:
        JaxMarlError: it cannot be compiled.
    """
    try:
        return jax.eval_shape(function, *arguments)
    except Exception as error:  # what an environment's own code raises can be anything
        reason = str(error).strip().splitlines()
        raise JaxMarlError(
            f"{env.name} of JaxMARL cannot be batched: {what} cannot be compiled "
            f"({type(error).__name__}{': ' + reason[0] if reason else ''})."
        ) from error


def _shapes_of(env: MultiAgentEnv, agents: tuple[str, ...]) -> tuple[Any, tuple[int, int, int]]:
    """Returns the types of the state's arrays, and the shape of an observation as an image.

    Raises:
        JaxMarlError: states or observations change their shapes, or observations are no vectors or images.
    """
    key = jax.random.key(0)
    action = jax.ShapeDtypeStruct((), jnp.int32)  # type: ignore[no-untyped-call]
    actions = dict.fromkeys(agents, action)
    seen, dealt = _traced(env, "its reset", env.reset, key)
    shown, after, *_ = _traced(env, "its step", env.step_env, key, dealt, actions)
    if str(jax.tree.structure(dealt)) != str(jax.tree.structure(after)) or _shapes(dealt) != _shapes(after):
        raise JaxMarlError(
            f"{env.name} of JaxMARL cannot be batched: its state has other arrays after a step than after a reset."
        )
    for agent in agents:
        if agent not in seen or agent not in shown:
            raise JaxMarlError(f"{env.name} of JaxMARL cannot be batched: {agent} is not always shown something.")
        if _shapes(seen[agent]) != _shapes(shown[agent]):
            raise JaxMarlError(
                f"{env.name} of JaxMARL cannot be batched: the observation of {agent} changes its shape from "
                f"{_shapes(seen[agent])} to {_shapes(shown[agent])} with a step."
            )
    return jax.tree.map(_joined, dealt, after), _image_shape(env, [seen[agent] for agent in agents])


def _shapes(tree: Any) -> list[tuple[int, ...]]:
    return [tuple(leaf.shape) for leaf in jax.tree.leaves(tree)]


def _joined(first: Any, second: Any) -> Any:
    if jnp.issubdtype(first.dtype, jax.dtypes.extended):
        return first
    kind = jnp.promote_types(first.dtype, second.dtype)
    return jax.ShapeDtypeStruct(first.shape, kind)  # type: ignore[no-untyped-call]


def _image_shape(env: MultiAgentEnv, seen: list[Any]) -> tuple[int, int, int]:
    if any(not hasattr(one, "shape") for one in seen):
        raise JaxMarlError(f"{env.name} of JaxMARL cannot be batched: an observation is no array, but several.")
    ranks = {len(one.shape) for one in seen}
    if ranks == {1}:
        return (1, 1, max(one.shape[0] for one in seen))
    if ranks in ({2}, {3}) and len({one.shape for one in seen}) == 1:
        height, width, channels = (*seen[0].shape, 1)[:3]
        return (height, width, channels)
    raise JaxMarlError(
        f"{env.name} of JaxMARL cannot be batched: observations have the shapes "
        f"{', '.join(str(one.shape) for one in seen)}; expected vectors, or images of one shape."
    )


def _check_mask(
    env: MultiAgentEnv, mask: Callable[[Any], Mapping[str, Any]], agents: tuple[str, ...], sizes: tuple[int, ...]
) -> None:
    _, dealt = jax.eval_shape(env.reset, jax.random.key(0))
    told = _traced(env, "its mask of legal actions", mask, dealt)
    for agent, size in zip(agents, sizes, strict=True):
        if agent not in told or told[agent].shape != (size,):
            raise JaxMarlError(
                f"{env.name} of JaxMARL cannot be batched: its mask of legal actions does not tell of the {size} "
                f"actions of {agent}."
            )
