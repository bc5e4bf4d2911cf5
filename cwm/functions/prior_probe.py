"""Checks a policy prior next to its model: form, repeatability, independence of what is hidden, speed.

Loaded into workers: standard library alone.
"""

import math
import random
import time
from json import dumps, loads
from typing import Any

from cwm.sandbox.wire.failures import describe
from games.api import CHANCE, TERMINAL, Action, Game, State

TOLERANCE = 1e-9
SUM_TOLERANCE = 1e-6
MAX_ACTIONS = 10_000
MAX_POINTS = 4_000
"""So many decision points are kept at most."""
SHOWN_STATE = 2_000
SHOWN_FIELDS = 6
ASKED_AGAIN = 60

Point = tuple[State, int, list[Any]]
"""A decision point: the state, who is to move, and its own observations and actions, the last action None."""


class Problems:
    """What is wrong, by kind: of each kind the case with the smallest state is kept."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, message: str, state: State) -> None:
        """Notes one case."""
        text = dumps(state, default=str)
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if kind not in self._found or len(text) < self._found[kind][0]:
            shown = text if len(text) <= SHOWN_STATE else f"{text[:SHOWN_STATE]} …"
            self._found[kind] = (len(text), f"{message}; state: {shown}")

    def lines(self) -> list[str]:
        """Returns a line for each kind, in order of appearance."""
        return [
            message if self._counts[kind] == 1 else f"{message} (one of {self._counts[kind]} cases found)"
            for kind, (_, message) in self._found.items()
        ]


class Clock:
    """How long calls took, together."""

    def __init__(self) -> None:
        self.calls = 0
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Notes one call."""
        self.calls += 1
        self.seconds += seconds


