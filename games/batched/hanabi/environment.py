"""Hanabi for thousands of games at once: the rules of OpenSpiel's engine, move for move."""

from typing import Final

import jax
import jax.numpy as jnp

from games.api import GameError
from games.batched.api import Array, Outcome, Transition, along, lanes_first, lanes_last
from games.batched.hanabi import observe as hanabi_observe
from games.batched.hanabi.state import (
    DISCARD,
    HINT_COLOUR,
    HINT_RANK,
    NOTHING,
    PLAY,
    HanabiArrays,
    HanabiTables,
    LastMove,
)
from games.hanabi.config import VARIANTS, HanabiSizes

BELIEFS: Final = ("mask", "v0")
"""What observations tell of a card: which kinds hints leave possible, or how likely each is by the public count."""


class HanabiEnv:
    """One variant of Hanabi.

    Actions have OpenSpiel's numbers; the last one is a no-op. Every player acts at every step, and the only legal
    action of those who are not to move is the no-op, as it is everybody's once the game is over. An image is
    OpenSpiel's canonical encoding, float32 [1, 1, F]. The loss of the last life pays minus the points so far.

    Attributes:
        sizes: numbers that never change.
        belief: one of `BELIEFS`.
    """

    def __init__(self, config: HanabiSizes, belief: str = "mask") -> None:
        """Sets up a variant.

        Args:
            config: its sizes.
            belief: what observations tell of a card; with `v0`, that is what JaxMARL's tell.

        Raises:
            GameError: there is no such kind of belief.
        """
        if belief not in BELIEFS:
            raise GameError(f"batched Hanabi has the beliefs {' and '.join(BELIEFS)}, not {belief!r}.")
        self.sizes = HanabiTables(config)
        self.belief = belief

    @property
    def num_players(self) -> int:
        return self.sizes.players

    @property
    def num_actions(self) -> int:
        return self.sizes.actions

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return 1, 1, self.sizes.features

    def init(self, key: Array) -> HanabiArrays:
        """Returns a freshly dealt game, or B games.

        Args:
            key: typed key [], or [B].
        """

        def shuffled(one: Array) -> Array:
            deck: Array = jax.random.permutation(one, jnp.asarray(self.sizes.sorted_deck))
            return deck

        return self.start(lanes_last(jax.vmap(shuffled)(key), True) if key.ndim else shuffled(key))

    def start(self, deck: Array) -> HanabiArrays:
        """Returns the start of a game with a given deck.

        Args:
            deck: int8 [D], kinds in the order in which they are dealt: the whole hand of player 0 first.
        """
        sizes = self.sizes
        lanes = deck.shape[1:]
        held = sizes.players * sizes.hand
        shape = (sizes.players, sizes.hand, *lanes)

        def number(value: int) -> Array:
            return jnp.full(lanes, value, jnp.int8)

        never = jnp.zeros(lanes, bool)
        places = jnp.arange(held, dtype=jnp.int8).reshape(sizes.players, sizes.hand, *[1] * len(lanes))
        untold = jnp.zeros(shape, bool)
        return HanabiArrays(
            deck=deck.astype(jnp.int8),
            cards=deck[:held].reshape(shape).astype(jnp.int8),
            places=jnp.broadcast_to(places, shape),
            colours=jnp.full(shape, (1 << sizes.colours) - 1, jnp.uint8),
            ranks=jnp.full(shape, (1 << sizes.ranks) - 1, jnp.uint8),
            told_colour=untold,
            told_rank=untold,
            fireworks=jnp.zeros((sizes.colours, *lanes), jnp.int8),
            discards=jnp.zeros((sizes.kinds, *lanes), jnp.int8),
            info=number(sizes.config.info),
            lives=number(sizes.config.lives),
            dealt=number(held),
            turns=number(sizes.players),
            player=number(0),
            length=jnp.zeros(lanes, jnp.int32),
            last=LastMove(
                player=number(NOTHING),
                action=number(NOTHING),
                card=number(NOTHING),
                touched=jnp.zeros((sizes.hand, *lanes), bool),
                scored=never,
                returned=never,
            ),
        )

    def step(self, state: HanabiArrays, actions: Array, keys: Array | None = None) -> tuple[HanabiArrays, Transition]:
        """Plays one action of every player.

        Args:
            state: the game.
            actions: int32 [P]. What is not legal is replaced by the player's lowest-numbered legal action.
            keys: left alone: after the deal nothing is drawn.
        """
        lanes = state.player.ndim > 0
        actions = lanes_last(jnp.asarray(actions, jnp.int32), lanes)
        mine = self._mine(state)
        over = state.player == NOTHING
        wanted = jnp.where(mine, actions, 0).sum(axis=0)
        moves = self._moves(state)
        named = along(jnp.arange(self.sizes.no_op), state.player) == wanted[None]
        legal = (named & moves).any(axis=0)
        action = jnp.where(legal, wanted, jnp.argmax(moves, axis=0))
        moved = self._apply(state, action)
        following: HanabiArrays = jax.tree.map(lambda new, old: jnp.where(over, old, new), moved, state)
        paid = jnp.where(over, 0, self._points(following) - self._points(state)).astype(jnp.float32)
        illegal = jnp.where(mine, ~legal[None], actions != self.sizes.no_op)
        transition = Transition(
            reward=jnp.broadcast_to(paid[..., None], (*paid.shape, self.num_players)),
            done=following.player == NOTHING,
            info={
                "illegal": lanes_first(illegal, lanes),
                "shaping": jnp.zeros((*paid.shape, self.num_players), jnp.float32),
            },
        )
        return following, transition

    def _mine(self, state: HanabiArrays) -> Array:
        """Returns who is to move, bool [P]."""
        return state.player[None] == along(jnp.arange(self.num_players), state.player)

    def _points(self, state: HanabiArrays) -> Array:
        """Returns what the players have been paid, int32 []: nothing once the last life is lost."""
        return jnp.where(state.lives == 0, 0, state.fireworks.sum(axis=0, dtype=jnp.int32))

    def _apply(self, state: HanabiArrays, action: Array) -> HanabiArrays:
        """Returns the state after a legal move."""
        sizes = self.sizes
        mine, slots = self._mine(state), along(jnp.arange(sizes.hand), action)
        kind, value, offset = (jnp.asarray(column, jnp.int32)[action] for column in sizes.table.T)
        takes = (kind == DISCARD) | (kind == PLAY)
        chosen = takes[None] & (slots == value[None])
        hand = jnp.where(mine[:, None], state.cards, 0).sum(axis=0, dtype=jnp.int32)
        card = jnp.where(takes, jnp.where(chosen, hand, 0).sum(axis=0), NOTHING)
        colour, rank = card // sizes.ranks, card % sizes.ranks
        here = takes[None] & (along(jnp.arange(sizes.colours), action) == colour[None])
        height = jnp.where(here, state.fireworks, 0).sum(axis=0)
        scored = (kind == PLAY) & (height == rank)
        lost = (kind == PLAY) & ~scored
        is_kind = along(jnp.arange(sizes.kinds), action) == card[None]
        gives = (kind == DISCARD) | (scored & (rank == sizes.ranks - 1))
        returned = gives & (state.info < sizes.config.info)
        target = mine_after(mine, offset, sizes.players) & ~takes[None]
        hinted, touched = self._hinted(state, target, kind, value)
        info = state.info + returned.astype(jnp.int8) - (~takes).astype(jnp.int8)
        last_turns = state.dealt == sizes.cards
        following = hinted._replace(
            fireworks=state.fireworks + (here & scored[None]).astype(jnp.int8),
            discards=state.discards + (is_kind & ((kind == DISCARD) | lost)[None]).astype(jnp.int8),
            info=info,
            lives=state.lives - lost.astype(jnp.int8),
            turns=state.turns - last_turns.astype(jnp.int8),
            length=state.length + 1,
            last=LastMove(
                player=state.player,
                action=action.astype(jnp.int8),
                card=card.astype(jnp.int8),
                touched=touched,
                scored=scored,
                returned=returned & (kind == PLAY),
            ),
        )
        perfect = following.fireworks.sum(axis=0, dtype=jnp.int32) == sizes.kinds
        over = (following.lives == 0) | perfect | (following.turns == 0)
        player = jnp.where(over, NOTHING, (state.player + 1) % sizes.players).astype(jnp.int8)
        return self._taken(following, mine, chosen, ~over)._replace(player=player)

    def _hinted(self, state: HanabiArrays, target: Array, kind: Array, value: Array) -> tuple[HanabiArrays, Array]:
        """Returns the state with what a hint told its target, bool [P], and the cards that it named, bool [H]."""
        sizes = self.sizes
        of_colour, of_rank = kind == HINT_COLOUR, kind == HINT_RANK
        said = (jnp.uint8(1) << value.astype(jnp.uint8))[None, None]
        held = (state.cards != NOTHING) & target[:, None]
        by_colour = held & of_colour[None, None]
        by_rank = held & of_rank[None, None]
        is_colour = by_colour & (state.cards // sizes.ranks == value[None, None])
        is_rank = by_rank & (state.cards % sizes.ranks == value[None, None])
        colours = jnp.where(by_colour, state.colours & jnp.where(is_colour, said, ~said), state.colours)
        ranks = jnp.where(by_rank, state.ranks & jnp.where(is_rank, said, ~said), state.ranks)
        hinted = state._replace(
            colours=colours,
            ranks=ranks,
            told_colour=state.told_colour | is_colour,
            told_rank=state.told_rank | is_rank,
        )
        return hinted, (is_colour | is_rank).any(axis=0)

    def _taken(self, state: HanabiArrays, mine: Array, chosen: Array, deals: Array) -> HanabiArrays:
        """Returns the state without the chosen card, bool [H], of who moved; a new one is dealt where `deals`."""
        sizes = self.sizes
        takes = chosen.any(axis=0)
        shifts = mine[:, None] & (jnp.cumsum(chosen, axis=0) > 0)[None]
        draws = takes & deals & (state.dealt < sizes.cards)
        place = jnp.minimum(state.dealt, sizes.cards - 1)
        card = jnp.take_along_axis(state.deck, place[None].astype(jnp.int32), axis=0)[0]

        def without(rows: Array, empty: int, fresh: Array | int) -> Array:
            new = jnp.where(draws, fresh, empty).astype(rows.dtype)
            new = jnp.broadcast_to(new, (sizes.players, 1, *takes.shape))
            return jnp.where(shifts, jnp.concatenate([rows[:, 1:], new], axis=1), rows)

        return state._replace(
            cards=without(state.cards, NOTHING, card),
            places=without(state.places, NOTHING, state.dealt),
            colours=without(state.colours, 0, (1 << sizes.colours) - 1),
            ranks=without(state.ranks, 0, (1 << sizes.ranks) - 1),
            told_colour=without(state.told_colour, 0, 0),
            told_rank=without(state.told_rank, 0, 0),
            dealt=state.dealt + draws.astype(jnp.int8),
        )

    def _moves(self, state: HanabiArrays) -> Array:
        """Returns the legal moves of who is to move, bool [N - 1]; none once the game is over."""
        sizes = self.sizes
        mine = self._mine(state)
        held = (mine[:, None] & (state.cards != NOTHING)).any(axis=0)
        colour = jnp.where(state.cards == NOTHING, NOTHING, state.cards // sizes.ranks)
        rank = jnp.where(state.cards == NOTHING, NOTHING, state.cards % sizes.ranks)
        with_colour = (colour[:, None] == along(jnp.arange(sizes.colours), state.player)[:, None]).any(axis=2)
        with_rank = (rank[:, None] == along(jnp.arange(sizes.ranks), state.player)[:, None]).any(axis=2)
        may_hint = (state.info > 0)[None]
        hints = []
        for having in (with_colour, with_rank):
            for offset in range(1, sizes.players):
                target = jnp.roll(mine, offset, axis=0)
                hints.append((target[:, None] & having).any(axis=0) & may_hint)
        return jnp.concatenate([held & (state.info < sizes.config.info)[None], held, *hints])

    def legal_mask(self, state: HanabiArrays) -> Array:
        """Returns which actions are legal, bool [P, N]."""
        mine = self._mine(state)
        moves = mine[:, None] & self._moves(state)[None]
        return lanes_first(jnp.concatenate([moves, ~mine[:, None]], axis=1), state.player.ndim > 0)

    def sample(self, state: HanabiArrays, uniform: Array) -> Array:
        """Returns a uniformly drawn legal action of every player, int32 [P].

        Args:
            state: the game.
            uniform: float32 [] in [0, 1), which decides.
        """
        moves = self._moves(state)
        count = moves.sum(axis=0, dtype=jnp.int32)
        number = jnp.minimum((uniform * count).astype(jnp.int32), jnp.maximum(count - 1, 0))
        action = (jnp.cumsum(moves, axis=0, dtype=jnp.int32) <= number[None]).sum(axis=0, dtype=jnp.int32)
        return lanes_first(jnp.where(self._mine(state), action[None], self.sizes.no_op), state.player.ndim > 0)

    def observe(self, state: HanabiArrays) -> Array:
        """Returns what every player sees, float32 [P, 1, 1, F]."""
        return hanabi_observe.features(self.sizes, state, self.belief == "v0")[..., None, None, :]

    def is_over(self, state: HanabiArrays) -> Array:
        """Whether the game has ended, bool []."""
        return state.player == NOTHING

    def outcome(self, state: HanabiArrays) -> Outcome:
        """Returns what came of the game; before the end, of the position as it stands.

        Its figures: `won`, a life is left, `ended_early`, none is, and `won_early`, which never is, bool [];
        `score_if_won`, float32 [], the cards in the fireworks, 0 where no life is left; `points`, int32 [], the same
        but kept then; `perfect`, bool []; `lives`, int32 [].
        """
        points = state.fireworks.sum(axis=0, dtype=jnp.int32)
        bombed = state.lives == 0
        strict = self._points(state).astype(jnp.float32)
        return Outcome(
            total=strict,
            length=state.length,
            figures={
                "won": ~bombed,
                "ended_early": bombed,
                "won_early": jnp.zeros_like(bombed),
                "score_if_won": strict,
                "points": points,
                "perfect": points == self.sizes.kinds,
                "lives": state.lives.astype(jnp.int32),
            },
        )


def mine_after(mine: Array, offset: Array, players: int) -> Array:
    """Returns who sits so many seats on from the player that is marked, bool [P].

    Args:
        mine: bool [P].
        offset: int32 [], 0 to P - 1.
        players: P.
    """
    found = jnp.zeros_like(mine)
    for seats in range(players):
        found = found | (jnp.roll(mine, seats, axis=0) & (offset == seats)[None])
    return found


def make(game_id: str, belief: str = "mask") -> HanabiEnv:
    """Returns the batched environment of a registered game.

    Args:
        game_id: e.g. `hanabi-2p`.
        belief: one of `BELIEFS`.

    Raises:
        GameError: there is no such game or kind of belief.
    """
    if game_id not in VARIANTS:
        raise GameError(f"There is no batched game {game_id!r}; known: {', '.join(VARIANTS)}.")
    return HanabiEnv(VARIANTS[game_id], belief)
