"""Scripted players that see every colour: for test data, never for the arena.

Random games hardly ever win, so the winning score would never be tested. These players win or lose on purpose, early
or at full length, and steer into positions where nothing can be moved.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from games.api import Action, Game, GameError, ObsActionHistory
from games.yokai.config import config
from games.yokai.grid import Grid
from games.yokai.rules import Rules, YokaiState, rules_of
from games.yokai.scoring import colour_words, grouped_colours

Plan: TypeAlias = Literal["group", "scatter", "freeze"]
Ending: TypeAlias = Literal["when won", "when lost", "never"]


@dataclass(frozen=True)
class ScriptedPolicy:
    """One scripted way to play; every player of a game may follow it.

    Attributes:
        plan: what moves are for: `group` the colours, `scatter` (random moves that win nothing, if there are any), or
            `freeze`: build a straight line (9 cards) or a T (8 or 16 cards) and lock its ends, so that nothing can be
            moved. With 8 cards the third end is locked by the last hint, when the game is over.
        ending: end the game `when won`, `when lost`, or `never`.
        honesty: probability that a placed hint is true where it can be.
        mistakes: probability of a random legal action at sub-steps 3 and 4.
        end_probability: probability of ending at a turn at which `ending` allows it.
    """

    plan: Plan = "group"
    ending: Ending = "when won"
    honesty: float = 0.9
    mistakes: float = 0.0
    end_probability: float = 1.0

    def __call__(
        self, game: Game, state: YokaiState, history: ObsActionHistory, player: int, rng: random.Random
    ) -> Action:
        """Returns the action to play in `state`; looks at the whole state, not at the history.

        Raises:
            GameError: no player is to move.
        """
        if state["phase"] != "play":
            raise GameError(f"a policy acts where a player is to move, not in phase {state['phase']!r}.")
        rules = rules_of(config(len(state["colours"]), len(state["observed"])))
        legal = rules.legal_actions(state)
        sub_step = state["sub_step"]
        if sub_step <= 2:
            return self._observe_or_end(rules, state, legal, rng)
        if len(legal) == 1 or rng.random() < self.mistakes:
            return rng.choice(legal)
        return self._move(rules, state, legal, rng) if sub_step == 3 else self._hint(rules, state, legal, rng)

    def _observe_or_end(self, rules: Rules, state: YokaiState, legal: list[Action], rng: random.Random) -> Action:
        if state["sub_step"] == 1 and self.ending != "never":
            wanted = is_won(rules, state) == (self.ending == "when won")
            if wanted and rng.random() < self.end_probability:
                return "end"
        new = [action for action in legal if action[8:].isdigit() and int(action[8:]) not in _seen(state)]
        return rng.choice(new or [action for action in legal if action != "end"])

    def _move(self, rules: Rules, state: YokaiState, legal: list[Action], rng: random.Random) -> Action:
        if self.plan == "group":
            return grouping_move(rules, state, legal, rng)
        if self.plan == "freeze":
            return freezing_move(rules, state, legal, rng)
        for action in rng.sample(legal, min(20, len(legal))):
            if groups_to_join(rules.grid, colour_words(rules.grid, rules.apply_action(state, action))):
                return action
        return rng.choice(legal)

    def _hint(self, rules: Rules, state: YokaiState, legal: list[Action], rng: random.Random) -> Action:
        reveals = [action for action in legal if action.startswith("reveal")]
        if self.plan == "freeze":
            ends = tuple(f" at {row},{column}" for row, column in frozen_shape(rules).ends)
            return rng.choice([action for action in legal if action.endswith(ends)] or reveals or legal)
        places = [action for action in legal if action.startswith("place")]
        if rng.random() < self.honesty:
            true = [action for action in places if _is_true(rules, state, action)]
            places = true or places
        if self.plan == "group":
            places = _least_binding(rules, state, places)
        face_up = len(legal) > len(reveals)
        return rng.choice(reveals if reveals and (not face_up or rng.random() < REVEAL_RATE) else places)


REVEAL_RATE: Final = 0.7
"""How often a scripted player reveals where it could also place."""

POLICIES: Final[dict[str, ScriptedPolicy]] = {
    "win early": ScriptedPolicy(plan="group", ending="when won", end_probability=0.6),
    "win early, half the hints false": ScriptedPolicy(plan="group", ending="when won", honesty=0.5),
    "win early, with mistakes": ScriptedPolicy(plan="group", ending="when won", mistakes=0.2),
    "win late": ScriptedPolicy(plan="group", ending="never"),
    "win late, half the hints false": ScriptedPolicy(plan="group", ending="never", honesty=0.5),
    "win late, with mistakes": ScriptedPolicy(plan="group", ending="never", mistakes=0.05),
    "lose early": ScriptedPolicy(plan="scatter", ending="when lost", honesty=0.5, end_probability=0.2),
    "lose late": ScriptedPolicy(plan="scatter", ending="never", honesty=0.5),
    "freeze": ScriptedPolicy(plan="freeze", ending="never", honesty=0.5),
}
"""Policies for each kind of ending that test data should hold, wins with different scores, and forced no-ops."""


def _seen(state: YokaiState) -> Sequence[int]:
    seen: Sequence[int] = state["observed"][state["player"]]
    return seen


def _is_true(rules: Rules, state: YokaiState, action: Action) -> bool:
    _, hint, cell = rules.parsed[action]
    return state["colours"][state["positions"].index(cell)] in state["hints"][hint]["colours"]


def _least_binding(rules: Rules, state: YokaiState, places: list[Action]) -> list[Action]:
    """Returns the placements that leave the most legal moves, and those that come close."""
    if len(places) < 2:
        return places
    left = [len(rules.legal_moves(rules.apply_action(state, action))) for action in places]
    return [action for action, count in zip(places, left, strict=True) if count >= 0.9 * max(left)]


# -------------------------------------------------------------------- grouping


def groups_to_join(grid: Grid, words: Sequence[int]) -> int:
    """Returns how many joins are missing: groups less one, summed over the colours; 0 means won."""
    return sum(grid.groups(word) - 1 for word in words)


def grouping_move(rules: Rules, state: YokaiState, legal: list[Action], rng: random.Random, beam: int = 6) -> Action:
    """Returns a move that brings the colours closest to being grouped, looking two moves ahead.

    Args:
        rules: the configuration's rules.
        state: a state at sub-step 3.
        legal: its legal moves, at least one.
        rng: breaks ties.
        beam: how many of the best moves are looked into further.
    """
    ranked = sorted((_disorder(rules, state, action), rng.random(), action) for action in legal)
    if ranked[0][0] == 0 or _last_move(rules, state):
        return ranked[0][2]
    best: tuple[float, float, Action] | None = None
    for first, tie, action in ranked[:beam]:
        after = rules.apply_action(state, action)
        following = rules.legal_moves(after)
        second = min((_disorder(rules, after, move) for move in following), default=first)
        candidate = (min(first, second + 0.01 * first), tie, action)
        best = candidate if best is None or candidate < best else best
    return ranked[0][2] if best is None else best[2]


def _last_move(rules: Rules, state: YokaiState) -> bool:
    return bool(state["turn"] + 1 == 2 * rules.config.hints)


def _disorder(rules: Rules, state: YokaiState, move: Action) -> float:
    """How far from won the position is after `move`: missing joins, then distances between groups of one colour."""
    bits = rules.grid.bits
    _, moved, target = rules.parsed[move]
    words: dict[str, int] = {}
    for card, (row, column) in enumerate(state["positions"]):
        bit = bits[target[0]][target[1]] if card == moved else bits[row][column]
        colour = state["colours"][card]
        words[colour] = words.get(colour, 0) | bit
    return sum(separation(rules.grid, word) for word in words.values())


def separation(grid: Grid, word: int) -> float:
    """Returns how far the cells of one colour are from one group: 0 for one group; else missing joins and distances."""
    part = grid.component(word & -word, word)
    joins = 0.0
    while part != word:
        reach, steps = part, 0
        while not reach & word & ~part:
            reach = grid.spread(reach) & grid.board
            steps += 1
        found = reach & word & ~part
        part |= grid.component(found & -found, word)
        joins += 1 + 0.05 * steps
    return joins


def is_won(rules: Rules, state: YokaiState) -> bool:
    """Whether the position counts as won if the game ended now."""
    return grouped_colours(rules.grid, colour_words(rules.grid, state)) == len(rules.config.colours)


# -------------------------------------------------------------------- freezing


@dataclass(frozen=True)
class FrozenShape:
    """Cells that the cards are to fill, in order, and those whose cards must be locked."""

    cells: tuple[tuple[int, int], ...]
    ends: tuple[tuple[int, int], ...]


def frozen_shape(rules: Rules) -> FrozenShape:
    """Returns a line across the grid for 9 cards, else a T: taking out any card but an end splits it for good."""
    side, first = rules.config.grid, rules.config.offset
    row = first + 1 if rules.config.cards == side else first
    left = [(row, column) for column in range(first - 1, -1, -1)]
    right = [(row, column) for column in range(first + rules.config.start, side)]
    ends = [(row, 0), (row, side - 1)]
    stem: list[tuple[int, int]] = []
    if rules.config.cards > side:
        stem = [(below, first + 1) for below in range(row + 1, row + 1 + rules.config.cards - side)]
        ends.append(stem[-1])
    return FrozenShape(cells=(*left, *stem, *right), ends=tuple(ends))


def freezing_move(rules: Rules, state: YokaiState, legal: list[Action], rng: random.Random) -> Action:
    """Returns a move of a card outside the frozen shape to the shape's next empty cell, else a random move."""
    shape = frozen_shape(rules)
    row = shape.ends[0][0]
    filled = {(r, c) for r, c in state["positions"]}
    inside = {*shape.cells, *((row, column) for column in range(rules.config.grid))}
    for cell in shape.cells:
        if cell in filled:
            continue
        moves = [rules.parsed[action] for action in legal if action.endswith(f" to {cell[0]},{cell[1]}")]
        outside = [card for _, card, _ in moves if tuple(state["positions"][card]) not in inside]
        if outside:
            return f"move {rng.choice(outside)} to {cell[0]},{cell[1]}"
    return rng.choice(legal)
