"""Many games of a twin in each of which one seat learns; the others play by chance, or by a policy.

The lane axis is the first one. A game stands at a decision of its learner always: what others and chance do after an
action, and in a new game before the learner's first decision, is done in the same step, by as many rounds as the lane
with the most needs.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from cwm.twins.form import TwinForm
from cwm.twins.play import CHANCE, TERMINAL, TwinGames, chosen, uniform_actions
from search.learn import masked_categorical
from search.learn.api import Array, Memory, Network, Params
from search.learn.play import several_policies
from search.learn.play.seats import of_player

PARTNERS = 1
"""Tells keys of partners from those of deals."""
LEAST_DEALS = 1024
"""Where chance precedes the first decision, so many games are dealt before a rollout, of which new ones are drawn."""
MOST_ROUNDS = 1 << 16
"""After so many actions of others and of chance a learner does not come to move any more."""
STUCK = -(1 << 30)
"""Stands for the number of games where a learner did not come to move."""


class TwinDeals(NamedTuple):
    """Games that have just begun, K of them.

    Attributes:
        games: of the twin, leaves [K, ...].
        player: int32 [K].
    """

    games: tuple[Array, ...]
    player: Array


class SeatStanding(NamedTuple):
    """Where E games stand.

    Attributes:
        games: of the twin, leaves [E, ...].
        player: int32 [E]: who is to move.
        memory: of all seats' policies but the learner's, leaves [E, P, ...]; () where they have none.
        starts: bool [E, P]: the seat has not decided yet in this game.
        partner: int32 [E]: which of several fixed policies play this game.
        totals: float32 [E, P]: what was paid in this game.
        lengths: int32 [E]: actions of this game after its deal, chance's included.
    """

    games: tuple[Array, ...]
    player: Array
    memory: Memory
    starts: Array
    partner: Array
    totals: Array
    lengths: Array


class Ended(NamedTuple):
    """Sums over the games that ended in each lane, [E].

    Attributes:
        games: int32, that ended of themselves.
        wins: int32, in which the learner was paid more than any other.
        losses: int32, in which another was paid more.
        total: float32, what the learner was paid.
        cut: int32, further games: they were too long.
    """

    games: Array
    wins: Array
    losses: Array
    total: Array
    cut: Array


class Paid(NamedTuple):
    """What came of one action of each learner.

    Attributes:
        reward: float32 [E], until its next decision, or the end of the game.
        done: bool [E]: the game ended.
        cut: bool [E]: it ended because it was too long.
        ended: sums over all games that ended.
    """

    reward: Array
    done: Array
    cut: Array
    ended: Ended


class SeatShown(NamedTuple):
    """What learners see.

    Attributes:
        observation: float32 [E, W].
        legal: bool [E, A].
    """

    observation: Array
    legal: Array


class SeatGames:
    """Games of one twin for a learner in each.

    Args:
        form: of the twin.
        functions: as for `TwinGames`.
        max_actions: of one game; then it is cut.
        others: network of the policies that play the other seats; None: they play by chance. Their parameters are
            stacked, leaves [M, ...]: those of partner 0 at all seats, of partner 1, …
        partners: of which one is drawn for each game.
        alike: whether a partner has one policy for all seats.
        most_rounds: of others and of chance until a learner is to move; then games stand still (`is_stuck`).
    """

    def __init__(
        self,
        form: TwinForm,
        functions: Mapping[str, Callable[..., tuple[Any, ...]]],
        max_actions: int,
        others: Network | None = None,
        partners: int = 1,
        alike: bool = True,
        most_rounds: int = MOST_ROUNDS,
    ) -> None:
        self._most_rounds = most_rounds
        self._games = TwinGames(form, functions)
        self._init = functions["init"]
        self._step: Any = jax.vmap(functions["step"])
        self._has_chance = bool(form.outcomes)
        self._players = form.num_players
        self._max_actions = max_actions
        self._others = others
        self._partners = partners
        self._policies_each = 1 if alike else form.num_players

    def deals(self, lanes: int, key: Array) -> TwinDeals:
        """Returns games that have just begun: one where chance does nothing before the first decision.

        Args:
            lanes: that will draw from them.
            key: from which chance is drawn.
        """
        games = self._games.begin(max(lanes, LEAST_DEALS) if self._has_chance else 1, key)
        return TwinDeals(games, self._games.look(games).player)

    def begin(self, seats: Array, deals: TwinDeals, params: Params, key: Array) -> SeatStanding:
        """Returns E new games, each at the first decision of its learner.

        Args:
            seats: int32 [E], the learners'.
            deals: from which they are drawn.
            params: of the others' policy.
            key: of all that others and chance do.
        """
        draw, following = jax.random.split(key)
        lanes = len(seats)
        games, player = self._dealt(deals, lanes, draw)
        alone = () if self._others is None else self._others.initial_memory(lanes * self._players)
        standing = SeatStanding(
            games,
            player,
            jax.tree.map(lambda leaf: leaf.reshape(lanes, self._players, *leaf.shape[1:]), alone),
            jnp.ones((lanes, self._players), bool),
            self._drawn_partners(lanes, draw),
            jnp.zeros((lanes, self._players), jnp.float32),
            jnp.zeros(lanes, jnp.int32),
        )
        return self._to_learners(standing, _nothing(lanes), seats, deals, params, following, jnp.bool_(False))[0]

    def show(self, standing: SeatStanding, seats: Array) -> SeatShown:
        """Returns what learners see, and may do."""
        seen = self._games.look(standing.games)
        return SeatShown(of_player(seen.observations, seats), seen.legal)

    def step(
        self, standing: SeatStanding, actions: Array, seats: Array, deals: TwinDeals, params: Params, key: Array
    ) -> tuple[SeatStanding, Paid]:
        """Takes the learners' actions and goes on to their next decisions.

        Args:
            standing: the games.
            actions: int32 [E], legal ones.
            seats: int32 [E], the learners'.
            deals: from which new games are drawn.
            params: of the others' policy.
            key: of all that others and chance do.
        """
        draw, following = jax.random.split(key)
        still = is_stuck(standing, seats)
        every = jnp.broadcast_to(~still, seats.shape)
        moved, paid = self._moved(standing, _nothing(len(seats)), actions, every, seats, deals, draw)
        return self._to_learners(moved, paid, seats, deals, params, following, still)

    def _to_learners(
        self,
        standing: SeatStanding,
        paid: Paid,
        seats: Array,
        deals: TwinDeals,
        params: Params,
        key: Array,
        still: Array,
    ) -> tuple[SeatStanding, Paid]:
        """Lets others and chance act until every game is at a decision of its learner; `still`: nothing is done."""

        def waiting(carry: Any) -> Array:
            is_waiting: Array = is_stuck(carry[0], seats) & (carry[3] < self._most_rounds)
            return is_waiting

        def act(carry: Any) -> Any:
            standing, paid, key, rounds = carry
            key, choose, chance, draw = jax.random.split(key, 4)
            active = standing.player != seats
            standing, index = self._other_actions(standing, active, params, choose, chance)
            return *self._moved(standing, paid, index, active, seats, deals, draw), key, rounds + 1

        rounds = jnp.where(still, self._most_rounds, 0)
        standing, paid, *_ = jax.lax.while_loop(waiting, act, (standing, paid, key, rounds))
        return standing, paid

    def _other_actions(
        self, standing: SeatStanding, active: Array, params: Params, choose: Array, chance: Array
    ) -> tuple[SeatStanding, Array]:
        """Returns what others and chance do, int32 [E], and the games with the others' memories of it."""
        seen = self._games.look(standing.games)
        player = jnp.maximum(standing.player, 0)
        network = self._others
        if network is None:
            actions = uniform_actions(seen.legal, choose)
        else:
            own = jax.tree.map(lambda leaf: of_player(leaf, player), standing.memory)
            observation = of_player(seen.observations, player)
            which = standing.partner * self._policies_each + player % self._policies_each
            starts = of_player(standing.starts, player)
            after, logits = several_policies.act(network, params, which, own, observation, starts)
            actions = masked_categorical.sample(choose, logits, seen.legal)
            decided = (active & (standing.player >= 0))[:, None] & (player[:, None] == jnp.arange(self._players))
            memory = jax.tree.map(
                lambda new, old: jnp.where(_as_wide(decided, old), new[:, None], old), after, standing.memory
            )
            standing = standing._replace(memory=memory, starts=standing.starts & ~decided)
        if self._has_chance:
            drawn = chosen(seen.chance, jax.random.uniform(chance, active.shape))
            actions = jnp.where(standing.player == CHANCE, drawn, actions)
        return standing, actions

    def _moved(
        self,
        standing: SeatStanding,
        paid: Paid,
        index: Array,
        active: Array,
        seats: Array,
        deals: TwinDeals,
        key: Array,
    ) -> tuple[SeatStanding, Paid]:
        """Takes one action in every active game, and begins new games where some ended."""
        stepped = self._step(*standing.games, index)
        games = tuple(
            jnp.where(_as_wide(active, old), new, old) for new, old in zip(stepped, standing.games, strict=True)
        )
        seen = self._games.look(games)
        rewards = jnp.where(active[:, None], seen.rewards, 0.0)
        totals, lengths = standing.totals + rewards, standing.lengths + active
        over = active & (seen.player == TERMINAL)
        cut = active & ~over & (lengths >= self._max_actions)
        ends = over | cut
        paid = Paid(
            paid.reward + jnp.where(paid.done, 0.0, of_player(rewards, seats)),
            paid.done | ends,
            paid.cut | (cut & ~paid.done),
            _counted(paid.ended, over, cut, totals, seats),
        )
        fresh, player = self._dealt(deals, len(seats), key)
        games = tuple(jnp.where(_as_wide(ends, old), new, old) for new, old in zip(fresh, games, strict=True))
        wide = ends[:, None]
        standing = SeatStanding(
            games,
            jnp.where(ends, player, seen.player),
            standing.memory,
            standing.starts | wide,
            jnp.where(ends, self._drawn_partners(len(seats), key), standing.partner),
            jnp.where(wide, 0.0, totals),
            jnp.where(ends, 0, lengths),
        )
        return standing, paid

    def _drawn_partners(self, lanes: int, key: Array) -> Array:
        """Returns partners, int32 [E], drawn from another key than the one that is given."""
        if self._partners == 1:
            return jnp.zeros(lanes, jnp.int32)
        return jax.random.randint(jax.random.fold_in(key, PARTNERS), (lanes,), 0, self._partners)

    def _dealt(self, deals: TwinDeals, lanes: int, key: Array) -> tuple[tuple[Array, ...], Array]:
        """Returns a deal for every lane."""
        if not self._has_chance:
            return tuple(jnp.broadcast_to(leaf, (lanes, *leaf.shape[1:])) for leaf in deals.games), jnp.broadcast_to(
                deals.player, (lanes,)
            )
        which = jax.random.randint(key, (lanes,), 0, len(deals.player))
        return tuple(leaf[which] for leaf in deals.games), deals.player[which]


