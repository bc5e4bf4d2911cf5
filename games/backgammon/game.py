"""Backgammon, played by OpenSpiel."""

import random
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from games.adapters.open_spiel import OpenSpielGame, load
from games.api import CHANCE, TERMINAL, Action, Json, Observation, State

PLAYERS: Final = ("x", "o")
POINTS: Final = 24
CHECKERS: Final = 15
MAX_TURNS: Final = 500
"""OpenSpiel's limit: the turn after this many, if nobody has won by then, ends the game as a draw."""

_BAR: Final = POINTS + 1
_DIGITS: Final = 26
"""OpenSpiel numbers a play by two digits, where each checker starts: 0 to 23, then the bar, then nothing."""
_BAR_DIGIT: Final = 24
_NO_DIGIT: Final = 25
_CELL: Final = 4
"""Numbers a point in OpenSpiel's tensor: whether it holds 1, 2, 3 checkers, and how many beyond 3."""
_ROLL: Final = re.compile(r"(?:(?P<starter>[XO]) starts, )?\(roll: (?P<one>\d)(?P<two>\d)\)")


class _Rolls(NamedTuple):
    """Chance's outcomes at one kind of node, each roll once whichever die shows which number.

    `numbers` and `chances` go by our name, `dice`, the larger first, by each of OpenSpiel's numbers.
    """

    numbers: Mapping[Action, int]
    chances: Mapping[Action, float]
    dice: Mapping[int, tuple[int, ...]]


class _Turn(NamedTuple):
    """Whose turn it is, None before the opening roll and at the end; turns begun so far; second half of a double."""

    player: int | None
    taken: int
    second_half: bool


