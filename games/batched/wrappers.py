"""What learners put around a batched environment: automatic resets, episode statistics, flat observations."""

from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from games.batched.api import GAMES, LENGTH, TOTAL, Array, BatchedEnv, Means, Outcome, Transition, chance_keys

S = TypeVar("S")

DEALT_AT_ONCE = 64
"""How many finished lanes get a new game in one pass."""


class ResetTransition(NamedTuple):
    """What one step paid, and how the games ended that ended with it.

    Inside a compiled loop the two last fields cost nothing unless they are read.

    Attributes:
        reward: float32 [B, P].
        done: bool [B]: the lane's game ended; the state already holds its next game.
        info: as in `Transition`.
        final_observation: float32 [B, P, ...]: what the players saw after this step, before any reset.
        outcome: of the position after this step, before any reset, leaves [B].
    """

    reward: Array
    done: Array
    info: dict[str, Array]
    final_observation: Array
    outcome: Outcome


class AutoReset(Generic[S]):
    """Starts a new game in every lane whose game ends.

    New games are dealt for lanes that need one, a fixed number at a time, so that a step in which few games end pays
    for few deals. What a lane is dealt depends on its own key alone, not on the batch around it.
    """

    def __init__(self, env: BatchedEnv[S], dealt_at_once: int | None = DEALT_AT_ONCE) -> None:
        """Wraps an environment.

        Args:
            env: the environment.
            dealt_at_once: lanes dealt in one pass; None: deal all lanes at every step and choose, which spares
                accelerators a loop of unknown length.
        """
        self.env = env
        self.dealt_at_once = dealt_at_once

    def init(self, keys: Array) -> S:
        """Returns B freshly dealt games; `keys` are typed keys [B]."""
        return self.env.init(keys)

    def step(self, state: S, actions: Array, keys: Array) -> tuple[S, ResetTransition]:
        """Plays one action of every player in every lane.

        Args:
            state: B games.
            actions: int32 [B, P].
            keys: typed keys [B], new ones at every step; chance in lane i, and its next game if it needs one, come from
                keys[i].
        """
        ended, paid = self.env.step(state, actions, chance_keys(keys))
        transition = ResetTransition(
            reward=paid.reward,
            done=paid.done,
            info=paid.info,
            final_observation=self.env.observe(ended),
            outcome=self.env.outcome(ended),
        )
        return self._deal(ended, paid.done, keys), transition

    def _deal(self, state: S, done: Array, keys: Array) -> S:
        if self.dealt_at_once is None:
            fresh = self.env.init(keys)
            chosen: S = jax.tree.map(lambda new, old: jnp.where(done, new, old), fresh, state)
            return chosen
        lanes = done.shape[0]
        size = min(self.dealt_at_once, lanes)

        def deal_some(pending: tuple[S, Array]) -> tuple[S, Array]:
            state, needed = pending
            which = jnp.nonzero(needed, size=size, fill_value=lanes)[0]
            fresh = self.env.init(keys[jnp.minimum(which, lanes - 1)])
            dealt: S = jax.tree.map(lambda new, old: old.at[..., which].set(new, mode="drop"), fresh, state)
            return dealt, needed.at[which].set(False, mode="drop")

        dealt: S = jax.lax.while_loop(lambda pending: pending[1].any(), deal_some, (state, done))[0]
        return dealt


class Episodes(NamedTuple):
    """Sums over finished games.

    Attributes:
        games: int32 []: games.
        total: float32 []: sum of the returns.
        length: int32 []: sum of the lengths.
        figures: sums of the game's figures, int32 [] or float32 [], by name.
    """

    games: Array
    total: Array
    length: Array
    figures: dict[str, Array]


def no_episodes(env: BatchedEnv[Any]) -> Episodes:
    """Returns the sums over no game of an environment."""
    figures = jax.eval_shape(lambda: env.outcome(env.init(jax.random.key(0)))).figures
    whole, real = jnp.zeros((), jnp.int32), jnp.zeros((), jnp.float32)
    return Episodes(whole, real, whole, {name: jnp.zeros((), _summed(kind.dtype)) for name, kind in figures.items()})


def add_episodes(episodes: Episodes, done: Array, outcome: Outcome) -> Episodes:
    """Returns the sums with the lanes that are `done`, bool [B], added."""

    def added(before: Array, values: Array) -> Array:
        return before + jnp.where(done, values, 0).sum(dtype=before.dtype)

    return Episodes(
        games=episodes.games + done.sum(dtype=jnp.int32),
        total=added(episodes.total, outcome.total),
        length=added(episodes.length, outcome.length),
        figures={name: added(before, outcome.figures[name]) for name, before in episodes.figures.items()},
    )


