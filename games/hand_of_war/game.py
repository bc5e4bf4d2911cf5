"""Hand of War behind `games.api.Game`."""

import random
from typing import Any, Final

from games.api import CHANCE, TERMINAL, Action, GameInfo, IllegalActionError, ObsActionHistory, Observation
from games.hand_of_war import playout, resample
from games.hand_of_war.cards import DECK, HAND, NUMBER, PILE, STRENGTH

MAX_LENGTH: Final = 12
"""Six battles: each but the last takes a card at least from each draw pile of five."""


class HandOfWar:
    """A war of two hands of three cards (paper on code world models, appendix H.10); `RULES.md` is the spec.

    State: `draw_piles` and `hands`, by player, `table` and `win_piles`, by player, all lists of cards; `face_down`, the
    card that player 0 has laid and player 1 not yet answered, or null; `battles`, all pairs of cards shown so far,
    player 0's first; `current_player`, 0, 1, -1 (chance) or -4 (over). Observation: `player`, who looks; `hand`, its
    own; `face_down`, if it is its own; `battles`; `hand_sizes`, `draw_pile_sizes`, `win_pile_sizes`, by player;
    `table_size`; `current_player`. Cards: `JC` to `AS`. Actions: `play QH`; chance `deal QH`. Returns: 1, 0 or -1.

    What the paper leaves open, and why it is so here:

    * Deck: the 16 cards that it counts, one of each rank in four suits; suits never matter.
    * Deal: chance deals all 16 cards one by one, alternately, so that its probabilities are exact and small in number,
      and all that comes after is up to the players.
    * Choosing at the same time: player 0 chooses first, and player 1 does not see what.
    * Showdown: nobody sees the burned cards, and hands are replenished only when it is decided, as the paper has it.
    * End: a hand is replenished from a draw pile with enough cards; where there are too few, nothing is drawn and the
      game ends. A tie with an empty draw pile, or with an empty hand, cannot be played on and ends the game too. Cards
      still on the table, in hands and in draw piles then count for nobody.
    * All 16 cards can be one player's only after a last showdown for which both players have used up everything. The
      game ends then in any case, and with the same winner, so that end of the paper needs no rule of its own.
    """

    def __init__(self) -> None:
        self._info = GameInfo(
            id="hand_of_war",
            num_players=2,
            utility="win_loss_draw",
            min_utility=-1.0,
            max_utility=1.0,
            perfect_information=False,
            has_chance=True,
            player_names=("player_0", "player_1"),
            max_length=MAX_LENGTH,
            simultaneous=True,
        )

    @property
    def info(self) -> GameInfo:
        return self._info

    def initial_state(self) -> dict[str, Any]:
        return {
            "draw_piles": [[], []],
            "hands": [[], []],
            "table": [],
            "win_piles": [[], []],
            "face_down": None,
            "battles": [],
            "current_player": CHANCE,
        }

    def current_player(self, state: dict[str, Any]) -> int:
        return int(state["current_player"])

    def legal_actions(self, state: dict[str, Any]) -> list[Action]:
        """Returns a card of the hand each, from low to high; chance's outcomes likewise."""
        player = state["current_player"]
        if player >= 0:
            return [f"play {card}" for card in state["hands"][player]]
        return [f"deal {card}" for card in _undealt(state)] if player == CHANCE else []

    def chance_outcomes(self, state: dict[str, Any]) -> list[tuple[Action, float]]:
        if state["current_player"] != CHANCE:
            return []
        cards = _undealt(state)
        return [(f"deal {card}", 1 / len(cards)) for card in cards]

    def apply_action(self, state: dict[str, Any], action: Action) -> dict[str, Any]:
        """Returns the next state.

        Raises:
            IllegalActionError: the action is not legal in `state`.
        """
        player, (word, _, card) = state["current_player"], action.partition(" ")
        if player == CHANCE and word == "deal" and card in NUMBER and not any(card in p for p in state["draw_piles"]):
            return _dealt(state, card)
        if player >= 0 and word == "play" and card in state["hands"][player]:
            return _laid(state, card) if player == 0 else _fought(state, card)
        raise IllegalActionError(f"hand_of_war: {action!r} is not legal here; legal are {self.legal_actions(state)}.")

    def rewards(self, state: dict[str, Any]) -> list[float]:
        first, second = (len(pile) for pile in state["win_piles"])
        if state["current_player"] != TERMINAL or first == second:
            return [0.0, 0.0]
        return [1.0, -1.0] if first > second else [-1.0, 1.0]

    def observations(self, state: dict[str, Any]) -> list[Observation]:
        return [_view(state, player) for player in (0, 1)]

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns a history drawn uniformly from all that fit; see `resample.resample_history`."""
        return resample.resample_history(history, player, rng)

    def playout(self, state: dict[str, Any], rng: random.Random, max_actions: int) -> list[float]:
        """Plays uniform random actions, chance's too, to the end; see `playout.playout`."""
        return playout.playout(state, rng, max_actions)

    def render(self, state: dict[str, Any], player: int | None = None) -> str:
        """Returns the table; with `player`, what it does not see is shown as `?`."""
        lines = []
        for seat in (0, 1):
            hand = " ".join(card if player in (None, seat) else "?" for card in state["hands"][seat]) or "-"
            lines.append(
                f"player_{seat}: hand {hand}, draw pile {len(state['draw_piles'][seat])}, "
                f"win pile {len(state['win_piles'][seat])}"
            )
        laid = state["face_down"]
        shown = "-" if laid is None else laid if player in (None, 0) else "?"
        lines.append(f"face down: {shown}, on the table: {len(state['table'])}")
        return "\n".join([*lines, f"battles: {' '.join(':'.join(pair) for pair in state['battles']) or '-'}"])

    def all_actions(self) -> list[Action]:
        """Returns every action of a player; its place in the list is its index."""
        return [f"play {card}" for card in DECK]

    def all_chance_actions(self) -> list[Action]:
        """Returns every outcome of chance; its place in the list is its index."""
        return [f"deal {card}" for card in DECK]


