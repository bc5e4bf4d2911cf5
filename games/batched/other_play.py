"""Other-Play: every player sees every game through a symmetry of its own, drawn when the game is dealt."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from games.batched.api import Array, Outcome, Transition, lanes_first, lanes_last
from games.batched.yokai.environment import YokaiEnv
from games.batched.yokai.state import Sizes, State
from games.yokai.symmetry import Symmetries, Tables


class TransformedState(NamedTuple):
    """A game and how its players see it.

    Attributes:
        game: the game itself.
        symmetry: int32 [P], number of each player's symmetry.
    """

    game: State
    symmetry: Array


class OtherPlay:
    """Batched Yōkai as `BatchedEnv`, each player's actions, masks and observations seen through its symmetry."""

    def __init__(self, env: YokaiEnv, symmetries: Symmetries) -> None:
        self.env = env
        self.symmetries = symmetries

    @property
    def num_players(self) -> int:
        return self.env.num_players

    @property
    def num_actions(self) -> int:
        return self.env.num_actions

    @property
    def image_shape(self) -> tuple[int, int, int]:
        return self.env.image_shape

    def init(self, key: Array) -> TransformedState:
        """Returns a freshly dealt game, every player with a symmetry drawn uniformly and independently."""
        if key.ndim:
            pairs = jax.vmap(jax.random.split)(key)
            symmetry = lanes_last(jax.vmap(self._draw)(pairs[:, 1]), True)
            return TransformedState(self.env.init(pairs[:, 0]), symmetry)
        deal, draw = jax.random.split(key)
        return TransformedState(self.env.init(deal), self._draw(draw))

    def _draw(self, key: Array) -> Array:
        return jax.random.randint(key, (self.num_players,), 0, len(self.symmetries))

    def step(self, state: TransformedState, actions: Array, keys: Array) -> tuple[TransformedState, Transition]:
        """Plays one action of every player, int32 [P], as the players see them."""
        own = self._through(state, self._original, jnp.asarray(actions, jnp.int32))
        game, transition = self.env.step(state.game, own, keys)
        return TransformedState(game, state.symmetry), transition

    def _original(self, number: Array, action: Array) -> Array:
        known = (action >= 0) & (action < self.num_actions)
        found = self.symmetries.inverse_action(number, jnp.where(known, action, 0))
        return jnp.where(known, found, action)

    def _through(self, state: TransformedState, transform: Callable[..., Array], values: Array) -> Array:
        mapped = jax.vmap(transform)
        lanes = state.symmetry.ndim > 1
        result: Array = (jax.vmap(mapped) if lanes else mapped)(lanes_first(state.symmetry, lanes), values)
        return result

    def legal_mask(self, state: TransformedState) -> Array:
        """Returns which actions are legal as the players see them, bool [P, N]."""
        return self._through(state, self.symmetries.mask, self.env.legal_mask(state.game))

    def sample(self, state: TransformedState, uniform: Array) -> Array:
        """Returns uniformly drawn legal actions as the players see them, int32 [P]."""
        return self._through(state, self.symmetries.action, self.env.sample(state.game, uniform))

    def observe(self, state: TransformedState) -> Array:
        """Returns what every player sees, float32 [P, g, g + 1, f]."""
        return self._through(state, self.symmetries.image, self.env.observe(state.game))

    def is_over(self, state: TransformedState) -> Array:
        return self.env.is_over(state.game)

    def outcome(self, state: TransformedState) -> Outcome:
        return self.env.outcome(state.game)


def transform(env: YokaiEnv, symmetries: Symmetries, number: Array, state: State) -> State:
    """Returns the image of one game, without lane axis, under a symmetry, which may be a traced scalar."""
    t: Tables = jax.tree.map(lambda table: jnp.asarray(table)[number], symmetries.tables)
    sizes: Sizes = env.sizes
    card = state.hint_card[t.hint_from]
    image = state._replace(
        colours=jnp.asarray(t.colour_to)[state.colours][t.card_from],
        hints=jnp.asarray(t.subset_to)[state.hints][t.hint_from],
        cells=jnp.asarray(t.cell_to)[state.cells][t.card_from],
        locked=state.locked[t.card_from],
        status=state.status[t.hint_from],
        hint_card=jnp.where(card >= 0, jnp.asarray(t.card_to)[jnp.clip(card, 0, sizes.cards - 1)], card),
        observed=state.observed[:, t.card_from],
        seen=state.seen[t.card_from],
    )
    return env.with_legal(image)
