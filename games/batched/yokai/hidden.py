"""What batched Yōkai hides from its players: the colours of the cards that a player has not observed."""

import jax.numpy as jnp

from games.batched.api import Array, lanes_first, lanes_last
from games.batched.yokai.state import Sizes, State

UNKNOWN = -1


class YokaiHidden:
    """The colours of the cards, by card id, as slots; E games at once or one alone.

    Attributes:
        sizes: of the configuration.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes

    @property
    def counts(self) -> tuple[int, ...]:
        """Cards of each colour."""
        return (self.sizes.config.cards_per_colour,) * self.sizes.colours

    def truth(self, games: State) -> Array:
        """Returns the colours of the cards, int32 [E, Y]."""
        return lanes_first(games.colours, games.sub_step.ndim > 0)

    def known(self, games: State) -> Array:
        """Returns the colours that each player has ever observed, int32 [E, P, Y]; -1 for the rest."""
        seen = jnp.where(games.observed, games.colours[None], UNKNOWN)
        return lanes_first(seen, games.sub_step.ndim > 0)

    def with_hidden(self, games: State, kinds: Array) -> State:
        """Returns the games with other colours, int32 [E, Y]; legal actions do not depend on them."""
        return games._replace(colours=lanes_last(kinds, games.sub_step.ndim > 0))