def check(game: Game, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Plays games on the model, half at random, half drawn from the prior, and asks the prior at every decision.

    Args:
        game: a model with a policy prior.
        argument: `games`; `points`, decision points at which what is hidden is swapped; `draws`, how often at each.
        rng: chooses everything random.

    Returns:
        `problems`, one line each; `states`, decision points asked about; `compared`, swapped states that were compared;
        `calls` and `seconds` that they took, of first questions alone: an answer that is remembered costs nothing;
        `asked`, states with the prior's answers, for another process to repeat.
    """
    problems = Problems()
    clock = Clock()
    points: list[Point] = []
    for number in range(argument["games"]):
        _play(game, problems, clock, points, rng, by_prior=number % 2 == 1)
    found = problems.lines()
    result = {"problems": found, "states": len(points), "compared": 0, "calls": 0, "seconds": 0.0, "asked": []}
    if found or not points:
        return result
    asked = _asked(game, points, rng)
    _repeat(game, asked, problems)
    result["compared"] = _swap(game, points, problems, argument, rng)
    return result | {"problems": problems.lines(), "calls": clock.calls, "seconds": clock.seconds, "asked": asked}


def repeat(game: Game, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Asks again what another process was asked.

    Args:
        game: a model with a policy prior.
        argument: `asked`, as `check` returned it.
        rng: not used.

    Returns:
        `problems`, one line each.
    """
    problems = Problems()
    for state, actions, player, before in argument["asked"]:
        again = list(game.policy(loads(dumps(state)), list(actions), player))  # type: ignore[attr-defined]
        if not near(again, before):
            message = "policy_prior answers differently in another process: does it follow the order of a set?"
            problems.add("process", f"{message} {most_different(actions, before, again)}", state)
    return {"problems": problems.lines()}


def _play(
    game: Game, problems: Problems, clock: Clock, points: list[Point], rng: random.Random, by_prior: bool
) -> None:
    state = game.initial_state()
    histories: list[list[Any]] = [[] for _ in range(game.info.num_players)]
    for _ in range(MAX_ACTIONS):
        player = game.current_player(state)
        if player == TERMINAL:
            return
        if player == CHANCE:
            outcomes = game.chance_outcomes(state)
            action = rng.choices([name for name, _ in outcomes], [weight for _, weight in outcomes])[0]
        else:
            actions = list(game.legal_actions(state))
            seen = game.observations(state)[player]
            if len(points) < MAX_POINTS:
                points.append((state, player, [*histories[player], (seen, None)]))
            prior = _answer(game, state, actions, player, problems, clock)
            action = rng.choices(actions, prior)[0] if by_prior and prior else rng.choice(actions)
            histories[player].append((seen, action))
        state = game.apply_action(state, action)


def _answer(
    game: Game, state: State, actions: list[Action], player: int, problems: Problems, clock: Clock
) -> list[float] | None:
    """Returns the prior's answer, None if something is wrong with it."""
    before, given = dumps(state), list(actions)
    copy = loads(before)
    try:
        started = time.perf_counter()
        prior = game.policy(copy, given, player)  # type: ignore[attr-defined]
        clock.add(time.perf_counter() - started)
        wrong = form(prior, actions)
    except MemoryError:
        raise
    except BaseException as error:
        found = describe(error, {})
        line = f" in line {found['line']}" if found["line"] else ""
        problems.add("raised", f"policy_prior raised {found['type']}{line}: {found['message']}", state)
        return None
    if wrong is not None:
        problems.add(*wrong, state)
        return None
    if given != actions:
        problems.add("actions", "policy_prior changed the list legal_actions that it was given", state)
    if copy != loads(before):
        fields = ", ".join(path for path, _, _ in _differing(loads(before), copy)) or "a value"
        problems.add("state", f"policy_prior changed the state that it was given: {fields}", state)
    prior = [float(probability) for probability in prior]
    again = game.policy(loads(before), list(actions), player)  # type: ignore[attr-defined]
    if list(again) != prior:
        where = most_different(actions, prior, again) if form(again, actions) is None else ""
        problems.add("repeat", f"policy_prior answered differently when asked the same again. {where}", state)
    return prior


def form(prior: Any, actions: list[Action]) -> tuple[str, str] | None:
    """Returns the kind and the description of what is wrong with the form of an answer, None if nothing is."""
    if not isinstance(prior, list | tuple):
        return "type", f"policy_prior must return a list of floats, got {_short(prior)}"
    if len(prior) != len(actions):
        return "length", f"policy_prior returned {len(prior)} probabilities for {len(actions)} legal actions"
    for action, probability in zip(actions, prior, strict=True):
        if isinstance(probability, bool) or not isinstance(probability, int | float):
            return "type", f"policy_prior must return floats, got {_short(probability)} for {action!r}"
        if not math.isfinite(probability):
            return "finite", f"policy_prior must return finite numbers, got {probability!r} for {action!r}"
        if probability <= 0:
            return "positive", f"every probability must be greater than 0, got {probability!r} for {action!r}"
    total = math.fsum(prior)
    if abs(total - 1.0) > SUM_TOLERANCE:
        return "sum", f"the probabilities must sum to 1, they sum to {total!r}"
    return None


def _asked(game: Game, points: list[Point], rng: random.Random) -> list[Any]:
    """Returns some questions with the answers that they got now."""
    chosen = rng.sample(points, min(len(points), ASKED_AGAIN))
    asked = []
    for state, player, _ in chosen:
        actions = list(game.legal_actions(state))
        asked.append([state, actions, player, list(game.policy(state, list(actions), player))])  # type: ignore[attr-defined]
    return asked


def _repeat(game: Game, asked: list[Any], problems: Problems) -> None:
    """Asks again in another order, after other questions."""
    for state, actions, player, before in reversed(asked):
        again = list(game.policy(loads(dumps(state)), list(actions), player))  # type: ignore[attr-defined]
        if again != before:
            message = "policy_prior answered differently after other questions in between: it remembers something."
            problems.add("memory", f"{message} {most_different(actions, before, again)}", state)


def _swap(game: Game, points: list[Point], problems: Problems, argument: dict[str, Any], rng: random.Random) -> int:
    """Compares the answers at states that the player to move cannot tell apart; returns how many were compared."""
    if game.info.perfect_information or not hasattr(game, "resample_history"):
        return 0
    compared = 0
    for state, player, history in rng.sample(points, min(len(points), argument["points"])):
        actions = list(game.legal_actions(state))
        prior = dict(zip(actions, game.policy(state, list(actions), player), strict=True))  # type: ignore[attr-defined]
        leaks = []
        for _ in range(argument["draws"]):
            other = _redrawn(game, player, history, rng)
            if other is None:
                continue
            # The order of the actions may follow what is hidden: each is compared with itself.
            listed = list(game.legal_actions(other))
            if set(listed) != set(actions):
                continue
            compared += 1
            answer = dict(zip(listed, game.policy(other, list(listed), player), strict=True))  # type: ignore[attr-defined]
            if not all(abs(prior[action] - answer[action]) <= TOLERANCE for action in actions):
                leaks.append((len(_differing(state, other)), other, answer))
        if leaks:
            # The fewest fields: what the answer depends on is then soonest found.
            _, other, answer = min(leaks, key=lambda leak: leak[0])
            _leak(problems, player, state, other, prior, answer)
    return compared


def _leak(
    problems: Problems,
    player: int,
    state: State,
    other: State,
    prior: dict[Action, float],
    answer: dict[Action, float],
) -> None:
    found = _differing(state, other)
    fields = "; ".join(f"state{path}: {one} and {two}" for path, one, two in found[:SHOWN_FIELDS])
    more = f"; and {len(found) - SHOWN_FIELDS} more" if len(found) > SHOWN_FIELDS else ""
    actions = list(prior)
    different = most_different(actions, [prior[name] for name in actions], [answer[name] for name in actions])
    problems.add(
        "leak",
        f"the answer depends on what player {player} cannot know. Two states that this player cannot tell apart, since "
        f"its own observations and actions were the same all game, differ in {fields}{more}. {different}",
        state,
    )


def _redrawn(game: Game, player: int, history: list[Any], rng: random.Random) -> State | None:
    """Returns a state that `player` cannot tell from the real one, None if the model's inference failed to."""
    copy = [(observation, action) for observation, action in loads(dumps(history))]
    state = game.initial_state()
    decision = 0
    for action in game.resample_history(copy, player, rng):  # type: ignore[attr-defined]
        if game.current_player(state) == player:
            if decision >= len(history) - 1 or action != history[decision][1]:
                return None
            if game.observations(state)[player] != history[decision][0]:
                return None
            decision += 1
        if action not in game.legal_actions(state):
            return None
        state = game.apply_action(state, action)
    if decision != len(history) - 1 or game.current_player(state) != player:
        return None
    return state if game.observations(state)[player] == history[-1][0] else None


def near(one: list[float], two: list[float]) -> bool:
    """Tells whether two answers are the same but for rounding."""
    return len(one) == len(two) and all(abs(a - b) <= TOLERANCE for a, b in zip(one, two, strict=True))


def most_different(actions: list[Action], one: Any, two: Any) -> str:
    """Returns the action whose probabilities differ most, in words; "" where there is nothing to compare."""
    if len(one) != len(two) or not actions:
        return ""
    place = max(range(len(actions)), key=lambda index: abs(one[index] - two[index]))
    return f"The probability of {actions[place]!r} is {one[place]!r} in one case and {two[place]!r} in the other"


def _differing(one: Any, two: Any, path: str = "") -> list[tuple[str, str, str]]:
    """Returns the places in which two JSON values differ, with what stands there."""
    if isinstance(one, dict) and isinstance(two, dict):
        keys = [*one, *(key for key in two if key not in one)]
        return [found for key in keys for found in _differing(one.get(key), two.get(key), f"{path}[{key!r}]")]
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        pairs = enumerate(zip(one, two, strict=True))
        return [found for index, (a, b) in pairs for found in _differing(a, b, f"{path}[{index}]")]
    return [] if one == two else [(path, _short(one), _short(two))]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:120]} …"