def is_stuck(standing: SeatStanding, seats: Array) -> Array:
    """Whether a game is at no decision of its learner, bool []: between steps only where it did not come to one."""
    return jnp.any(standing.player != seats)


def marked(ended: Ended, standing: SeatStanding, seats: Array) -> Ended:
    """Returns sums over games, scalars, that say where a learner did not come to move."""
    return ended._replace(games=jnp.where(is_stuck(standing, seats), STUCK, ended.games))


def _nothing(lanes: int) -> Paid:
    none = jnp.zeros(lanes, jnp.int32)
    real, flag = jnp.zeros(lanes, jnp.float32), jnp.zeros(lanes, bool)
    return Paid(real, flag, flag, Ended(none, none, none, real, none))


def _counted(ended: Ended, over: Array, cut: Array, totals: Array, seats: Array) -> Ended:
    own = of_player(totals, seats)
    is_own = seats[:, None] == jnp.arange(totals.shape[1])
    rival = jnp.where(is_own, -jnp.inf, totals).max(axis=1)
    # Alone at the table: nothing is what the others were paid.
    rival = jnp.where(jnp.isfinite(rival), rival, 0.0)
    return Ended(
        ended.games + over,
        ended.wins + (over & (own > rival)),
        ended.losses + (over & (own < rival)),
        ended.total + jnp.where(over, own, 0.0),
        ended.cut + cut,
    )


def _as_wide(flags: Array, like: Array) -> Array:
    """Returns flags with as many axes as an array has whose first axes they are of."""
    return flags.reshape(*flags.shape, *(1,) * (like.ndim - flags.ndim))
