"""What learners put around a batched environment: automatic resets, episode statistics, flat observations."""

from typing import Any, Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from games.batched.api import Array, BatchedEnv, Outcome, Transition, chance_keys

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
        outcome: of the position after this step, before any reset, every field [B].
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
        score_if_won: float32 []: sum of S over won games.
        total: float32 []: sum of the returns (the paper's Eq. 4).
        early: int32 []: games ended early.
        won_early: int32 []: of these, the won ones.
        won: int32 []: games won.
        length: int32 []: sum of the lengths.
    """

    games: Array
    score_if_won: Array
    total: Array
    early: Array
    won_early: Array
    won: Array
    length: Array


def no_episodes() -> Episodes:
    """Returns the sums over no game."""
    whole, real = jnp.zeros((), jnp.int32), jnp.zeros((), jnp.float32)
    return Episodes(whole, real, real, whole, whole, whole, whole)


def add_episodes(episodes: Episodes, done: Array, outcome: Outcome) -> Episodes:
    """Returns the sums with the lanes that are `done`, bool [B], added."""
    won = done & outcome.won
    early = done & outcome.ended_early
    return Episodes(
        games=episodes.games + done.sum(dtype=jnp.int32),
        score_if_won=episodes.score_if_won + jnp.where(won, outcome.score, 0).sum(),
        total=episodes.total + jnp.where(done, outcome.total, 0).sum(),
        early=episodes.early + early.sum(dtype=jnp.int32),
        won_early=episodes.won_early + (early & outcome.won).sum(dtype=jnp.int32),
        won=episodes.won + won.sum(dtype=jnp.int32),
        length=episodes.length + jnp.where(done, outcome.length, 0).sum(dtype=jnp.int32),
    )


def metrics(episodes: Episodes) -> dict[str, float | None]:
    """Returns the paper's metrics; None where there was nothing to average.

    Returns:
        `R` (a loss counts 0), `return` (Eq. 4), `SEE`, `EE`, `WEE`, `LEN`, `win_rate`, and `episodes`.
    """
    sums: dict[str, Any] = {name: value.item() for name, value in episodes._asdict().items()}
    count = sums["games"]

    def mean(name: str, over: float) -> float | None:
        return sums[name] / over if over else None

    return {
        "R": mean("score_if_won", count),
        "return": mean("total", count),
        "SEE": mean("won_early", count),
        "EE": mean("early", count),
        "WEE": mean("won_early", sums["early"]),
        "LEN": mean("length", count),
        "win_rate": mean("won", count),
        "episodes": float(count),
    }


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


class FlatObservations(Wrapper[S]):
    """An environment whose observations are vectors: float32 [P, product of the image's shape]."""

    def observe(self, state: S) -> Array:
        """Returns the image in C order, float32 [P, g * (g + 1) * f]."""
        pictures = self.env.observe(state)
        return pictures.reshape(*pictures.shape[:-3], -1)
