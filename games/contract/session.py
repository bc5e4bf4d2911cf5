"""The contract's checks as a worker runs them beside a program: each function takes the program as a game, a JSON
argument and a seeded source of randomness, and returns JSON. Standard library only.
"""

import json
import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from games.api import TERMINAL, Action, Game, GameInfo, Json, ObsActionHistory, Observation, State
from games.contract import game as contract
from games.contract.report import Violation

HIDDEN: Final = "observations show what is hidden"
FAILS: Final = "a history that the game allows fails"
MAX_DEPTH: Final = 100
LARGEST: Final = 10**4000
MAX_SHOWN: Final = 20_000
"""A state of more characters is not shown."""
MAX_MESSAGE: Final = 2_000
QUESTIONS: Final = (
    "current_player",
    "legal_actions",
    "chance_outcomes",
    "rewards",
    "observations",
)


class AnswerError(Exception):
    """A program answered with something that no game may answer with, or left instead of answering."""


class PlainGame:
    """A program's game with the liberties taken out that a program has and a game has not.

    Tuples count as lists, whole numbers as rewards, chance's outcomes come in the order of the legal actions, and an
    exception that would end the process is one like any other.
    """

    def __init__(self, game: Any) -> None:
        """Args:
        game: the program.
        """
        # A program serves one view.
        self.info: GameInfo = replace(game.info, views=game.info.views[:1])
        self._game = game
        if hasattr(game, "resample_history"):
            self.resample_history = self._resample_history
        if hasattr(game, "value"):
            self.value = self._value

    def initial_state(self) -> State:
        return self._game.initial_state()

    def current_player(self, state: State) -> int:
        player: int = _asked(self._game.current_player, state)
        return player

    def legal_actions(self, state: State) -> list[Action]:
        actions: list[Action] = _asked(self._game.legal_actions, state)
        return actions

    def chance_outcomes(self, state: State) -> list[tuple[Action, float]]:
        outcomes = _asked(self._game.chance_outcomes, state)
        if type(outcomes) is not list or not all(type(item) is list and len(item) == 2 for item in outcomes):
            return outcomes  # type: ignore[no-any-return]  # the contract says what is wrong
        legal = self.legal_actions(state) if outcomes else []
        place = {repr(action): number for number, action in enumerate(legal if type(legal) is list else [])}
        return sorted(map(tuple, outcomes), key=lambda item: place.get(repr(item[0]), len(place)))

    def apply_action(self, state: State, action: Action) -> State:
        return _asked(self._game.apply_action, state, action)

    def rewards(self, state: State) -> list[float]:
        rewards = _asked(self._game.rewards, state)
        return [float(one) if type(one) is int else one for one in rewards] if type(rewards) is list else rewards

    def observations(self, state: State) -> list[Observation]:
        shown: list[Observation] = _asked(self._game.observations, state)
        return shown

    def _resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        actions: list[Action] = _asked(self._game.resample_history, history, player, rng)
        return actions

    def _value(self, state: State, player: int) -> float:
        value = _asked(self._game.value, state, player)
        return float(value) if type(value) is int else value


def _asked(question: Callable[..., Any], *arguments: Any) -> Any:
    try:
        answer = question(*arguments)
        listed = _listed(answer, 0)
    except Exception:
        raise
    except BaseException as error:
        raise AnswerError(f"it raised {type(error).__name__}") from error
    # The program's own object where possible: what it shares with others and changes later is to be seen.
    return answer if type(answer) is type(listed) and _identical(answer, listed) else listed


