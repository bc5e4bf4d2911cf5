"""Gin rummy for two players, played by OpenSpiel."""

import random
from functools import lru_cache
from typing import Final, NamedTuple

from games.adapters.open_spiel import OpenSpielGame
from games.api import Action, Json, ObsActionHistory, Observation, State
from games.gin_rummy import resample
from games.gin_rummy.cards import DECK, HAND_SIZE, total

KNOCK_CARD: Final = 10
GIN_BONUS: Final = 25
UNDERCUT_BONUS: Final = 25
WALL: Final = 2
"""Nobody draws once the stock is down to so many cards."""
MAX_UPCARD_DRAWS: Final = 50

_DEAL_LENGTH: Final = 2 * HAND_SIZE + 1
_DRAW_UPCARD, _DRAW_STOCK, _PASS, _KNOCK = range(len(DECK), len(DECK) + 4)


class _Log(NamedTuple):
    """What follows from the course of a game and OpenSpiel's struct of a state leaves out.

    Attributes:
        player: who acted last, None if nobody has.
        moves: what this player has done since the other one acted, action numbers.
        returned: whether the last discard put back the very upcard that was taken.
        upcard_draws: how often an upcard was taken, the first one left out.
    """

    player: int | None
    moves: tuple[int, ...]
    returned: bool
    upcard_draws: int


class GinRummy(OpenSpielGame):
    """Gin rummy, one hand: draw and discard, then knock, lay melds, lay off; `RULES.md` is the spec.

    State: `phase`, `Deal`, `FirstUpcard`, `Draw`, `Discard`, `Knock`, `Layoff`, `Wall` or `GameOver`; `current_player`,
    0, 1, -1 (chance) or -4 (over); `hands` by player, card names such as `Th`; `deadwood`, points by player; `upcard`
    and `previous_upcard`, a card or null; `discard_pile`, oldest first; `stock_size`, cards; `knock_card`, points;
    `known_cards` by player, taken from the discards and still held; `passed_first_upcard` by player; `upcard_returned`;
    `upcard_draws`; `knocked` by player; `laid_melds` by player, lists of cards; `layoffs`, cards; `layoffs_finished`;
    `last_moves`, `{"player", "actions"}` of whoever acted last, since the other player acted.
    Observation: the same without `hands`, with `player`, who looks, its `hand` and `deadwood`, and `opponent_hand`,
    null as long as it is hidden. Actions: card names, melds such as `7c8c9c`, `Draw upcard`, `Draw stock`, `Pass`,
    `Knock`; chance `Deal Th`. Returns: points won or lost, -123 to 123.

    OpenSpiel's own observation struct shows the defender's hand to the knocker while melds are laid off; here a hand is
    shown when its owner knocks, and the defender's when the melding is over. After a hand that nobody knocked, neither
    is shown. OpenSpiel's struct of a state leaves out two counters that decide when the game ends; here they are in.

    The paper on code world models (appendix H.8) describes the game otherwise in these places: there, equal deadwood
    is an undercut with its bonus, here it pays nothing to either; there, a hand ends as a draw when the stock is down
    to two cards, here the next player may still knock with the upcard. The knocker's discard after the knock, the
    laying of the defender's melds, the limit of two layoffs at each end of a run, how eleven cards are counted, and two
    ways to end without a score are not in its text; they are in `RULES.md`.
    """

    def __init__(self) -> None:
        super().__init__(
            "gin_rummy", game_id="gin_rummy", static_actions=True, uniform_chance=True, rename=_readable_action
        )
        # A new state of OpenSpiel builds tables of all melds, longer than twenty moves take; a clone copies them.
        self._start = self.native.new_initial_state()

    def initial_state(self) -> State:
        return self._start.clone()

    def rewards(self, state: State) -> list[float]:
        """Returns what the last action paid; a return is their sum."""
        # OpenSpiel pays -0.0 to player 1 when a knock wins nothing.
        return [amount + 0.0 for amount in super().rewards(state)]

    def state_to_json(self, state: State) -> Json:
        struct = state.to_dict()
        return {"hands": struct["hands"], "deadwood": _deadwood(struct), **self._public(state, struct)}

    def observations(self, state: State) -> list[Observation]:
        struct = state.to_dict()
        public = self._public(state, struct)
        return [_view(struct, public, player) for player in range(2)]

    def observe(self, state: State, player: int) -> Observation:
        return self.observations(state)[player]

    def render(self, state: State, player: int | None = None) -> str:
        """Returns the table; with `player`, the cards of the other hand that it does not know are shown as `?`."""
        struct = state.to_dict()
        public = self._public(state, struct)
        lines = [
            f"{public['phase']}: upcard {public['upcard'] or '-'}, stock {public['stock_size']}, "
            f"knock at {public['knock_card']}",
            f"discards: {' '.join(public['discard_pile']) or '-'}",
        ]
        for seat in range(2):
            shown = player in (None, seat) or _is_open(struct, seat)
            lines.append(_hand_line(struct, public, seat, shown))
        if public["layoffs"]:
            lines.append(f"laid off: {' '.join(public['layoffs'])}")
        return "\n".join(lines)

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns a history that `player` cannot tell from the real one; see `resample.resample_history`."""
        return resample.resample_history(history, player, rng)

    def _public(self, state: State, struct: dict[str, Json]) -> dict[str, Json]:
        """Returns what everybody sees."""
        log = _read(tuple(state.history()))
        names = self._names[0]
        return {
            "phase": struct["phase"],
            "current_player": self.current_player(state),
            "upcard": struct["upcard"],
            "previous_upcard": struct["prev_upcard"],
            "discard_pile": struct["discard_pile"],
            "stock_size": struct["stock_size"],
            "knock_card": struct["knock_card"],
            "known_cards": [[DECK[card] for card in cards] for cards in state.known_cards()],
            "passed_first_upcard": struct["pass_on_first_upcard"],
            "upcard_returned": log.returned,
            "upcard_draws": log.upcard_draws,
            "knocked": struct["knocked"],
            "laid_melds": struct["layed_melds"],
            "layoffs": struct["layoffs"],
            "layoffs_finished": struct["finished_layoffs"],
            "last_moves": {"player": log.player, "actions": [names[move] for move in log.moves]},
        }


def _readable_action(name: Action) -> Action:
    """Returns `Draw upcard` for OpenSpiel's `Player: 0 Action: Draw upcard`, `Deal Th` for `Chance outcome: Th`."""
    return name.replace("Chance outcome: ", "Deal ").rpartition("Action: ")[2]


