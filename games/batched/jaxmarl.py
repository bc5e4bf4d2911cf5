"""Batched games as environments of JaxMARL, for its wrappers and its learners; needs the extra `jaxmarl`.

JaxMARL has no registry to add to: `make("yokai-9c-2p")` is this module's own; `MultiAgentGame` takes any other
batched environment. Everything follows JaxMARL's conventions: one game at a time (`jax.vmap` makes it many), dicts by
agent name, an automatic reset in `step`; everybody acts at every step, and those who are not to move can play no-op
alone.

JaxMARL's `CTRolloutManager` asks no environment but its own which actions are legal, and adds up the rewards of all
agents. Set `manager.get_valid_actions = jax.vmap(env.get_avail_actions)`, and, as these games pay all players alike,
`manager.global_reward = lambda rewards: rewards[env.agents[0]]`.
"""

from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from games.api import DEFAULT_VIEW
from games.batched import registry
from games.batched.api import Array, BatchedEnv
from games.batched.from_jaxmarl import FromJaxMarl
from games.batched.other_play import OtherPlay
from games.extras import install

try:
    from flax import struct
    from jaxmarl.environments import spaces
    from jaxmarl.environments.multi_agent_env import MultiAgentEnv, State
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"games.batched.jaxmarl needs {error.name}, which is not installed; run: {install('jaxmarl')}.",
        name=error.name,
    ) from error

ByAgent: TypeAlias = dict[str, Array]


@struct.dataclass
class GameState(State):
    """JaxMARL's state (`done`, bool []; `step`, int32 []: actions of players so far) with the game.

    Attributes:
        game: state of the batched environment, without lane axis.
    """

    game: Any


class MultiAgentGame(MultiAgentEnv):
    """One game of a batched environment behind JaxMARL's `MultiAgentEnv`.

    Keys may be typed or the raw uint32 [2] that JaxMARL's learners use. What `step_env` reports beside the rewards, in
    the shapes that JaxMARL's learners reshape to one row an actor:

    * `shaped_reward`: float32 [] by agent name, as OvercookedV2 has it; never part of the reward.
    * `illegal`: bool [P]: the agent's action was not legal, its lowest-numbered legal one was played instead.
    * every figure of the game (`Outcome.figures`) by name, [P]: of the game that ended with this step, else 0.
    """

    def __init__(
        self, env: BatchedEnv[Any], name: str, flat: bool = True, bounds: tuple[float, float] = (0.0, 1.0)
    ) -> None:
        """Wraps an environment.

        Args:
            env: the environment.
            name: what `name` returns.
            flat: observations are vectors, as `CTRolloutManager` expects; False: images.
            bounds: the least and the largest number that an observation may hold.
        """
        super().__init__(num_agents=env.num_players)
        self.env = env
        self.flat = flat
        self._name = name
        size = 1
        for length in env.image_shape:
            size *= length
        shape = (size,) if flat else env.image_shape
        self.observation_spaces = {agent: spaces.Box(*bounds, shape) for agent in self.agents}
        self.action_spaces = {agent: spaces.Discrete(env.num_actions) for agent in self.agents}

    @partial(jax.jit, static_argnums=(0,))
    def reset(self, key: Array) -> tuple[ByAgent, GameState]:
        """Deals a game and returns the observations, flat or as images, and the state."""
        state = self._state(self.env.init(_typed(key)))
        return self.get_obs(state), state

    @partial(jax.jit, static_argnums=(0,))
    def step_env(
        self, key: Array, state: GameState, actions: ByAgent
    ) -> tuple[ByAgent, GameState, ByAgent, ByAgent, dict[str, Any]]:
        """Plays one action of every agent, int32 [], without a reset; chance, if there is any, draws from the key.

        Returns:
            Observations, state, rewards float32 [], dones bool [] with `__all__`, and what the class describes.
        """
        chosen = jnp.stack([jnp.asarray(actions[agent], jnp.int32).reshape(()) for agent in self.agents])
        game, paid = self.env.step(state.game, chosen, _typed(key))
        following = self._state(game)
        outcome = self.env.outcome(game)
        infos = {
            "shaped_reward": self._by_agent(paid.info["shaping"]),
            "illegal": paid.info["illegal"],
            **{
                name: self._for_all(jnp.where(paid.done, value, jnp.zeros_like(value)))
                for name, value in outcome.figures.items()
            },
        }
        dones = dict.fromkeys([*self.agents, "__all__"], paid.done)
        return self.get_obs(following), following, self._by_agent(paid.reward), dones, infos

    def get_obs(self, state: GameState) -> ByAgent:
        """Returns what every agent sees."""
        seen = self.env.observe(state.game)
        return self._by_agent(seen.reshape(self.num_agents, -1) if self.flat else seen)

    @partial(jax.jit, static_argnums=(0,))
    def get_avail_actions(self, state: GameState) -> ByAgent:
        """Returns which actions are legal, bool [N] by agent; where an agent has no choice, its no-op alone."""
        return self._by_agent(self.env.legal_mask(state.game))

    @property
    def name(self) -> str:
        """What the environment was named."""
        return self._name

    @property
    def agent_classes(self) -> dict[str, list[str]]:
        """All agents are of one kind."""
        return {"players": list(self.agents)}

    def _state(self, game: Any) -> GameState:
        return GameState(done=self.env.is_over(game), step=self.env.outcome(game).length, game=game)

    def _by_agent(self, values: Array) -> ByAgent:
        return dict(zip(self.agents, values, strict=True))

    def _for_all(self, value: Array) -> Array:
        return jnp.broadcast_to(value, (self.num_agents,))


def _typed(key: Array) -> Array:
    """Returns a key as a typed one."""
    return key if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else jax.random.wrap_key_data(key)


def make(game_id: str, memory: bool = False, flat: bool = True, other_play: bool | str = False) -> MultiAgentGame:
    """Returns the JaxMARL environment of a batched game.

    Args:
        game_id: e.g. `yokai-9c-2p`; `games.batched.registry.ids` has all.
        memory: observations help the memory, in games that have such a view.
        flat: observations are vectors; False: images.
        other_play: every agent sees every game through a symmetry of its own: of the game's kind of Other-Play with
            that name; True: of the first one.

    Raises:
        GameError: there is no such game, or it has no such view or symmetries.
    """
    game = registry.make(game_id)
    env = game.env(registry.MEMORY if memory else DEFAULT_VIEW)
    bounds = env.bounds if isinstance(env, FromJaxMarl) else (0.0, 1.0)
    if other_play is not False:
        env = OtherPlay(env, game.symmetry(None if other_play is True else other_play))
    return MultiAgentGame(env, game_id, flat, bounds)