def _undealt(state: dict[str, Any]) -> list[str]:
    """Returns the cards that chance has not dealt, from low to high."""
    first, second = state["draw_piles"]
    dealt = {*first, *second}
    return [card for card in DECK if card not in dealt]


def _dealt(state: dict[str, Any], card: str) -> dict[str, Any]:
    """Puts a card at the bottom of the draw pile whose turn it is; after the last one both players draw their hands."""
    first, second = state["draw_piles"]
    piles = [[*first, card], second] if len(first) == len(second) else [first, [*second, card]]
    if len(piles[1]) < PILE:
        return {**state, "draw_piles": piles}
    hands = [_sorted(pile[:HAND]) for pile in piles]
    return {**state, "draw_piles": [pile[HAND:] for pile in piles], "hands": hands, "current_player": 0}


def _laid(state: dict[str, Any], card: str) -> dict[str, Any]:
    """Player 0 lays a card face down."""
    first, second = state["hands"]
    return {**state, "hands": [_without(first, card), second], "face_down": card, "current_player": 1}


def _fought(state: dict[str, Any], second: str) -> dict[str, Any]:
    """Player 1 answers: both cards are shown, and the battle is decided or becomes a showdown."""
    first = state["face_down"]
    hands = [state["hands"][0], _without(state["hands"][1], second)]
    piles, win_piles, table = state["draw_piles"], state["win_piles"], [*state["table"], first, second]
    if STRENGTH[first] == STRENGTH[second]:
        goes_on = bool(hands[0] and piles[0])
        if goes_on:
            table += [pile[0] for pile in piles]
            piles = [pile[1:] for pile in piles]
    else:
        winner = 0 if STRENGTH[first] > STRENGTH[second] else 1
        win_piles = [[*pile, *table] if seat == winner else pile for seat, pile in enumerate(win_piles)]
        table, missing = [], HAND - len(hands[0])
        goes_on = len(piles[0]) >= missing
        if goes_on:
            hands = [_sorted(hand + pile[:missing]) for hand, pile in zip(hands, piles, strict=True)]
            piles = [pile[missing:] for pile in piles]
    return {
        "draw_piles": piles,
        "hands": hands,
        "table": table,
        "win_piles": win_piles,
        "face_down": None,
        "battles": [*state["battles"], [first, second]],
        "current_player": 0 if goes_on else TERMINAL,
    }


def _without(hand: list[str], card: str) -> list[str]:
    return [other for other in hand if other != card]


def _sorted(cards: list[str]) -> list[str]:
    return sorted(cards, key=NUMBER.__getitem__)


def _view(state: dict[str, Any], player: int) -> Observation:
    return {
        "player": player,
        "hand": list(state["hands"][player]),
        "face_down": state["face_down"] if player == 0 else None,
        "battles": [list(pair) for pair in state["battles"]],
        "hand_sizes": [len(hand) for hand in state["hands"]],
        "draw_pile_sizes": [len(pile) for pile in state["draw_piles"]],
        "win_pile_sizes": [len(pile) for pile in state["win_piles"]],
        "table_size": len(state["table"]),
        "current_player": state["current_player"],
    }
