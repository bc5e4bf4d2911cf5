"""A game of simultaneous moves as `BatchedEnv`: any rules on arrays, many games at once."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from games.batched.api import Array, Outcome, Transition
from games.batched.posg.rules import SimultaneousRules

T = TypeVar("T")


class SimultaneousState(NamedTuple):
    """A game, and what was paid in it; lanes last.

    Attributes:
        game: as its rules keep it.
        total: float32 [P], what each agent was paid so far.
        length: int32 [], steps so far.
    """

    game: Any
    total: Array
    length: Array


class SimultaneousEnv:
    """Rules as an environment whose images are vectors, [1, 1, F]; the rules know no limit of steps.

    An agent for whom the game is over may do its first action alone. `Outcome.total` is the mean of the returns, and
    figures `return AGENT` tell them apart unless all agents are paid alike.
    """

    def __init__(self, rules: SimultaneousRules) -> None:
        self.rules = rules
        self._alike = rules.info.utility == "identical"

    @property
    def num_players(self) -> int:
        return self.rules.info.num_agents

    @property
    def num_actions(self) -> int:
        return len(self.rules.info.actions[0])

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return 1, 1, self.rules.width

    def init(self, key: Array) -> SimultaneousState:
        """Returns a freshly dealt game, or B games; each depends on its own key alone."""

        def drawn(one: Array) -> Array:
            return jax.random.bits(one, (len(self.rules.start_draws),), jnp.uint32)

        return self.start(jax.vmap(drawn, out_axes=-1)(key) if key.ndim else drawn(key))

    def start(self, bits: Array) -> SimultaneousState:
        """Returns the start that some bits draw, uint32 [draws of a start]."""
        return jax.vmap(self._start, in_axes=-1, out_axes=-1)(bits) if bits.ndim > 1 else self._start(bits)

    def _start(self, bits: Array) -> SimultaneousState:
        return SimultaneousState(
            self.rules.start(bits), jnp.zeros(self.num_players, jnp.float32), jnp.zeros((), jnp.int32)
        )

    def draws(self, keys: Array) -> Array:
        """Returns the bits that a step draws from a typed key, uint32 [draws of a step]."""

        def drawn(one: Array) -> Array:
            return jax.random.bits(one, (len(self.rules.step_draws),), jnp.uint32)

        return jax.vmap(drawn, out_axes=-1)(keys) if keys.ndim else drawn(keys)

    def step(self, state: SimultaneousState, actions: Array, keys: Array) -> tuple[SimultaneousState, Transition]:
        """Plays one action of every agent, int32 [P]; in place of an illegal one its first."""
        return self.step_drawn(state, jnp.asarray(actions, jnp.int32), self.draws(keys))

    def step_drawn(self, state: SimultaneousState, actions: Array, bits: Array) -> tuple[SimultaneousState, Transition]:
        """Plays a step whose chance is given, uint32 [draws of a step]."""
        stepping = jax.vmap(self._step, in_axes=(-1, 0, -1), out_axes=(-1, 0)) if state.length.ndim else self._step
        following: tuple[SimultaneousState, Transition] = stepping(state, actions, bits)
        return following

    def _step(self, state: SimultaneousState, actions: Array, bits: Array) -> tuple[SimultaneousState, Transition]:
        over = self.rules.over(state.game)
        ended = over.all()
        fits = (actions == 0) | ((actions > 0) & (actions < self.num_actions) & ~over)
        game, paid = self.rules.move(state.game, jnp.where(fits, actions, 0), bits)
        reward = jnp.where(ended, 0.0, paid)
        game = jax.tree.map(lambda new, old: jnp.where(ended, old, new), game, state.game)
        done = self.rules.over(game).all() & ~ended
        info = {"illegal": ~fits & ~ended, "shaping": jnp.zeros_like(reward)}
        return SimultaneousState(game, state.total + reward, state.length + ~ended), Transition(reward, done, info)

    def legal_mask(self, state: SimultaneousState) -> Array:
        """Returns which actions are legal, bool [P, N]: all, or the first alone where the game is over."""
        over = self._by_lane(self.rules.over, state)
        return ~over[..., None] | (jnp.arange(self.num_actions) == 0)

    def sample(self, state: SimultaneousState, uniform: Array) -> Array:
        """Returns uniformly drawn legal actions, int32 [P], each agent's independent of the others'."""
        number, agents = self.num_actions, self.num_players
        joint = jnp.floor(uniform * number**agents).astype(jnp.int32)
        drawn = joint[..., None] // (number ** jnp.arange(agents)) % number
        return jnp.where(self._by_lane(self.rules.over, state), 0, drawn).astype(jnp.int32)

    def observe(self, state: SimultaneousState) -> Array:
        """Returns what every agent is told, float32 [P, 1, 1, F]."""
        return self._by_lane(self.rules.told, state)[..., None, None, :]

    def is_over(self, state: SimultaneousState) -> Array:
        return self._by_lane(self.rules.over, state).all(axis=-1)

    def outcome(self, state: SimultaneousState) -> Outcome:
        """Returns what was paid on average, and the figures."""
        figures = self._by_lane(self.rules.figures, state)
        names = () if self._alike else self.rules.info.agent_names
        own = {f"return {name}": state.total[agent] for agent, name in enumerate(names)}
        total = state.total[0] if self._alike else state.total.mean(axis=0)
        return Outcome(total, state.length, {**figures, **own})

    def _by_lane(self, function: Callable[[Any], T], state: SimultaneousState) -> T:
        """Returns what a function of one game says, with lanes first."""
        told: T = jax.vmap(function, in_axes=-1)(state.game) if state.length.ndim else function(state.game)
        return told
