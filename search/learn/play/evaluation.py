"""Whole games of trained policies at a table: every seat its own network, view and memory, many deals at once.

One program is compiled for each arrangement of networks and views; parameters are its arguments, so that a whole
matrix of pairings of one architecture runs on one program.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import jax
import jax.numpy as jnp

from games.batched.api import BatchedEnv, Outcome, chance_keys
from search.learn import masked_categorical
from search.learn.api import Array, Memory, Network, Observation, Params
from search.learn.errors import LearnError

MOST_PROGRAMS: Final = 16
"""So many arrangements of games are remembered as compiled."""


class EvaluationError(LearnError):
    """Games cannot be played as asked."""


class View(Protocol):
    """What shows a game to its players; every batched environment does."""

    def observe(self, state: Any) -> Observation:
        """Returns what every player sees, leaves [G, P, ...]."""
        ...


@dataclass(frozen=True)
class StepReader:
    """How a policy reads a game. Policies that share both objects share compiled programs.

    Attributes:
        network: the network.
        view: shows it the game.
    """

    network: Network
    view: View


@dataclass(frozen=True)
class Policy:
    """What plays a seat.

    Attributes:
        reader: its network and view.
        params: of the network, best as arrays that lie on the device.
    """

    reader: StepReader
    params: Params


class Moment(NamedTuple):
    """One step of G games, for whoever watches.

    Attributes:
        games: the positions in which the players acted.
        alive: bool [G], the game was not over.
        actions: int32 [G, P].
        features: by seat, float32 [G, H]: what the heads of its network read.
    """

    games: Any
    alive: Array
    actions: Array
    features: tuple[Array, ...]


Watch: TypeAlias = Callable[[Moment], Any]
"""Returns what is kept of a step, a tree of arrays."""


class Played(NamedTuple):
    """G games that were played to their end.

    Attributes:
        outcome: every field [G].
        kept: what was kept of every step, leaves [T, ...].
    """

    outcome: Outcome
    kept: Any


def nothing(moment: Moment) -> tuple[()]:
    """Watches nothing."""
    return ()


class PolicyEvaluator:
    """Plays games of one environment, each to its own end: none is begun anew, so that short games count no more."""

    def __init__(self, env: BatchedEnv[Any], steps: int, greedy: bool = False, watch: Watch = nothing) -> None:
        """Sets up.

        Args:
            env: plays the games; in which view does not matter.
            steps: T, after which every game is over.
            greedy: take each policy's likeliest action instead of a drawn one.
            watch: what to keep of every step.
        """
        self.env = env
        self.steps = steps
        self._deal, self._compiled = _compiled(_Games(env, steps, greedy, watch))

    def play(self, seats: Sequence[Policy], deals: Array, draws: Array) -> Played:
        """Plays one game on every deal.

        Args:
            seats: a policy for every player.
            deals: typed keys [G]: the same deal, and the same chance at every step, whoever plays it.
            draws: typed keys [G], from which the game's actions are drawn.

        Raises:
            EvaluationError: there are too few or too many policies, or games that `steps` steps did not end.
        """
        if len(seats) != self.env.num_players:
            raise EvaluationError(f"The game seats {self.env.num_players} players: {len(seats)} policies were given.")
        readers = tuple(policy.reader for policy in seats)
        params = tuple(policy.params for policy in seats)
        over, played = self._compiled(readers, params, self._deal(deals), deals, draws)
        if not bool(over.all()):
            raise EvaluationError(
                f"{int((~over).sum())} of {over.size} games are not over after {self.steps} steps: give more steps."
            )
        result: Played = played
        return result


@dataclass(frozen=True)
class _Games:
    """Games under way; see `PolicyEvaluator`."""

    env: BatchedEnv[Any]
    steps: int
    greedy: bool
    watch: Watch

    def run(
        self, readers: tuple[StepReader, ...], params: tuple[Params, ...], dealt: Any, deals: Array, draws: Array
    ) -> tuple[Array, Played]:
        count = draws.shape[0]
        chance = chance_keys(deals)

        def step(carry: tuple[Any, tuple[Memory, ...]], number: Array) -> tuple[tuple[Any, tuple[Memory, ...]], Any]:
            games, memories = carry
            legal = self.env.legal_mask(games)
            keys = jax.vmap(lambda key: jax.random.split(jax.random.fold_in(key, number), len(readers)))(draws)
            actions, features, following = [], [], []
            for seat, (reader, own, memory) in enumerate(zip(readers, params, memories, strict=True)):
                seen = jax.tree.map(lambda leaf, seat=seat: leaf[None, :, seat], reader.view.observe(games))
                starts = jnp.broadcast_to(number == 0, (1, count))
                memory, said = reader.network.apply(own, memory, seen, starts)
                actions.append(self._choose(keys[:, seat], said.logits[0], legal[:, seat]))
                features.append(said.features[0])
                following.append(memory)
            together = jnp.stack(actions, axis=1)
            kept = self.watch(Moment(games, ~self.env.is_over(games), together, tuple(features)))
            games, _ = self.env.step(games, together, jax.vmap(jax.random.fold_in, (0, None))(chance, number))
            return (games, tuple(following)), kept

        begin = dealt, tuple(reader.network.initial_memory(count) for reader in readers)
        (games, _), kept = jax.lax.scan(step, begin, jnp.arange(self.steps))
        return self.env.is_over(games), Played(self.env.outcome(games), kept)

    def _choose(self, keys: Array, logits: Array, legal: Array) -> Array:
        if self.greedy:
            return masked_categorical.greedy(logits, legal)
        drawn: Array = jax.vmap(masked_categorical.sample)(keys, logits, legal)
        return drawn.astype(jnp.int32)


@lru_cache(maxsize=MOST_PROGRAMS)
def _compiled(games: _Games) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Returns what deals and what plays, compiled once for all evaluators that are set up alike."""
    return jax.jit(games.env.init), jax.jit(games.run, static_argnums=0)