def _listed(value: Any, depth: int) -> Any:
    """Returns `value` of plain types with lists for tuples; what is no JSON stays, for the contract to name."""
    if depth > MAX_DEPTH:
        raise AnswerError(f"the answer is nested more than {MAX_DEPTH} deep")
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        if not -LARGEST < value < LARGEST:
            raise AnswerError("the answer holds a whole number of more than 4000 digits")
        return int.__int__(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, list | tuple):
        return [_listed(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {key: _listed(item, depth + 1) for key, item in value.items()}
    return value


def _identical(value: Any, listed: Any) -> bool:
    """Returns True if `_listed` changed nothing, types of the parts included."""
    if type(value) is not type(listed):
        return False
    if type(value) is dict:
        return all(_identical(item, listed[key]) for key, item in value.items())
    if type(value) is list:
        return all(_identical(item, other) for item, other in zip(value, listed, strict=True))
    return True


def check(game: Game, argument: dict[str, Any], rng: random.Random) -> list[Json]:
    """Returns the rules of the contract that a program breaks.

    Args:
        game: the program.
        argument: `games` (so many random games) and `seed`.
        rng: unused: the contract has its own.
    """
    plain, games, seed = PlainGame(game), argument["games"], argument["seed"]
    found = contract.check(plain, games=games, seed=seed, refuses_illegal=False)
    if hasattr(plain, "resample_history"):
        named = {violation.rule for violation in found}
        leaks = contract.check_leaks(plain, games=max(1, games // 2), seed=seed)
        found += [violation for violation in leaks if violation.rule not in named]
    return [_to_json(violation) for violation in found]


def trace(game: Game, argument: dict[str, Any], rng: random.Random) -> list[Json]:
    """Plays random games and returns of each what was done and a checksum of every answer, to compare with another run.

    Args:
        game: the program.
        argument: `games`; `max_actions`; `disturb`: whether the program is asked about another state before every
            question, which must change no answer.
        rng: chooses the actions.

    Returns:
        For each game `actions`, and `answers`: [states][the state and each of `QUESTIONS`], 0 where it raised.
    """
    plain, disturb = PlainGame(game), argument["disturb"]
    return [_traced(plain, argument["max_actions"], disturb, rng) for _ in range(argument["games"])]


def look(game: Game, argument: dict[str, Any], rng: random.Random) -> Json:
    """Returns `state` and `answers` (a text for each of `QUESTIONS`) after some actions.

    Args:
        game: the program.
        argument: `actions`; `disturb`, see `trace`.
        rng: unused: nothing is random.
    """
    plain, disturb = PlainGame(game), argument["disturb"]
    state = plain.initial_state()
    for action in argument["actions"]:
        state = _next(plain, state, action, disturb)
    answers = {question: _cut(repr(_answer(plain, question, state, disturb))) for question in QUESTIONS}
    return {"state": _shown_state(state), "answers": answers}


def swap(game: Game, argument: dict[str, Any], rng: random.Random) -> list[Json]:
    """Replays pairs of histories that one player cannot tell apart; it must be shown the same in both.

    Args:
        game: the program.
        argument: `pairs`: objects with `player`, `real` and `other`, two lists of actions.
        rng: unused: nothing is random.

    Returns:
        One violation for each pair that differs, at the first decision where it does, or on which the program fails.
    """
    plain = PlainGame(game)
    found = (_swapped(plain, **pair) for pair in argument["pairs"])
    return [_to_json(violation) for violation in found if violation is not None]


def _swapped(game: PlainGame, player: int, real: list[Action], other: list[Action]) -> Violation | None:
    seen = []
    for actions in (real, other):
        try:
            seen.append(_shown(game, player, actions))
        except Exception as error:
            message = f"after actions that the game allows, it raised {type(error).__name__}: {error}"
            return Violation(FAILS, message, None, tuple(actions))
    first, second = seen
    for (was, place, state), (now, length, _) in zip(first, second, strict=False):
        if was != now:
            message = (
                f"player {player} sees {was!r}, but {now!r} after {other[:length]}, which it cannot tell from this"
            )
            return Violation(HIDDEN, message, state, tuple(real[:place]))
    if len(first) == len(second):
        return None
    message = (
        f"player {player} decides {len(first)} times, but {len(second)} times after {other}, which it cannot tell "
        "from this"
    )
    return Violation(HIDDEN, message, first[-1][2] if first else None, tuple(real))


def _shown(game: PlainGame, player: int, actions: Sequence[Action]) -> list[tuple[Observation, int, State]]:
    """Returns what a player sees at its decisions along some actions, after how many of them, and in which state."""
    state = game.initial_state()
    seen = []
    for number, action in enumerate([*actions, None]):
        if game.current_player(state) == player:
            seen.append((game.observations(state)[player], number, state))
        if action is not None:
            state = game.apply_action(state, action)
    return seen


def _traced(game: PlainGame, max_actions: int, disturb: bool, rng: random.Random) -> Json:
    state: State = game.initial_state()
    actions: list[Action] = []
    answers: list[list[int]] = []
    while len(actions) < max_actions:
        given = [state, *(_answer(game, question, state, disturb) for question in QUESTIONS)]
        answers.append(list(map(_checksum, given)))
        _, player, legal, *_ = given
        if player == TERMINAL or type(legal) is not list or not legal:
            break
        actions.append(rng.choice(sorted(legal, key=repr)))
        state = _next(game, state, actions[-1], disturb)
    return {"actions": list(map(str, actions)), "answers": answers}


def _checksum(answer: Any) -> int:
    """Returns a number that is the same for equal answers, in whatever order a dictionary was filled; 0 for None."""
    try:
        text = json.dumps(answer, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        text = repr(answer)
    return 0 if answer is None else zlib.crc32(text.encode("utf-8", "replace"))


def _answer(game: PlainGame, question: str, state: State, disturb: bool) -> Any:
    if disturb:
        _disturb(game)
    return _quiet(getattr(game, question), state)


def _next(game: PlainGame, state: State, action: Action, disturb: bool) -> State:
    if disturb:
        _disturb(game)
    return _quiet(game.apply_action, state, action)


def _disturb(game: PlainGame) -> None:
    state = game.initial_state()
    legal = _quiet(game.legal_actions, state)
    _quiet(game.apply_action, state, legal[-1] if type(legal) is list and legal else "")
    for question in QUESTIONS:
        _quiet(getattr(game, question), game.initial_state())


def _quiet(question: Callable[..., Any], *arguments: Any) -> Any:
    """Returns the answer, None if it raised: `check` reports that."""
    try:
        return question(*arguments)
    except Exception:
        return None


def _to_json(violation: Violation) -> Json:
    return {
        "rule": violation.rule,
        "message": _cut(violation.message),
        "state": _shown_state(violation.state),
        "actions": [action if type(action) is str else repr(action) for action in violation.actions],
        "count": violation.count,
    }


def _cut(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]} … ({len(text)} characters)"


def _shown_state(state: State) -> Json:
    """Returns a state as JSON if it is some and not large, else a text about it."""
    try:
        text = json.dumps(state, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return _cut(repr(state))
    return json.loads(text) if len(text) <= MAX_SHOWN else f"{text[:MAX_MESSAGE]} … ({len(text)} characters)"
