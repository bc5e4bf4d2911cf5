"""Yōkai for thousands of games at once: the rules of `games.yokai.rules`, bit for bit."""

from collections.abc import Callable
from typing import TypeAlias

import jax.numpy as jnp

from games.api import GameError
from games.batched.api import Array, Outcome, Transition, along, lanes_first, lanes_last
from games.batched.yokai import deal
from games.batched.yokai import legal as yokai_legal
from games.batched.yokai import moves as yokai_moves
from games.batched.yokai import observe as yokai_observe
from games.batched.yokai.observe import BatchedGraph
from games.batched.yokai.state import FACE_DOWN, FACE_UP, NOBODY, OVER, PLACED, Sizes, State
from games.yokai.config import HINTS, config

LegalMoves: TypeAlias = Callable[[Sizes, Array, Array], Array]
"""Finds the legal targets of all cards: (sizes, cells [Y], locked [Y]) -> uint32 [Y, W]."""


class YokaiEnv:
    """One configuration of Yōkai.

    Actions are int32 in the layout of the reference, N = 1 + Y + Y·g² + H + H·g² + 1; every player acts at every
    step, and the only legal action of those who are not to move is no-op (index 0), as it is everybody's once the
    game is over. An image is float32 [g, g + 1, f].

    Attributes:
        sizes: numbers that never change.
        memory: observations show all colours that a player ever observed, not only those of the turn in progress.
    """

    def __init__(
        self, cards: int, players: int, memory: bool = False, legal_moves: LegalMoves = yokai_moves.legal_moves
    ) -> None:
        """Sets up a configuration.

        Args:
            cards: 9 or 16, or 8 (a reduced setting, not in the paper).
            players: 2, 3 or 4; with 8 cards 2.
            memory: see the class.
            legal_moves: how legal moves are found; other ways serve for comparison.

        Raises:
            GameError: there is no such configuration.
        """
        self.sizes = Sizes(config(cards, players))
        self.memory = memory
        self._legal_moves = legal_moves

    @property
    def num_players(self) -> int:
        return self.sizes.players

    @property
    def num_actions(self) -> int:
        return self.sizes.actions

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return self.sizes.side, self.sizes.side + 1, self.sizes.channels

    def init(self, key: Array) -> State:
        """Returns a freshly dealt game, or B games.

        Args:
            key: typed key [], or [B].
        """
        colours, hints = deal.deal(self.sizes, key)
        return self.start(colours, hints)

    def start(self, colours: Array, hints: Array) -> State:
        """Returns the start of a game with a given deal.

        Args:
            colours: int32 [Y], see `State`.
            hints: int32 [H], see `State`.
        """
        sizes = self.sizes
        lanes = colours.shape[1:]
        zero = jnp.zeros(lanes, jnp.int32)
        state = State(
            colours=colours,
            hints=hints,
            cells=jnp.broadcast_to(along(sizes.start_cells, zero), (sizes.cards, *lanes)),
            locked=jnp.zeros((sizes.cards, *lanes), bool),
            status=jnp.full((sizes.hints, *lanes), FACE_DOWN, jnp.int32),
            hint_card=jnp.full((sizes.hints, *lanes), NOBODY, jnp.int32),
            observed=jnp.zeros((sizes.players, sizes.cards, *lanes), bool),
            seen=jnp.zeros((sizes.cards, *lanes), bool),
            player=zero,
            sub_step=zero + 1,
            turn=zero,
            length=zero,
            early=jnp.zeros(lanes, bool),
            legal=jnp.zeros((sizes.cards, sizes.words, *lanes), jnp.uint32),
        )
        no_moves = state.legal
        return state._replace(legal=yokai_legal.pack(sizes, state, no_moves))

    def with_legal(self, state: State) -> State:
        """Returns the state with its field `legal` computed from the others."""
        moves = self._legal_moves(self.sizes, state.cells, state.locked)
        return state._replace(legal=yokai_legal.pack(self.sizes, state, moves))

    def step(self, state: State, actions: Array, keys: Array | None = None) -> tuple[State, Transition]:
        """Plays one action of every player.

        Args:
            state: the game.
            actions: int32 [P]. What is not legal is replaced by the player's lowest-numbered legal action.
            keys: left alone: after the deal nothing is drawn.
        """
        lanes = state.sub_step.ndim > 0
        actions = lanes_last(jnp.asarray(actions, jnp.int32), lanes)
        mine = state.player[None] == along(jnp.arange(self.num_players), state.player)
        wanted = jnp.where(mine, actions, 0).sum(axis=0, dtype=jnp.int32)
        over = state.sub_step == OVER
        legal = yokai_legal.is_legal(self.sizes, state, wanted)
        lowest = yokai_legal.nth(self.sizes, state, jnp.zeros_like(state.player))
        action = jnp.where(legal, wanted, lowest)
        following, found = self._apply(state, action)
        following = self.with_legal(following)
        ended = (following.sub_step == OVER) & ~over
        paid = jnp.where(ended, self.outcome(following).total, 0)
        illegal = jnp.where(mine, ~legal[None], actions != 0)
        transition = Transition(
            reward=jnp.broadcast_to(paid[..., None], (*paid.shape, self.num_players)),
            done=following.sub_step == OVER,
            info={
                "illegal": lanes_first(illegal, lanes),
                "shaping": lanes_first(jnp.where(mine, found[None], 0).astype(jnp.float32), lanes),
            },
        )
        return following, transition

    def _apply(self, state: State, action: Array) -> tuple[State, Array]:
        """Returns the state after a legal action, but for `legal`, and what shaping pays the player for it."""
        sizes = self.sizes
        cards = along(jnp.arange(sizes.cards), action)
        hints = along(jnp.arange(sizes.hints), action)
        players = along(jnp.arange(sizes.players), action)
        acts = state.sub_step != OVER
        move, reveal, place = action - sizes.first_move, action - sizes.first_reveal, action - sizes.first_place
        is_end = action == sizes.end
        is_place = (place >= 0) & ~is_end
        uses_hint = (reveal >= 0) & ~is_end
        observed = action[None] - 1 == cards
        moved = (move >= 0) & (reveal < 0) & (move // sizes.area == cards)
        revealed = reveal[None] == hints
        placed = is_place & (place // sizes.area == hints)
        under = is_place & (state.cells == (place % sizes.area)[None])
        status = jnp.where(revealed, FACE_UP, jnp.where(placed, PLACED, state.status))
        card = jnp.where(under, cards, 0).sum(axis=0, dtype=jnp.int32)
        is_over = ~acts | is_end | (status == PLACED).all(axis=0)
        sub_step = jnp.where(uses_hint, 1, state.sub_step + 1)
        player = (state.player + uses_hint) % sizes.players
        shown = (state.player[None] == players)[:, None] & observed[None]
        following = State(
            colours=state.colours,
            hints=state.hints,
            cells=jnp.where(moved, (move % sizes.area)[None], state.cells),
            locked=state.locked | under,
            status=status,
            hint_card=jnp.where(placed, card[None], state.hint_card),
            observed=state.observed | shown,
            seen=(state.seen | observed) & ~uses_hint[None],
            player=jnp.where(is_over, NOBODY, player),
            sub_step=jnp.where(is_over, OVER, sub_step),
            turn=state.turn + uses_hint,
            length=state.length + acts,
            early=state.early | is_end,
            legal=state.legal,
        )
        is_new = (shown & ~state.observed).any(axis=(0, 1))
        held = (state.hints[:, None] >> state.colours[None]) & 1
        is_true = (placed[:, None] & under[None] & (held == 1)).any(axis=(0, 1))
        return following, is_new.astype(jnp.int32) + is_true

    def legal_mask(self, state: State) -> Array:
        """Returns which actions are legal, bool [P, N]."""
        return yokai_legal.unpack(self.sizes, state)

    def sample(self, state: State, uniform: Array) -> Array:
        """Returns a uniformly drawn legal action of every player, int32 [P].

        Args:
            state: the game.
            uniform: float32 [] in [0, 1), which decides.
        """
        lanes = state.sub_step.ndim > 0
        choices = yokai_legal.count(state)
        number = jnp.minimum((uniform * choices).astype(jnp.int32), jnp.maximum(choices - 1, 0))
        action = yokai_legal.nth(self.sizes, state, number)
        mine = state.player[None] == along(jnp.arange(self.num_players), state.player)
        return lanes_first(jnp.where(mine, action[None], 0), lanes)

    def observe(self, state: State) -> Array:
        """Returns what every player sees as an image, float32 [P, g, g + 1, f]."""
        return yokai_observe.image(self.sizes, state, self.memory)

    def observe_graph(self, state: State) -> BatchedGraph:
        """Returns what every player sees as nodes and adjacency."""
        return yokai_observe.graph(self.sizes, state, self.memory)

    def is_over(self, state: State) -> Array:
        """Whether the game has ended, bool []."""
        return state.sub_step == OVER

    def outcome(self, state: State) -> Outcome:
        """Returns what came of the game; before the end, of the position as it stands.

        Its figures: `won`, `ended_early` and `won_early`, bool []; `score`, what a win is worth, S, and `score_if_won`,
        0 for a loss, float32 [].
        """
        grouped = self._grouped_colours(state)
        cards = jnp.maximum(state.hint_card, 0)
        placed = state.status == PLACED
        true = ((state.hints >> jnp.take_along_axis(state.colours, cards, axis=0)) & 1) == 1
        right = (placed & true).sum(axis=0, dtype=jnp.int32)
        wrong = (placed & ~true).sum(axis=0, dtype=jnp.int32)
        down = (state.status == FACE_DOWN).sum(axis=0, dtype=jnp.int32)
        face_up = (state.status == FACE_UP).sum(axis=0, dtype=jnp.int32)
        won = grouped == self.sizes.colours
        score = 5 * down + 2 * face_up + right - wrong
        lost = -state.early.astype(jnp.int32) - (self.sizes.colours - grouped) - wrong
        return Outcome(
            total=jnp.where(won, score, lost).astype(jnp.float32),
            length=state.length,
            figures={
                "won": won,
                "ended_early": state.early,
                "won_early": won & state.early,
                "score": score.astype(jnp.float32),
                "score_if_won": jnp.where(won, score, 0).astype(jnp.float32),
            },
        )

    def _grouped_colours(self, state: State) -> Array:
        """Returns how many colours have all their cards in one group, int32 [].

        Three cards on a grid are connected exactly when two pairs touch, four exactly when three pairs touch: three
        touching pairs among three of them would be a triangle, which no grid has.
        """
        touching = yokai_moves.either(yokai_moves.neighbours(self.sizes, state.cells))
        cards = yokai_moves.bits(self.sizes.cards, state.player)
        grouped = jnp.zeros_like(state.player)
        for colour in range(self.sizes.colours):
            own = state.colours == colour
            group = jnp.where(own, cards, jnp.uint32(0)).sum(axis=0, dtype=jnp.uint32)
            ends = jnp.where(own, jnp.bitwise_count(touching & group), 0).sum(axis=0, dtype=jnp.int32)
            grouped = grouped + (ends >= 2 * (self.sizes.config.cards_per_colour - 1))
        return grouped


def make(game_id: str, memory: bool = False) -> YokaiEnv:
    """Returns the batched environment of a registered game.

    Args:
        game_id: e.g. `yokai-9c-2p`.
        memory: show all colours that a player ever observed.

    Raises:
        GameError: there is no such configuration.
    """
    cards, players = parse_id(game_id)
    return YokaiEnv(cards, players, memory)


def parse_id(game_id: str) -> tuple[int, int]:
    """Returns the numbers of cards and of players in an id such as `yokai-9c-2p`.

    Raises:
        GameError: no configuration has that id.
    """
    for cards, players in HINTS:
        if game_id == config(cards, players).id:
            return cards, players
    known = ", ".join(config(*key).id for key in HINTS)
    raise GameError(f"There is no batched game {game_id!r}; known: {known}.")