def _view(struct: dict[str, Json], public: dict[str, Json], player: int) -> Observation:
    other = 1 - player
    return {
        "player": player,
        "hand": struct["hands"][player],
        "deadwood": _deadwood(struct)[player],
        "opponent_hand": struct["hands"][other] if _is_open(struct, other) else None,
        **public,
    }


def _is_open(struct: dict[str, Json], player: int) -> bool:
    """Returns whether the hand of `player` lies face up."""
    knocked: list[bool] = struct["knocked"]
    return knocked[player] or (struct["phase"] == "GameOver" and any(knocked))


def _deadwood(struct: dict[str, Json]) -> list[int]:
    """Returns points by player: the least that OpenSpiel finds, or, after a knock, all that is not laid down yet."""
    if any(struct["knocked"]):
        return [total(hand) for hand in struct["hands"]]
    points: list[int] = struct["deadwood"]
    return points


def _hand_line(struct: dict[str, Json], public: dict[str, Json], seat: int, shown: bool) -> str:
    hand, known = struct["hands"][seat], public["known_cards"][seat]
    if shown:
        line = f"player_{seat}: {' '.join(hand) or '-'}, deadwood {_deadwood(struct)[seat]}"
    else:
        line = f"player_{seat}: {' '.join([*known, *['?'] * (len(hand) - len(known))]) or '-'}"
    melds = " ".join("".join(meld) for meld in public["laid_melds"][seat])
    return f"{line}, melds {melds}" if melds else line


class _Course(NamedTuple):
    """What has to be kept of a course of the game to read on.

    Attributes:
        log: what it says so far.
        player: who acts next, chance apart.
        upcard: the last discard, or the first upcard.
        taken: the upcard that was taken last, -1 after a draw from the stock.
        knocked: whether somebody has.
        layoff: whether the knocker has laid down what it wants to.
        opened: whether anybody has done anything but pass.
        drawing: whether chance is to deal a card from the stock.
    """

    log: _Log
    player: int
    upcard: int
    taken: int
    knocked: bool
    layoff: bool
    opened: bool
    drawing: bool


def _read(history: tuple[int, ...]) -> _Log:
    """Reads a course of action numbers, chance's included: the deal, and a card after each draw from the stock."""
    return _course(history).log if len(history) >= _DEAL_LENGTH else _Log(None, (), False, 0)


@lru_cache(maxsize=4096)
def _course(history: tuple[int, ...]) -> _Course:
    """Reads on from the course without its last move, which was mostly read before: games go on from each other."""
    if len(history) == _DEAL_LENGTH:
        return _Course(_Log(None, (), False, 0), 0, history[-1], -1, False, False, False, False)
    log, player, upcard, taken, knocked, layoff, opened, drawing = _course(history[:-1])
    if drawing:
        return _Course(log, player, upcard, taken, knocked, layoff, opened, False)
    move = history[-1]
    mover, moves, returned, upcard_draws = log
    moves = (*moves, move) if mover == player else (move,)
    mover = player
    if move == _DRAW_UPCARD:
        upcard_draws, taken = upcard_draws + opened, upcard
    elif move == _DRAW_STOCK:
        drawing, taken = True, -1
    elif move == _KNOCK:
        knocked = True
    elif not knocked:
        player = 1 - player
        if move != _PASS:
            returned, upcard = move == taken, move
    elif move == _PASS and not layoff:
        # The knocker goes on until it passes; then the defender does until the end.
        layoff, player = True, 1 - player
    opened = opened or move != _PASS
    return _Course(_Log(mover, moves, returned, upcard_draws), player, upcard, taken, knocked, layoff, opened, drawing)
