"""Batched Yōkai as learners know it: environments by view, symmetries, what is hidden, metrics, its networks' facts."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, Final

from games.api import Action, GameError, Observation
from games.batched.api import GAMES, LENGTH, TOTAL, Means
from games.batched.game import BatchedGame, NetworkFacts
from games.batched.registry import MEMORY
from games.batched.yokai.border_cells import border_moves
from games.batched.yokai.environment import YokaiEnv
from games.batched.yokai.graph import YokaiGraphEnv
from games.batched.yokai.hidden import YokaiHidden
from games.batched.yokai.state import Sizes
from games.yokai import public_replay, tensors
from games.yokai.config import ACTIONS_PER_TURN, BOARDS, Config, config
from games.yokai.modalities import modalities
from games.yokai.symmetry import Symmetries

MEANS: Final[Means] = {
    "R": ("score_if_won", GAMES),
    "return": (TOTAL, GAMES),
    "SEE": ("won_early", GAMES),
    "EE": ("ended_early", GAMES),
    "WEE": ("won_early", "ended_early"),
    "LEN": (LENGTH, GAMES),
    "win_rate": ("won", GAMES),
}
"""The paper's metrics; a loss counts 0 in R, `return` is its Eq. 4."""
SYMMETRIES: Final[dict[str, dict[str, bool]]] = {
    "op": {"colours": True, "turns": True},
    "op-rot": {"colours": False, "turns": True},
    "op-col": {"colours": True, "turns": False},
    "op-paper": {"colours": True, "turns": True, "relabel": False},
    "op-rot-paper": {"colours": False, "turns": True, "relabel": False},
}
"""Which symmetries each kind of Other-Play draws from (`games.yokai.symmetry.Symmetries`)."""


class YokaiTable:
    """Reads Yōkai at the table, the steps at which others act included, from the public log that views carry."""

    def __init__(self, configuration: Config) -> None:
        self._config = configuration

    @property
    def actions(self) -> Sequence[Action]:
        """All actions of a player by number."""
        return self._config.player_actions()

    def views(self, history: Sequence[Observation], view: str, first: int) -> list[Observation]:
        """Returns what the player saw at every step from `first` on; see `games.yokai.public_replay`.

        Raises:
            GameError: the history is not that of all own decision points in that view.
        """
        return public_replay.views(self._config, history, view == MEMORY, first)

    def image(self, view: Observation) -> Any:
        """Returns a view as an image, float32 [g, g + 1, f]."""
        return tensors.image(view, self._config)

    def graph(self, view: Observation) -> Any:
        """Returns a view as a graph."""
        return tensors.graph(view, self._config)


@cache
def make(cards: int, players: int) -> BatchedGame:
    """Returns a configuration of Yōkai, always the same one: what is compiled for its environments is so once.

    Raises:
        GameError: there is no such configuration.
    """
    configuration = config(cards, players)
    sizes = Sizes(configuration)
    return BatchedGame(
        id=configuration.id,
        num_players=players,
        max_length=configuration.max_length,
        round_length=ACTIONS_PER_TURN * players,
        reduced_steps=1_500_000 if cards == min(BOARDS) else 2_500_000,
        env=cache(lambda view: YokaiEnv(cards, players, _has_memory(configuration, view))),
        graph_env=cache(lambda view: YokaiGraphEnv(cards, players, _has_memory(configuration, view))),
        symmetries={name: partial(Symmetries, configuration, **chosen) for name, chosen in SYMMETRIES.items()},
        hidden=partial(YokaiHidden, sizes),
        means=MEANS,
        network=NetworkFacts(
            pointing={
                "objects": (cards, tensors.channels(configuration).identity, 1),
                "actions": ("plain", "objects", "objects at cells", "items", "items at cells", "plain"),
                "items": configuration.hints,
            },
            modalities=modalities(configuration),
            private_channels=len(configuration.colours),
        ),
        watch_moves=partial(border_moves, sizes),
        table=partial(YokaiTable, configuration),
    )


def _has_memory(configuration: Config, view: str) -> bool:
    views = ("default", MEMORY)
    if view not in views:
        raise GameError(f"{configuration.id} has no view {view!r}; it has {' and '.join(views)}.")
    return view == MEMORY
