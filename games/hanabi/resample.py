"""Exact sampling of the histories that one player cannot tell from the real one. Standard library alone.

All that a player cannot see is its own hand: what others hold and drew lies open to it, and so does what it played.
Others' choices are taken to say nothing of it.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from games.api import Action, GameError, ObsActionHistory
from games.hanabi.belief import sample
from games.hanabi.config import HanabiSizes, deal
from games.hanabi.knowledge import Course


def public_log(history: ObsActionHistory) -> list[Mapping[str, Any]]:
    """Returns all moves that the decision points of one player tell, oldest first.

    Each begins with the player's own move before it, so that they join without gap or overlap.
    """
    return [event for shown, _ in history for event in shown["recent"]]


def unseen_cards(sizes: HanabiSizes, seen: Sequence[str]) -> dict[str, int]:
    """Returns how many copies of each card are not among those seen.

    Raises:
        GameError: more copies were seen than there are.
    """
    left = sizes.deck()
    for card in seen:
        if left.get(card, 0) == 0:
            raise GameError(f"the history shows more cards {card!r} than there are; pass a history of one game.")
        left[card] -= 1
    return left


def resample_history(sizes: HanabiSizes, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
    """Returns a whole history that `player` cannot tell from the real one, all hands that fit equally likely.

    The own hand is drawn (`belief.sample`), put where chance dealt it, and the rest kept. Nothing is rejected.

    Args:
        sizes: of the game.
        history: the player's decision points, oldest first, in any view; one at the end of the game is fine too.
        player: whose history it is.
        rng: source of all randomness.

    Raises:
        GameError: the history is empty, another player's, or contradicts itself.
    """
    if not history:
        raise GameError("the history is empty; a player's history holds at least its current decision point.")
    if any(shown["player"] != player for shown, _ in history):
        raise GameError(f"the history is to hold observations of player {player} alone.")
    course, cards = Course(sizes), dict[int, str]()
    first, moves = course.dealt, list[tuple[Action, bool]]()
    for shown, _ in history:
        for event in shown["recent"]:
            if event["card"] is not None:
                cards[course.hands[event["player"]][event["slots"][0]].number] = event["card"]
            moves.append((event["action"], course.follow(event)))
        for seat, hand in enumerate(shown["hands"]):
            if seat != player:
                for known, slot in zip(course.hands[seat], hand, strict=True):
                    cards[known.number] = slot["card"]
    own = course.hands[player]
    drawn = sample(unseen_cards(sizes, list(cards.values())), [known.mask for known in own], rng)
    cards.update((known.number, card) for known, card in zip(own, drawn, strict=True))
    actions = [deal(cards[number]) for number in range(first)]
    following = first
    for action, deals in moves:
        actions.append(action)
        if deals:
            actions.append(deal(cards[following]))
            following += 1
    return actions
