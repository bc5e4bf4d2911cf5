"""A hand-written estimate of the return for planners on the true game. It is ours, not the paper's.

It looks at the true colours. To be comparable with what ending now pays, it assumes play that is less than perfect:
each missing join takes more than one turn, every turn spends the cheapest hint action, and the chance to win falls
with the joins missing and with the cards that nobody has seen, and rises with the turns left.
"""

from math import exp
from typing import Final

from games.yokai.grid import Grid
from games.yokai.rules import Rules, YokaiState
from games.yokai.scoring import colour_words, final_reward, hint_counts, win_score

TURNS_PER_JOIN: Final = 1.1
DELAY_PER_UNSEEN_CARD: Final = 0.8
UNSEEN_CARDS_AT_THE_END: Final = 1.5
"""Turns that the best informed player needs for each card that it has not seen, but for so many, before it ends."""
LOGIT: Final = 0.4
LOGIT_IF_WON_NOW: Final = 1.5
LOGIT_PER_SPARE_TURN: Final = 1.2
MOST_SPARE_TURNS: Final = 2.0
LOGIT_PER_JOIN: Final = -0.4
LOGIT_PER_STUCK_GROUP: Final = -1.5
"""The chance to win as a logistic function, set by hand so that the value agrees with what self-play of single-observer
ISMCTS with this value at its leaves (yokai-9c-2p, 800 simulations) was paid, by turn and by missing joins."""


def value(rules: Rules, state: YokaiState) -> float:
    """Returns the expected return from `state` on; at the end exactly what the last action paid."""
    colours = len(rules.config.colours)
    if state["phase"] == "over":
        return final_reward(rules.grid, state, colours)
    if state["phase"] == "deal":
        return 0.0
    words = colour_words(rules.grid, state)
    parts = [rules.grid.groups(word) for word in words]
    joins = sum(parts) - len(words)
    down, up, right, wrong = hint_counts(state)
    turns_left = 2 * down + up
    movable = turns_left - (state["sub_step"] == 4)
    unseen = rules.config.cards - max(len(seen) for seen in state["observed"])
    needed = TURNS_PER_JOIN * joins
    stuck = _stuck_groups(rules.grid, state, words) if joins else 0
    logit = LOGIT + LOGIT_PER_SPARE_TURN * min(MOST_SPARE_TURNS, movable - needed)
    logit += LOGIT_PER_JOIN * joins + LOGIT_PER_STUCK_GROUP * stuck + LOGIT_IF_WON_NOW * (joins == 0)
    win = 1 / (1 + exp(-logit)) if movable >= joins else 0.0
    spent = max(needed, DELAY_PER_UNSEEN_CARD * (unseen - UNSEEN_CARDS_AT_THE_END)) + (state["sub_step"] != 1)
    score = _score_after(min(spent, turns_left), down, up, right, wrong)
    missing = sum(part > 1 for part in parts)
    return win * score - (1 - win) * (max(1.0, 0.7 * missing) + wrong + 0.3)


def _score_after(spent: float, down: int, up: int, right: int, wrong: int) -> float:
    """Returns S after `spent` more hint actions: half of what is revealed is placed, truly as a rule."""
    before = win_score(down, up, right, wrong)
    after = right + down + up - wrong - 0.4 * (down + up)
    total = 2 * down + up
    return before - (before - after) * min(1.0, spent / total) if total else float(before)


def _stuck_groups(grid: Grid, state: YokaiState, words: list[int]) -> int:
    """Returns how many groups beyond the first of each colour consist of locked cards alone."""
    bits = grid.bits
    locked = 0
    for (row, column), is_locked in zip(state["positions"], state["locked"], strict=True):
        if is_locked:
            locked |= bits[row][column]
    if not locked:
        return 0
    stuck = 0
    for word in words:
        rest, fixed = word, 0
        while rest:
            part = grid.component(rest & -rest, rest)
            fixed += not part & ~locked
            rest &= ~part
        stuck += max(0, fixed - 1)
    return stuck