def _summed(kind: Any) -> Any:
    """Returns the type in which figures of a type are added up."""
    return jnp.float32 if jnp.issubdtype(kind, jnp.floating) else jnp.int32


def metrics(episodes: Episodes, means: Means | None = None) -> dict[str, float | None]:
    """Returns a game's metrics; None where there was nothing to average.

    Args:
        episodes: the sums.
        means: what to tell, by name; default: `return`, `LEN` and the mean of every figure.

    Returns:
        The means by name, and `episodes`.
    """
    sums = {GAMES: episodes.games, TOTAL: episodes.total, LENGTH: episodes.length, **episodes.figures}
    known: dict[str, Any] = {name: value.item() for name, value in sums.items()}
    if means is None:
        means = {"return": (TOTAL, GAMES), "LEN": (LENGTH, GAMES), **{name: (name, GAMES) for name in episodes.figures}}
    found = {name: known[part] / known[whole] if known[whole] else None for name, (part, whole) in means.items()}
    return {**found, "episodes": float(known[GAMES])}


class Wrapper(Generic[S]):
    """An environment around another one that passes everything on; what derives from it changes a part."""

    def __init__(self, env: BatchedEnv[S]) -> None:
        self.env = env

    @property
    def num_players(self) -> int:
        return self.env.num_players

    @property
    def num_actions(self) -> int:
        return self.env.num_actions

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return self.env.image_shape

    def init(self, key: Array) -> S:
        return self.env.init(key)

    def step(self, state: S, actions: Array, keys: Array) -> tuple[S, Transition]:
        return self.env.step(state, actions, keys)

    def legal_mask(self, state: S) -> Array:
        return self.env.legal_mask(state)

    def sample(self, state: S, uniform: Array) -> Array:
        return self.env.sample(state, uniform)

    def observe(self, state: S) -> Array:
        return self.env.observe(state)

    def is_over(self, state: S) -> Array:
        return self.env.is_over(state)

    def outcome(self, state: S) -> Outcome:
        return self.env.outcome(state)


class LimitedState(NamedTuple):
    """A game and how long it has lasted.

    Attributes:
        game: the game itself.
        steps: int32 [], so far.
    """

    game: Any
    steps: Array


class StepLimit(Generic[S]):
    """An environment whose games are cut off after a number of steps that their rules do not know.

    `info["cut"]`, bool [P], says that a game ended for that reason alone.
    """

    def __init__(self, env: BatchedEnv[S], limit: int) -> None:
        """Wraps an environment whose games end after `limit` steps, 1 or more, at the latest."""
        self.env = env
        self.limit = limit

    @property
    def num_players(self) -> int:
        return self.env.num_players

    @property
    def num_actions(self) -> int:
        return self.env.num_actions

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return self.env.image_shape

    def init(self, key: Array) -> LimitedState:
        """Returns a freshly dealt game."""
        return LimitedState(self.env.init(key), jnp.zeros(key.shape, jnp.int32))

    def step(self, state: LimitedState, actions: Array, keys: Array) -> tuple[LimitedState, Transition]:
        """Plays one action of every player, int32 [P]; a game that is over or was cut off stays as it is."""
        over = self.is_over(state)
        moved, paid = self.env.step(state.game, actions, keys)
        game: S = jax.tree.map(lambda new, old: jnp.where(over, old, new), moved, state.game)
        following = LimitedState(game, state.steps + ~over)
        everybody = (*over.shape, self.num_players)
        cut = jnp.broadcast_to((self.is_over(following) & ~paid.done & ~over)[..., None], everybody)
        reward = jnp.where(over[..., None], 0, paid.reward)
        shaping = jnp.where(over[..., None], 0, paid.info["shaping"])
        return following, Transition(reward, self.is_over(following), {**paid.info, "shaping": shaping, "cut": cut})

    def legal_mask(self, state: LimitedState) -> Array:
        """Returns which actions are legal, bool [P, N]."""
        return self.env.legal_mask(state.game)

    def sample(self, state: LimitedState, uniform: Array) -> Array:
        """Returns uniformly drawn legal actions, int32 [P]."""
        return self.env.sample(state.game, uniform)

    def observe(self, state: LimitedState) -> Array:
        """Returns what every player sees; the steps that are left are no part of it."""
        return self.env.observe(state.game)

    def is_over(self, state: LimitedState) -> Array:
        """Whether the game has ended or was cut off, bool []."""
        return self.env.is_over(state.game) | (state.steps >= self.limit)

    def outcome(self, state: LimitedState) -> Outcome:
        """Returns what came of the game; where it was cut off, of the position as it stands."""
        return self.env.outcome(state.game)
