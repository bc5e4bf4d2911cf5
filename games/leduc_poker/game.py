"""Leduc poker for two players, played by OpenSpiel."""

import random
import re
from functools import lru_cache
from typing import Final, NamedTuple

from games.adapters.open_spiel import OpenSpielGame
from games.api import Action, Json, ObsActionHistory, Observation, State

CARDS: Final = 6
RANKS: Final = "JQK"
_NO_CARD: Final = -10000
_TEXT: Final = re.compile(
    r"Round: (?P<round>\d)\nPlayer: .*\nPot: (?P<pot>\d+)\nMoney .*: (?P<money>.*)\n"
    r"Cards .*: (?P<public>\S+) (?P<first>\S+) (?P<second>\S+) \n"
    r"Round 1 sequence: (?P<one>.*)\nRound 2 sequence: (?P<two>.*)\n"
)


class _Table(NamedTuple):
    """What OpenSpiel's text of a state says, read once: chips by player, cards, betting by round."""

    round: int
    pot: int
    money: tuple[int, ...]
    private: tuple[int | None, ...]
    public: int | None
    betting: tuple[tuple[Action, ...], tuple[Action, ...]]


class LeducPoker(OpenSpielGame):
    """Leduc poker: six cards in three ranks, two rounds of betting, one public card; `RULES.md` is the spec.

    State: `round` (1 or 2); `private_cards` by player and `public_card`, 0 to 5 or null; `pot`, chips on the table;
    `money`, chips left by player; `round_1_betting` and `round_2_betting`, the actions in order; `current_player`, 0,
    1, -1 (chance) or -4 (over). Observation: the same without `private_cards`, with `player`, who looks, and
    `private_card`, its own or null. Actions: `Fold`, `Call`, `Raise`; chance `Chance outcome:0` to `Chance outcome:5`.
    Returns: chips won or lost, -13 to 13.
    """

    def __init__(self) -> None:
        super().__init__("leduc_poker", game_id="leduc_poker", static_actions=True, uniform_chance=True)

    def state_to_json(self, state: State) -> Json:
        table = _read(str(state))
        return {"private_cards": list(table.private), **self._public(state, table)}

    def observe(self, state: State, player: int) -> Observation:
        table = _read(str(state))
        return {"player": player, "private_card": table.private[player], **self._public(state, table)}

    def render(self, state: State, player: int | None = None) -> str:
        """Returns the table with cards as rank and id; with `player`, the other's card is shown as `?`."""
        table = _read(str(state))
        lines = [f"round {table.round}, pot {table.pot}, public card {card_name(table.public)}"]
        for seat, card in enumerate(table.private):
            shown = "?" if player not in (None, seat) else card_name(card)
            lines.append(f"player_{seat}: card {shown}, money {table.money[seat]}")
        betting = (f"betting {number}: {' '.join(moves) or '-'}" for number, moves in enumerate(table.betting, 1))
        return "\n".join([*lines, *betting])

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns a history that `player` cannot tell from the real one, with chance's own probabilities.

        The opponent is taken to bet without a look at its card, so each unseen card is equally likely.

        Args:
            history: the player's decision points; the last one holds the whole betting.
            player: who looks.
            rng: source of the choice.
        """
        shown = history[-1][0]
        own, public = shown["private_card"], shown["public_card"]
        other = rng.choice([card for card in range(CARDS) if card not in (own, public)])
        cards = (own, other) if player == 0 else (other, own)
        flop = [] if public is None else [_deal(public)]
        return [*map(_deal, cards), *shown["round_1_betting"], *flop, *shown["round_2_betting"]]

    def _public(self, state: State, table: _Table) -> dict[str, Json]:
        return {
            "public_card": table.public,
            "round": table.round,
            "pot": table.pot,
            "money": list(table.money),
            "round_1_betting": list(table.betting[0]),
            "round_2_betting": list(table.betting[1]),
            "current_player": self.current_player(state),
        }


def card_name(card: int | None) -> str:
    """Returns rank and id of a card, e.g. `Q(3)`, or `-` for none."""
    return "-" if card is None else f"{RANKS[card // 2]}({card})"


@lru_cache(maxsize=16384)
def _read(text: str) -> _Table:
    """Reads OpenSpiel's text of a state, the one place that tells all of it; the game has under 16,384 of them."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"OpenSpiel's text of a Leduc state has changed; got {text!r}.")
    first, second, public = (_card(match[name]) for name in ("first", "second", "public"))
    return _Table(
        round=int(match["round"]),
        pot=int(match["pot"]),
        money=tuple(int(chips) for chips in match["money"].split()),
        private=(first, second),
        public=public,
        betting=(_moves(match["one"]), _moves(match["two"])),
    )


def _card(text: str) -> int | None:
    card = int(text)
    return None if card == _NO_CARD else card


def _moves(text: str) -> tuple[Action, ...]:
    return tuple(text.split(", ")) if text else ()


def _deal(card: int) -> Action:
    return f"Chance outcome:{card}"
