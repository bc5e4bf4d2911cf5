"""Uniform random play to the end on bit words, much faster than through the pure functions.

Observing changes nothing that is scored, so only the chance of ending matters at sub-step 1, and sub-step 2 needs no
choice at all. A move is drawn uniformly from the legal (card, cell) pairs by rejection: a card and a cell next to the
group are drawn, and kept if the move is legal; after some misses the legal pairs are listed and one is drawn.
"""

import random

from games.yokai.deal import draw_colours, draw_hints
from games.yokai.grid import Grid
from games.yokai.rules import Rules, YokaiState
from games.yokai.scoring import grouped_colours, total_reward

TRIES = 24
"""Misses after which the legal moves are listed."""


def playout(rules: Rules, state: YokaiState, rng: random.Random, max_actions: int) -> list[float]:
    """Plays uniform random actions, chance's too, to the end.

    Args:
        rules: the configuration's rules.
        state: any state; it is not changed.
        rng: source of all randomness.
        max_actions: actions, chance's too, after which the game is cut.

    Returns:
        The sum of the rewards paid after `state`, shape [players]; zeros if the game was cut, or over already.
    """
    if state["phase"] == "deal":
        undealt = state["colours"].count(None) + sum(hint["colours"] is None for hint in state["hints"])
        max_actions -= undealt
        state = _dealt(rules, state, rng)
    players = rules.config.players
    if state["phase"] != "play" or max_actions <= 0:
        return [0.0] * players
    return [_Playout(rules, state).run(rng, max_actions)] * players


def _dealt(rules: Rules, state: YokaiState, rng: random.Random) -> YokaiState:
    colours = draw_colours(rules.config, state["colours"], rng)
    hints = draw_hints(rules.config, [hint["colours"] for hint in state["hints"]], rng)
    faces = [{"status": "face down", "colours": list(hint), "card": None} for hint in hints]
    return {**state, "phase": "play", "player": 0, "sub_step": 1, "colours": colours, "hints": faces}


class _Playout:
    """A game in progress: cells as one-bit words, unlocked cards, hints by what became of them."""

    def __init__(self, rules: Rules, state: YokaiState) -> None:
        self.grid = rules.grid
        bits = self.grid.bits
        self.cells = [bits[row][column] for row, column in state["positions"]]
        self.occupied = sum(self.cells)
        self.colours = state["colours"]
        self.free = [card for card, locked in enumerate(state["locked"]) if not locked]
        self.hints = state["hints"]
        self.down = [k for k, hint in enumerate(self.hints) if hint["status"] == "face down"]
        self.up = [k for k, hint in enumerate(self.hints) if hint["status"] == "face up"]
        placed = [hint for hint in self.hints if hint["status"] == "placed"]
        self.right = sum(self.colours[hint["card"]] in hint["colours"] for hint in placed)
        self.wrong = len(placed) - self.right
        self.sub_step = int(state["sub_step"])

    def run(self, rng: random.Random, max_actions: int) -> float:
        """Plays to the end; returns what every player is paid, 0.0 if `max_actions` did not suffice."""
        draw = rng.random
        needed = 5 - self.sub_step
        sub_step = self.sub_step
        while self.down or self.up:
            if sub_step == 1 and max_actions > 0 and draw() * (len(self.free) + 1) < 1:
                return self._paid(ended_early=True)
            if max_actions < needed:
                return 0.0
            max_actions -= needed
            if sub_step <= 3:
                self._move(rng)
            self._use_hint(rng)
            sub_step, needed = 1, 4
        return self._paid(ended_early=False)

    def _move(self, rng: random.Random) -> None:
        free, cells, occupied = self.free, self.cells, self.occupied
        card, target = _draw_move(self.grid, free, cells, occupied, rng)
        if target:
            self.occupied = occupied ^ cells[card] | target
            cells[card] = target

    def _use_hint(self, rng: random.Random) -> None:
        reveals, free = len(self.down), len(self.free)
        choice = int(rng.random() * (reveals + len(self.up) * free))
        if choice < reveals:
            self.up.append(self.down.pop(choice))
            return
        which, where = divmod(choice - reveals, free)
        hint = self.hints[self.up.pop(which)]
        if self.colours[self.free.pop(where)] in hint["colours"]:
            self.right += 1
        else:
            self.wrong += 1

    def _paid(self, ended_early: bool) -> float:
        words: dict[str, int] = {}
        for colour, cell in zip(self.colours, self.cells, strict=True):
            words[colour] = words.get(colour, 0) | cell
        missing = len(words) - grouped_colours(self.grid, words.values())
        counts = (len(self.down), len(self.up), self.right, self.wrong)
        return float(total_reward(not missing, ended_early, missing, counts))


def _draw_move(grid: Grid, free: list[int], cells: list[int], occupied: int, rng: random.Random) -> tuple[int, int]:
    """Returns (card, target word), uniform over the legal moves; target 0 if there are none."""
    border = _split(grid.spread(occupied) & grid.board & ~occupied)
    draw, cards, places = rng.random, len(free), len(border)
    component = grid.component
    for _ in range(TRIES):
        card = free[int(draw() * cards)]
        target = border[int(draw() * places)]
        after = occupied ^ cells[card] | target
        if component(target, after) == after:
            return card, target
    legal = [(card, cell) for card in free for cell in _split(grid.targets(occupied ^ cells[card]) & ~cells[card])]
    return legal[int(draw() * len(legal))] if legal else (-1, 0)


def _split(cells: int) -> list[int]:
    """Returns the one-bit words of `cells`, lowest first."""
    words = []
    while cells:
        low = cells & -cells
        words.append(low)
        cells ^= low
    return words
