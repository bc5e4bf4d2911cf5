"""Partners of several characters that see what a player may see: yardsticks, and strangers for a planner to meet.

Each is given its own decision points in the default view and the legal actions, and nothing else. What it knows it
works out of that history, as a person at the table would.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from games.api import Action, ObsActionHistory, Observation
from games.yokai.config import Config, config
from games.yokai.deal import draw_colours
from games.yokai.grid import Grid, grid
from games.yokai.policy import separation
from games.yokai.resample import known_colours

Partner: TypeAlias = Callable[[ObsActionHistory, Sequence[Action], random.Random], Action]
"""Chooses one of the legal actions, given its own decision points (the last action None)."""

GUESSES: Final = 24
"""Deals that the heuristic imagines when it moves a card or thinks of ending."""
GUESS_TRIES: Final = 20
"""How often one is drawn anew because it contradicts a placed hint."""
MOST_MOVES: Final = 60
"""Moves that it compares; more are sampled."""
CONFIDENCE: Final = 0.85
"""The heuristic ends the game when so large a share of the deals that it imagines is won."""


def end_at_once(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
    """Ends the game as soon as it may; until then it plays at random."""
    return "end" if "end" in legal else rng.choice(legal)


def never_end(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
    """Plays at random, but never ends the game."""
    return rng.choice([action for action in legal if action != "end"])


def heuristic(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
    """Looks at new cards, groups colours by what it knows, hints truthfully, believes hints, ends when it is sure."""
    return _Mind(history, rng).choose(legal, honest=True)


def hint_liar(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
    """Plays as the heuristic does, but places hints on cards that they do not fit, where it knows one."""
    return _Mind(history, rng).choose(legal, honest=False)


PARTNERS: Final[Mapping[str, Partner]] = {
    "heuristic": heuristic,
    "end-at-once": end_at_once,
    "never-end": never_end,
    "hint-liar": hint_liar,
}
"""Every partner by name."""


class _Mind:
    """One decision of the heuristic."""

    def __init__(self, history: ObsActionHistory, rng: random.Random) -> None:
        self._view: Observation = history[-1][0]
        self._rng = rng
        self._config: Config = config(len(self._view["positions"]), len(self._view["observed"]))
        self._grid = grid(self._config.grid)
        self._known = known_colours(self._config, [view for view, _ in history])

    def choose(self, legal: Sequence[Action], honest: bool) -> Action:
        """Returns the action to play; `honest`: whether placed hints are true where that can be told."""
        if len(legal) == 1:
            return legal[0]
        sub_step = self._view["sub_step"]
        if sub_step == 3:
            return self._move(legal)
        if sub_step == 4:
            return self._hint(legal, honest)
        if "end" in legal and self._is_sure():
            return "end"
        return self._observe([action for action in legal if action != "end"])

    def _observe(self, legal: Sequence[Action]) -> Action:
        """Prefers cards that nobody has looked at, then those that it does not know itself."""
        seen_by = [sum(card in seen for seen in self._view["observed"]) for card in range(self._config.cards)]

        def rank(action: Action) -> tuple[bool, int, float]:
            card = int(action.split()[1])
            return self._known[card] is not None, seen_by[card], self._rng.random()

        return min(legal, key=rank)

    def _move(self, legal: Sequence[Action]) -> Action:
        """Returns the move after which the colours lie closest together, over the deals that it imagines."""
        deals = self._deals()
        positions = [tuple(cell) for cell in self._view["positions"]]

        def disorder(action: Action) -> float:
            _, card, _, target = action.split()
            row, column = target.split(",")
            moved = [*positions]
            moved[int(card)] = (int(row), int(column))
            return sum(self._disorder(colours, moved) for colours in deals)

        tried = self._rng.sample(list(legal), min(len(legal), MOST_MOVES))
        return min(tried, key=lambda action: (disorder(action), self._rng.random()))

    def _hint(self, legal: Sequence[Action], honest: bool) -> Action:
        """Places the sharpest hint on a card of which it knows that it fits (a liar: does not fit), else reveals."""
        card_at = {tuple(cell): card for card, cell in enumerate(self._view["positions"])}
        fitting: list[tuple[int, float, Action]] = []
        for action in legal:
            if not action.startswith("place"):
                continue
            _, hint, _, cell = action.split()
            row, column = cell.split(",")
            colour = self._known[card_at[int(row), int(column)]]
            shown = self._view["hints"][int(hint)]["colours"]
            if colour is not None and (colour in shown) == honest:
                fitting.append((len(shown), self._rng.random(), action))
        if fitting:
            return min(fitting)[2]
        reveals = [action for action in legal if action.startswith("reveal")]
        return self._rng.choice(reveals or list(legal))

    def _is_sure(self) -> bool:
        deals = self._deals()
        positions = [tuple(cell) for cell in self._view["positions"]]
        won = sum(self._disorder(colours, positions) == 0 for colours in deals)
        return won >= CONFIDENCE * len(deals)

    def _deals(self) -> list[tuple[str, ...]]:
        """Returns colours of all cards as they may be, the placed hints taken at their word where that is possible."""
        deals = []
        for _ in range(GUESSES):
            colours = draw_colours(self._config, self._known, self._rng)
            for _ in range(GUESS_TRIES):
                if self._agrees(colours):
                    break
                colours = draw_colours(self._config, self._known, self._rng)
            deals.append(tuple(colours))
        return deals

    def _agrees(self, colours: Sequence[str]) -> bool:
        placed = [hint for hint in self._view["hints"] if hint["status"] == "placed"]
        return all(colours[hint["card"]] in hint["colours"] for hint in placed if self._known[hint["card"]] is None)

    def _disorder(self, colours: Sequence[str], positions: Sequence[tuple[int, ...]]) -> float:
        bits = self._grid.bits
        words: dict[str, int] = {}
        for colour, (row, column) in zip(colours, positions, strict=True):
            words[colour] = words.get(colour, 0) | bits[row][column]
        return sum(_separation(self._grid, word) for word in words.values())


@lru_cache(maxsize=1 << 15)
def _separation(board: Grid, word: int) -> float:
    return separation(board, word)
