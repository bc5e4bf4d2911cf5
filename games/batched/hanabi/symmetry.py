"""The symmetries of Hanabi: permutations of its colours, on kinds, actions, masks and observations."""

from itertools import permutations
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from games.batched.hanabi.state import HanabiTables


class ColourSymmetries:
    """All permutations of the colours, numbered from 0; number 0 changes nothing.

    Attributes:
        sizes: of the variant.
        colour_to: int32 [E, C], the image of every colour.
        kind_to: int32 [E, K], the image of every kind.
        action_to: int32 [E, N], the image of every action.
        action_from: int32 [E, N], the inverse.
        feature_from: int32 [E, F], by feature of an image, which one it is.
    """

    def __init__(self, sizes: HanabiTables) -> None:
        """Builds the tables of a variant."""
        self.sizes = sizes
        self.colour_to = np.array(list(permutations(range(sizes.colours))), np.int32)
        ranks = np.arange(sizes.ranks)
        self.kind_to = (self.colour_to[:, :, None] * sizes.ranks + ranks).reshape(len(self.colour_to), -1)
        self.action_to = np.stack([_actions(sizes, to) for to in self.colour_to])
        self.action_from = np.argsort(self.action_to, axis=1).astype(np.int32)
        self.feature_from = np.stack([_features(sizes, np.argsort(to)) for to in self.colour_to])

    def __len__(self) -> int:
        return len(self.colour_to)

    def action(self, number: Any, action: Any) -> Any:
        """Returns the image of an action, int32 []."""
        return jnp.asarray(self.action_to)[number, action]

    def inverse_action(self, number: Any, action: Any) -> Any:
        """Returns the action, int32 [], whose image is the given one."""
        return jnp.asarray(self.action_from)[number, action]

    def mask(self, number: Any, mask: Any) -> Any:
        """Returns the image of a mask of legal actions, bool [N]."""
        return mask[jnp.asarray(self.action_from)[number]]

    def image(self, number: Any, image: Any) -> Any:
        """Returns the image of what a player sees, float32 [1, 1, F]."""
        return image[..., jnp.asarray(self.feature_from)[number]]


def _actions(sizes: HanabiTables, to: NDArray[np.int32]) -> NDArray[np.int32]:
    """Returns the image of every action under a permutation of the colours."""
    found = np.arange(sizes.actions, dtype=np.int32)
    hints = found[sizes.first_colour : sizes.first_rank].reshape(sizes.players - 1, sizes.colours)
    found[sizes.first_colour : sizes.first_rank] = hints[:, to].reshape(-1)
    return found


def _features(sizes: HanabiTables, source: NDArray[np.intp]) -> NDArray[np.int32]:
    """Returns by feature of the image which one it is, given from which colour each colour comes."""
    found = np.arange(sizes.features, dtype=np.int32)
    players, hand, colours, ranks, kinds = sizes.players, sizes.hand, sizes.colours, sizes.ranks, sizes.kinds
    drawn = sizes.cards - players * hand

    def kinds_of(rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """Permutes the last axis, whose length is a multiple of C, colour by colour."""
        return rows.reshape(*rows.shape[:-1], colours, -1)[..., source, :].reshape(rows.shape)

    lengths = [(players - 1) * hand * kinds, players + drawn, kinds, sizes.config.info + sizes.config.lives]
    lengths += [sizes.cards, 2 * players + 4, colours, ranks + 2 * hand, kinds, 2]
    hands, lacks, fireworks, tokens, discards, who, colour, rank, card, effect, knowledge = np.split(
        found, np.cumsum(lengths)
    )
    cards = knowledge.reshape(players * hand, kinds + colours + ranks)
    seen, told, told_rank = np.split(cards, [kinds, kinds + colours], axis=1)
    return np.concatenate(
        [
            kinds_of(hands.reshape(-1, kinds)).reshape(-1),
            lacks,
            kinds_of(fireworks),
            tokens,
            kinds_of(discards),
            who,
            kinds_of(colour),
            rank,
            kinds_of(card),
            effect,
            np.concatenate([kinds_of(seen), kinds_of(told), told_rank], axis=1).reshape(-1),
        ]
    )
