"""Batched Hanabi as learners know it: environments by view, symmetries, what is hidden, metrics."""

from functools import cache, partial
from typing import Final

from games.api import DEFAULT_VIEW, GameError
from games.batched.api import GAMES, LENGTH, TOTAL, Means
from games.batched.game import BatchedGame, NetworkFacts
from games.batched.hanabi.environment import HanabiEnv
from games.batched.hanabi.hidden import HanabiHidden
from games.batched.hanabi.state import HanabiTables
from games.batched.hanabi.symmetry import ColourSymmetries
from games.batched.registry import COUNTED
from games.hanabi.config import config

VIEWS: Final = {DEFAULT_VIEW: "mask", COUNTED: "v0"}
"""By view: what observations tell of a card (`games.batched.hanabi.environment.BELIEFS`)."""
MEANS: Final[Means] = {
    "R": ("score_if_won", GAMES),
    "return": (TOTAL, GAMES),
    "points": ("points", GAMES),
    "perfect": ("perfect", GAMES),
    "bombed": ("ended_early", GAMES),
    "lives": ("lives", GAMES),
    "LEN": (LENGTH, GAMES),
}
"""A bombed game counts 0 in R, and its fireworks in `points`."""
STEPS_A_KIND: Final = 400_000
"""Environment steps of a small network on a processor, for each kind of card."""


@cache
def make(players: int, colours: int, ranks: int, hand: int, info: int, lives: int) -> BatchedGame:
    """Returns a variant of Hanabi, always the same one: what is compiled for its environments is so once.

    Raises:
        GameError: there is no such variant.
    """
    variant = config(players, colours, ranks, hand, info, lives)
    sizes = HanabiTables(variant)

    @cache
    def env(view: str) -> HanabiEnv:
        if view not in VIEWS:
            raise GameError(f"batched {variant.id} has no view {view!r}; it has {' and '.join(VIEWS)}.")
        return HanabiEnv(variant, VIEWS[view])

    return BatchedGame(
        id=variant.id,
        num_players=players,
        max_length=sizes.max_length,
        round_length=players,
        reduced_steps=STEPS_A_KIND * sizes.kinds,
        env=env,
        symmetries={"op-col": partial(ColourSymmetries, sizes)},
        hidden=partial(HanabiHidden, sizes),
        means=MEANS,
        network=NetworkFacts(private_channels=(players - 1) * hand * sizes.kinds),
    )