class Backgammon(OpenSpielGame):
    """Backgammon without a doubling cube, every win worth 1; `RULES.md` is the spec.

    State: `points`, `bar` and `off`, checkers by player, where `points` are 24 counts in the player's own numbering,
    entry 0 its point 1; `dice`, the larger first, or empty; `turn_of`, `x`, `o` or null; `second_half`, whether the
    last two moves of a double are to come; `turns_taken`; `current_player`, 0, 1, -1 (chance) or -4 (over). Both
    observations: the whole state. Actions: up to two moves in the mover's own numbering, the higher start first,
    e.g. `13/7 8/7`, `bar/20 20/14`, `6/off`, or `pass`; chance `x starts with 3-1` or `o starts with 3-1`, later
    `roll 6-6`. Returns: 1, 0 (turn limit) or -1.

    The rules that the code world model paper gave to its models (appendix H.1) mention a doubling cube, gammons and
    backgammons as options: nothing of it is played here. They write an action as the position of each checker with
    the higher or the lower die instead of where it goes, describe the board as two arrays in the second player's
    numbering, and name neither the limit of turns nor the rule that the larger number is to be played if either one
    but not both can be.
    """

    def __init__(self, max_turns: int = MAX_TURNS) -> None:
        """Args:
        max_turns: the turn after so many is the last one.
        """
        super().__init__(
            load(f"backgammon(max_player_turns={max_turns})"),
            game_id="backgammon",
            utility="win_loss_draw",
            player_names=PLAYERS,
            uniform_chance=True,
        )

    def chance_outcomes(self, state: State) -> list[tuple[Action, float]]:
        return list(_rolls(_opens(state)).chances.items()) if state.is_chance_node() else []

    def observe(self, state: State, player: int) -> Observation:
        shown: Observation = self.state_to_json(state)
        return shown

    def state_to_json(self, state: State) -> Json:
        table, turn = state.observation_tensor(0), _turn(state)
        tail = table[2 * POINTS * _CELL :]
        return {
            "points": {"x": _counts(table[: POINTS * _CELL])[::-1], "o": _counts(table[POINTS * _CELL :])},
            "bar": {"x": int(tail[0]), "o": int(tail[3])},
            "off": {"x": int(tail[1]), "o": int(tail[4])},
            "dice": [] if state.is_terminal() else list(_dice(state)),
            "turn_of": None if turn.player is None else PLAYERS[turn.player],
            "second_half": turn.second_half,
            "turns_taken": turn.taken,
            "current_player": self.current_player(state),
        }

    def render(self, state: State, player: int | None = None) -> str:
        """Returns the board; every player sees all of it.

        Above it stand the numbers that the points of the upper row have for `x`, below it those that the points of
        the lower row have for `o`.
        """
        table = self.state_to_json(state)
        x, o = (table["points"][name] for name in PLAYERS)
        low = range(POINTS // 2, 0, -1)
        numbers = _row([str(point) for point in low])
        upper = _row([_cell(x=x[point - 1], o=o[POINTS - point]) for point in low])
        lower = _row([_cell(x=x[POINTS - point], o=o[point - 1]) for point in low])
        outside = "; ".join(f"{place}: x {table[place]['x']}, o {table[place]['o']}" for place in ("bar", "off"))
        about = f"{outside}; turns taken: {table['turns_taken']}"
        return "\n".join([f"x {numbers}", f"  {upper}", f"  {lower}", f"o {numbers}", about, _sentence(table)])

    def playout(self, state: State, rng: random.Random, max_actions: int) -> list[float]:
        """Plays uniform random moves on one clone and returns the sum of the rewards paid after `state`.

        OpenSpiel numbers most plays twice, once for each order of their two moves; here all are equally likely.

        Args:
            state: where to start; it stays as it is.
            rng: source of the moves.
            max_actions: after so many actions, chance's too, the rest of the game counts as 0.

        Returns:
            One sum a player, shape [2].
        """
        end, draw = state.clone(), rng.random
        legal, mover, apply = end.legal_actions, end.current_player, end.apply_action
        dice, rolls = _dice(end), _rolls(_opens(end)).dice
        for _ in range(max_actions):
            numbers = legal()
            if not numbers:
                break
            number = numbers[int(draw() * len(numbers))]
            player = mover()
            if player == CHANCE:
                dice, rolls = rolls[number], _rolls(opening=False).dice
            else:
                twins = _lower_twins(player, dice, number)
                while twins and any(twin in numbers for twin in twins):
                    number = numbers[int(draw() * len(numbers))]
                    twins = _lower_twins(player, dice, number)
            apply(number)
        return self._paid_between(state, end)

    @staticmethod
    def _labels(state: State) -> dict[Action, int]:
        player = int(state.current_player())
        if player == CHANCE:
            return dict(_rolls(_opens(state)).numbers)
        labels: dict[Action, int] = {}
        if player != TERMINAL:
            dice = _dice(state)
            for number in state.legal_actions():
                labels.setdefault(_play(player, dice, number), number)
        return labels


def _opens(state: State) -> bool:
    """Returns whether nothing has been rolled yet."""
    return not state.move_number()


@lru_cache
def _rolls(opening: bool) -> _Rolls:
    """Returns what OpenSpiel's chance nodes offer; it tells the two dice apart, which changes nothing."""
    state = load("backgammon").new_initial_state()
    if not opening:
        for _ in range(2):
            state.apply_action(state.legal_actions()[0])
    numbers: dict[Action, int] = {}
    chances: dict[Action, float] = {}
    dice: dict[int, tuple[int, ...]] = {}
    for number, chance in state.chance_outcomes():
        text = state.action_to_string(CHANCE, number)
        found = _ROLL.search(text)
        if found is None:
            raise ValueError(f"OpenSpiel's text of a roll has changed; got {text!r}.")
        dice[number] = tuple(sorted((int(found["one"]), int(found["two"])), reverse=True))
        roll = "-".join(map(str, dice[number]))
        name = f"{found['starter'].lower()} starts with {roll}" if found["starter"] else f"roll {roll}"
        numbers.setdefault(name, number)
        chances[name] = chances.get(name, 0.0) + chance
    return _Rolls(numbers, chances, dice)


def _dice(state: State) -> tuple[int, ...]:
    """Returns the dice of the turn, the larger first, () before a roll."""
    low, high = sorted(int(number) for number in state.observation_tensor(0)[-2:])
    return (high, low) if low else ()


def _turn(state: State) -> _Turn:
    players = [int(step.player) for step in state.full_history()]
    # Chance rolls once a turn, and the roll for a turn that is still to be played does not count.
    taken = players.count(CHANCE) - (bool(players) and players[-1] == CHANCE)
    if state.is_terminal() or not players:
        return _Turn(None, taken, second_half=False)
    if state.is_chance_node():
        return _Turn(1 - players[-1], taken, second_half=False)
    return _Turn(int(state.current_player()), taken, second_half=players[-1] != CHANCE)


def _counts(cells: list[float]) -> list[int]:
    """Returns the checkers on each point, in OpenSpiel's order, from the tensor's numbers of one player."""
    counts = []
    for start in range(0, POINTS * _CELL, _CELL):
        one, two, three, beyond = cells[start : start + _CELL]
        counts.append(int(one + 2 * two + 3 * three + (beyond + 3 if beyond else 0)))
    return counts


@lru_cache(maxsize=65536)
def _play(player: int, dice: tuple[int, ...], number: int) -> Action:
    """Returns the name of OpenSpiel's play `number` with `dice`: two ways to play the same moves read the same."""
    low_first, digits = divmod(number, _DIGITS**2)
    moves = []
    for digit, die in zip((digits % _DIGITS, digits // _DIGITS), dice[::-1] if low_first else dice, strict=True):
        if digit != _NO_DIGIT:
            start = _BAR if digit == _BAR_DIGIT else (POINTS - digit if player == 0 else digit + 1)
            moves.append((start, max(start - die, 0)))
    named = (f"{'bar' if start == _BAR else start}/{end or 'off'}" for start, end in sorted(moves, reverse=True))
    return " ".join(named) or "pass"


@lru_cache(maxsize=65536)
def _lower_twins(player: int, dice: tuple[int, ...], number: int) -> tuple[int, ...]:
    """Returns the lower ones of OpenSpiel's numbers that name the same play, whether or not they are legal."""
    low_first, digits = divmod(number, _DIGITS**2)
    swapped = digits % _DIGITS * _DIGITS + digits // _DIGITS
    numbers = [order * _DIGITS**2 + pair for order in range(low_first + 1) for pair in {digits, swapped}]
    name = _play(player, dice, number)
    return tuple(other for other in numbers if other < number and _play(player, dice, other) == name)


def _cell(*, x: int, o: int) -> str:
    """Returns a point for the eye, e.g. `5x`, from the checkers on it."""
    return f"{x}x" if x else f"{o}o" if o else "."


def _row(cells: list[str]) -> str:
    wide = [f"{cell:>3}" for cell in cells]
    return "".join([*wide[:6], " |", *wide[6:]])


def _sentence(table: Json) -> str:
    """Returns whose turn it is in words."""
    if table["current_player"] == TERMINAL:
        winner = next((name for name in PLAYERS if table["off"][name] == CHECKERS), None)
        return f"{winner} has won" if winner else "a draw: the turn limit is reached"
    if table["turn_of"] is None:
        return "opening roll"
    if table["current_player"] == CHANCE:
        return f"{table['turn_of']} rolls"
    half = ", second half" if table["second_half"] else ""
    return f"{table['turn_of']} moves with {'-'.join(map(str, table['dice']))}{half}"
