"""Uniform random play of Hand of War to the end, on ranks alone."""

import random
from typing import Any

from games.api import CHANCE, TERMINAL
from games.hand_of_war.cards import DECK, HAND, STRENGTH


def playout(state: dict[str, Any], rng: random.Random, max_actions: int) -> list[float]:
    """Plays uniform random actions, chance's too, to the end.

    Args:
        state: any state; it is not changed.
        rng: source of all randomness.
        max_actions: actions, chance's too, after which the game is cut.

    Returns:
        The sum of the rewards paid after `state`, [1, -1], [-1, 1] or zeros, which a game that was cut pays too.
    """
    if state["current_player"] == TERMINAL:
        return [0.0, 0.0]
    piles = [[STRENGTH[card] for card in pile] for pile in state["draw_piles"]]
    hands = [[STRENGTH[card] for card in hand] for hand in state["hands"]]
    if state["current_player"] == CHANCE:
        dealt = {card for pile in state["draw_piles"] for card in pile}
        left = [STRENGTH[card] for card in DECK if card not in dealt]
        max_actions -= len(left)
        rng.shuffle(left)
        odd = len(piles[0]) - len(piles[1])
        piles = [piles[0] + left[odd::2], piles[1] + left[1 - odd :: 2]]
        hands = [pile[:HAND] for pile in piles]
        piles = [pile[HAND:] for pile in piles]
    laid = None if state["face_down"] is None else STRENGTH[state["face_down"]]
    margin = len(state["win_piles"][0]) - len(state["win_piles"][1])
    margin = _battles(piles, hands, laid, (margin, len(state["table"])), rng, max_actions)
    return [float((margin > 0) - (margin < 0)), float((margin < 0) - (margin > 0))]


def _battles(
    piles: list[list[int]],
    hands: list[list[int]],
    laid: int | None,
    won: tuple[int, int],
    rng: random.Random,
    max_actions: int,
) -> int:
    """Plays battles to the end, on lists that are used up.

    Args:
        piles: ranks of the draw piles, by player, the top first.
        hands: ranks of the hands, by player.
        laid: the rank that player 0 has laid face down, if any.
        won: cards in player 0's win pile less those in player 1's, and cards on the table.
        rng: source of all randomness.
        max_actions: so many cards may be laid.

    Returns:
        Cards in player 0's win pile less those in player 1's at the end; 0 if the game was cut.
    """
    draw = rng.random
    (first_pile, second_pile), (first_hand, second_hand) = piles, hands
    (margin, table), drawn, size = won, 0, len(first_pile)
    while True:
        max_actions -= 2 if laid is None else 1
        if max_actions < 0:
            return 0
        if laid is None:
            laid = first_hand.pop(int(draw() * len(first_hand)))
        answer = second_hand.pop(int(draw() * len(second_hand)))
        table += 2
        if laid == answer:
            if not first_hand or drawn == size:
                return margin
            drawn += 1
            table += 2
        else:
            margin += table if laid > answer else -table
            table = 0
            missing = HAND - len(first_hand)
            if drawn + missing > size:
                return margin
            first_hand += first_pile[drawn : drawn + missing]
            second_hand += second_pile[drawn : drawn + missing]
            drawn += missing
        laid = None
