"""What batched Hanabi hides from its players: their own hands and the deck, and how both may lie.

A player knows where every card of the others came from, and every card that was played or discarded. Of its own hand
it knows what hints said, so arrangements of the unseen cards are weighed one by one: an exact forward pass over the
kinds of cards with what the kinds after it can still fill, as `games.hanabi.belief` does in whole numbers.
"""

from typing import Final

import jax
import jax.numpy as jnp
import numpy as np

from games.batched.api import Array, lanes_first, lanes_last
from games.batched.hanabi.state import NOTHING, HanabiArrays, HanabiTables

UNKNOWN: Final = -1


class HanabiHidden:
    """The deck, by place, as slots; E games at once or one alone.

    Attributes:
        sizes: of the variant.
    """

    def __init__(self, sizes: HanabiTables) -> None:
        self.sizes = sizes
        full = (1 << sizes.hand) - 1
        filled = np.arange(full + 1)
        pairs = [(old, new) for old in filled for new in filled if not old & new]
        self._old, self._new = np.array(pairs, np.int32).T
        self._count = np.bitwise_count(self._new).astype(np.int32)
        self._after = self._old | self._new

    @property
    def counts(self) -> tuple[int, ...]:
        """Cards of each kind."""
        return self.sizes.counts

    def truth(self, games: HanabiArrays) -> Array:
        """Returns the deck, int32 [E, D]."""
        return lanes_first(games.deck.astype(jnp.int32), games.player.ndim > 0)

    def known(self, games: HanabiArrays) -> Array:
        """Returns the kinds of the cards that each player has seen, int32 [E, P, D]; -1 for the rest."""
        lanes = games.player.ndim > 0
        places, deck = lanes_first(games.places, lanes), lanes_first(games.deck, lanes)
        numbers = jnp.arange(self.sizes.cards)
        own = (places[..., None] == numbers).any(axis=-2)
        seen = (numbers < games.dealt[..., None])[..., None, :] & ~own
        return jnp.where(seen, deck[..., None, :].astype(jnp.int32), UNKNOWN)

    def with_hidden(self, games: HanabiArrays, kinds: Array) -> HanabiArrays:
        """Returns the games with another deck, int32 [E, D], whose cards lie in the hands where the old ones lay."""
        lanes = games.player.ndim > 0
        deck = lanes_last(kinds, lanes).astype(jnp.int8)
        held = games.places.reshape(-1, *games.places.shape[2:])
        cards = jnp.take_along_axis(deck, jnp.maximum(held, 0).astype(jnp.int32), axis=0).reshape(games.places.shape)
        return games._replace(deck=deck, cards=jnp.where(games.places == NOTHING, NOTHING, cards).astype(jnp.int8))

    def drawn(self, games: HanabiArrays, player: Array, key: Array) -> Array:
        """Draws the deck as one player may believe it to lie: every arrangement that fits what it saw and was told.

        Args:
            games: E games.
            player: int32 [E], who believes.
            key: typed key [].

        Returns:
            int32 [E, D], as `with_hidden` takes it: the player's hand by the exact belief, then the rest of the deck.
        """
        known = jnp.take_along_axis(self.known(games), player[:, None, None], axis=1)[:, 0]
        kinds = jnp.arange(self.sizes.kinds)
        unseen = jnp.asarray(self.counts) - (known[..., None] == kinds).sum(axis=1)
        keys = jax.random.split(key, (len(player), 2))
        fits = self._fits(games, player)
        hands = jax.vmap(self._hand)(unseen.astype(jnp.float32), fits, keys[:, 0])
        places = jnp.take_along_axis(lanes_first(games.places, True), player[:, None, None], axis=1)[:, 0]
        return jax.vmap(self._completed)(known, places, hands, unseen, keys[:, 1])

    def _fits(self, games: HanabiArrays, player: Array) -> Array:
        """Returns the cards of a hand that each kind fits, as bits, int32 [E, K]; none where there is no card."""

        def own(rows: Array) -> Array:
            return jnp.take_along_axis(lanes_first(rows, True), player[:, None, None], axis=1)[:, 0].astype(jnp.int32)

        kinds = jnp.arange(self.sizes.kinds)
        colours, ranks = own(games.colours)[..., None], own(games.ranks)[..., None]
        possible = (colours >> (kinds // self.sizes.ranks)) & (ranks >> (kinds % self.sizes.ranks)) & 1
        return (possible << jnp.arange(self.sizes.hand)[:, None]).sum(axis=1)

    def _hand(self, unseen: Array, fits: Array, key: Array) -> Array:
        """Draws one hand, int32 [H], by the exact belief; `UNKNOWN` where there is no card.

        Args:
            unseen: float32 [K], cards of each kind that may be anywhere.
            fits: int32 [K], the cards of the hand that each kind fits, as bits.
            key: typed key [].
        """
        sizes = self.sizes
        subsets = 1 << sizes.hand
        # Ways in which 0, 1, … cards in a row can be taken from so many of a kind.
        falling = jnp.cumprod(
            jnp.concatenate([jnp.ones((sizes.kinds, 1)), unseen[:, None] - jnp.arange(sizes.hand)], axis=1), axis=1
        )
        falling = jnp.maximum(falling, 0)
        full = jax.lax.reduce(fits, np.int32(0), jax.lax.bitwise_or, (0,))
        new_here = (jnp.asarray(self._new) & ~fits[:, None]) == 0
        weights = jnp.where(new_here, falling[:, self._count], 0)

        def back(later: Array, weight: Array) -> tuple[Array, Array]:
            ways = weight * later[self._after]
            # Only ratios count: scaled, so that no product leaves float32.
            row = jnp.zeros(subsets).at[self._old].add(ways)
            return row / jnp.maximum(row.max(), 1e-30), ways

        # Every slot that holds a card fits some kind, so exactly the set `full` is to be filled.
        end = (jnp.arange(subsets) == full).astype(jnp.float32)
        _, ways = jax.lax.scan(back, end, weights, reverse=True)

        def choose(filled: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
            way, key = now
            here = jnp.where(jnp.asarray(self._old) == filled, way, 0)
            pair = jax.random.categorical(key, jnp.log(here))
            return jnp.asarray(self._after)[pair].astype(filled.dtype), jnp.asarray(self._new)[pair]

        _, taken = jax.lax.scan(choose, jnp.zeros((), jnp.int32), (ways, jax.random.split(key, sizes.kinds)))
        is_kind = ((taken[:, None] >> jnp.arange(sizes.hand)) & 1) == 1
        return jnp.where(is_kind.any(axis=0), jnp.argmax(is_kind, axis=0), UNKNOWN)

    def _completed(self, known: Array, places: Array, hand: Array, unseen: Array, key: Array) -> Array:
        """Returns a deck, int32 [D]: what is known, a hand where it lies, and the rest shuffled."""
        sizes = self.sizes
        numbers = jnp.arange(sizes.cards)
        here = places[:, None] == numbers
        deck = jnp.where(here.any(axis=0), jnp.where(here, hand[:, None], 0).sum(axis=0), known)
        rest = unseen - (hand[:, None] == jnp.arange(sizes.kinds)).sum(axis=0)
        is_free = deck == UNKNOWN
        order = jnp.argsort(jnp.where(is_free, jax.random.uniform(key, (sizes.cards,)), 2.0))
        rank = jnp.zeros(sizes.cards, jnp.int32).at[order].set(numbers)
        filling = (rank[:, None] >= jnp.cumsum(rest)).sum(axis=1)
        return jnp.where(is_free, filling, deck)
