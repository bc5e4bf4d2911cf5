"""Exact sampling of the histories of Hand of War that one player cannot tell from the real one.

Who draws and burns when follows from the battles that everybody saw. So a player's eight cards have places in its pile
of which it is known when each came to its hand, and what fits can be drawn place by place, each deal equally likely.
"""

import random
from collections.abc import Sequence

from games.api import Action, GameError, ObsActionHistory
from games.hand_of_war.cards import DECK, HAND, PILE, STRENGTH


def resample_history(history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
    """Returns a whole history, chance first, drawn from all that fit `history`, each equally likely.

    That is also the exact posterior if the other player is taken to choose uniformly at random, since all deals have
    the same probability and both players choose from as many cards in every history that fits.

    Args:
        history: the player's own decision points.
        player: whose history it is.
        rng: source of all randomness.

    Raises:
        GameError: the history is empty or another player's.
    """
    if not history or any(shown["player"] != player or shown["current_player"] != player for shown, _ in history):
        raise GameError(f"hand_of_war: expected at least one decision point, all of player {player}; got {history!r}.")
    battles = history[-1][0]["battles"]
    draws = drawn_places(battles)
    own = _own_places(history, draws, rng)
    other = _other_places([pair[1 - player] for pair in battles], draws, rng)
    known = {card for pile in (own, other) for card in pile if card is not None}
    hidden = [card for card in DECK if card not in known]
    rng.shuffle(hidden)
    filled = [[card or hidden.pop() for card in pile] for pile in (own, other)]
    piles = filled if player == 0 else filled[::-1]
    actions = [f"deal {card}" for pair in zip(*piles, strict=True) for card in pair]
    actions += [f"play {card}" for pair in battles for card in pair]
    if player == 0:
        return actions
    shown = [first for first, _ in battles]
    drawn = [piles[0][place] for places in draws for place in places]
    return [*actions, f"play {rng.choice([card for card in drawn if card not in shown])}"]


def drawn_places(battles: Sequence[Sequence[str]]) -> list[range]:
    """Returns which places of a draw pile came to the hand before each battle, the one at hand included.

    Places count from 0, the top; they are the same for both players, and none where a showdown goes on.

    Args:
        battles: the pairs of cards shown so far.
    """
    draws, following, hand = [range(HAND)], HAND, HAND
    for first, second in battles:
        tie = STRENGTH[first] == STRENGTH[second]
        hand -= 1
        missing, burned = (0, 1) if tie else (HAND - hand, 0)
        draws.append(range(following, following + missing))
        following, hand = following + missing + burned, hand + missing
    return draws


def _own_places(history: ObsActionHistory, draws: Sequence[range], rng: random.Random) -> list[str | None]:
    """Returns the player's own pile, by place, None where it has not seen the card.

    Hands are sorted, so the order of cards that were drawn together is unknown, and drawn.
    """
    pile: list[str | None] = [None] * PILE
    held: set[str] = set()
    for (shown, _), places in zip(history, draws, strict=True):
        new = [card for card in shown["hand"] if card not in held]
        rng.shuffle(new)
        for place, card in zip(places, new, strict=True):
            pile[place] = card
        held.update(new)
    return pile


def _other_places(shown: Sequence[str], draws: Sequence[range], rng: random.Random) -> list[str | None]:
    """Returns the other player's pile, by place, None but for the cards that it has shown.

    A shown card lay on any place drawn by then, but not on that of an earlier one. Those lay on places drawn by then
    too, so there are as many ways for each card whatever was drawn for the others: every deal is equally likely.
    """
    pile: list[str | None] = [None] * PILE
    free: list[int] = []
    for card, places in zip(shown, draws, strict=False):
        free += places
        pile[free.pop(rng.randrange(len(free)))] = card
    return pile
