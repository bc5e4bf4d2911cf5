"""Which unit tests go into a prompt."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cwm.suite import failure_groups, long_games, rendering
from cwm.suite.failure_groups import size
from cwm.suite.informative import informative, namer
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.trajectories.vocabulary import NUMBER
from games.api import CHANCE, TERMINAL, Json

Mode: TypeAlias = Literal["per_action", "paper", "telling"]

ON_ERROR = 5
"""So many failed tests are shown if nothing else is asked for."""
MOST_WHOLE_GAMES = 6
"""So many whole games of the closed deck are shown at the start, those with different results first."""


@dataclass(frozen=True)
class PromptOptions:
    """Which tests a prompt shows.

    Attributes:
        mode: `paper`: `on_init` tests of each type at the start and `on_error` failed ones of each type later (C.1.3).
            `per_action`: at the start one transition for each kind of action (chance apart), the first state, each
            kind of end, and two decision points of each player, and in the closed deck whole games; later `on_error`
            failures: the smallest of each group that looks alike, the most frequent group first, then further ones in
            turn (see `cwm.suite.failure_groups`). `telling`: at the start what shows most in as many characters as
            `per_action` would take (see `cwm.suite.informative`); later as `per_action`.
        on_init: see `mode`; None for its default (`paper`: 5; else no limit).
        on_error: see `mode`; None for its default (`paper`: 1; else `ON_ERROR`).
        seed: of the draw of mode `paper`.
        turn: how often failures of the same program were shown before: of each group others come first then.
    """

    mode: Mode = "per_action"
    on_init: int | None = None
    on_error: int | None = None
    seed: int = 0
    turn: int = 0


DEFAULT_OPTIONS = PromptOptions()


def select_for_prompt(
    tests: Sequence[UnitTest],
    results: Sequence[UnitTestResult] | None,
    options: PromptOptions = DEFAULT_OPTIONS,
    initial_state: Json = None,
) -> list[UnitTest]:
    """Returns the tests to show.

    Args:
        tests: the suite.
        results: of the program that is to be repaired; None or empty before there is one.
        options: how to choose.
        initial_state: the prompt shows it; tells how long a test is there.

    Returns:
        Before there is a program, examples; then failed tests only, [] if all passed.
    """
    if not results:
        if options.mode == "telling":
            return _telling_start(tests, options, initial_state)
        return _paper_start(tests, options) if options.mode == "paper" else _kinds_start(tests, options)
    if options.mode == "paper":
        wrong = {result.id for result in results if result.status != "pass"}
        failed = sorted((test for test in tests if test.id in wrong), key=size)
        limit = 1 if options.on_error is None else options.on_error
        by_kind = [[test for test in failed if test.kind == kind] for kind in _kinds(tests)]
        return [test for own in filter(None, by_kind) for test in _from(own, options.turn * limit)[:limit]]
    limit = ON_ERROR if options.on_error is None else options.on_error
    return failure_groups.examples(failure_groups.grouped(tests, results), limit, options.turn)


def _from(tests: Sequence[UnitTest], first: int) -> list[UnitTest]:
    """Returns the tests in their order, begun at another one."""
    start = first % len(tests)
    return [*tests[start:], *tests[:start]]


def _kinds(tests: Sequence[UnitTest]) -> list[str]:
    return list(dict.fromkeys(test.kind for test in tests))


def _paper_start(tests: Sequence[UnitTest], options: PromptOptions) -> list[UnitTest]:
    rng = random.Random(f"prompt/{options.seed}")
    limit = 5 if options.on_init is None else options.on_init
    chosen: set[str] = set()
    for kind in _kinds(tests):
        ids = [test.id for test in tests if test.kind == kind]
        chosen |= set(rng.sample(ids, min(limit, len(ids))))
    return [test for test in tests if test.id in chosen]


def _telling_start(tests: Sequence[UnitTest], options: PromptOptions, initial_state: Json) -> list[UnitTest]:
    def length(test: UnitTest) -> int:
        return rendering.length(test, initial_state)

    usual = rendering.fitting(_kinds_start(tests, PromptOptions()), initial_state)
    chosen = {test.id for test in usual if test.kind not in ("transition", "inference")}
    # One test of inference is as long as many moves and shows what no move does, so that each has room of its own;
    # moves come last, of which some fill what is left.
    left = 0
    for kind in ("inference", "transition"):
        left += sum(length(test) for test in usual if test.kind == kind)
        found = informative([test for test in tests if test.kind == kind], left, length)
        chosen |= {test.id for test in found}
        left -= sum(map(length, found))
    return [test for test in tests if test.id in chosen][: options.on_init]


def _kinds_start(tests: Sequence[UnitTest], options: PromptOptions) -> list[UnitTest]:
    transitions = [test for test in tests if test.kind == "transition"]
    chosen = [*transitions[:1], *_by_action(transitions), *_ends(transitions)]
    inferences = [test for test in tests if test.kind == "inference"]
    chosen += _decisions([test for test in inferences if not test.data.get("last_is_terminal")])
    chosen += _whole_games([test for test in inferences if test.data.get("last_is_terminal")])
    chosen += _values([test for test in tests if test.kind == "value"])
    chosen += [test for test in tests if test.kind == "random_play"][:1]
    chosen += _joint_start(tests)
    wanted = dict.fromkeys(test.id for test in chosen)
    kept = set(list(wanted)[: options.on_init])
    return [test for test in tests if test.id in kept]


def _joint_start(tests: Sequence[UnitTest]) -> list[UnitTest]:
    """Returns of the tests of a program with a joint step the smallest start, step with each action of each agent, with
    each kind of draw, with each pattern of rewards, of who is over and of who acts next; the smallest of a start's and
    of a step's probability; and one random game. () for other programs."""
    steps: dict[Any, UnitTest] = {}
    for test in sorted((test for test in tests if test.kind == "step"), key=size):
        data = test.data
        if data["actions"] is None:
            steps.setdefault("start", test)
            continue
        for agent, action in enumerate(data["actions"]):
            steps.setdefault((agent, action), test)
        for label in data["draws"]:
            steps.setdefault(("draw", NUMBER.sub("#", label)), test)
        steps.setdefault(("rewards", *((reward > 0) - (reward < 0) for reward in data["rewards"])), test)
        steps.setdefault(("over", *data["over"]), test)
        if data["active"] is not None:
            steps.setdefault(("active", *data["active"]), test)
    likely: dict[bool, UnitTest] = {}
    for test in sorted((test for test in tests if test.kind == "distribution"), key=size):
        likely.setdefault(test.data["actions"] is None, test)
    by_step = [test for test in tests if test.kind == "step"]
    further = long_games.telling(by_step, list(steps.values()), rendering.length)
    return [*steps.values(), *further, *likely.values(), *[test for test in tests if test.kind == "joint_play"][:1]]


def _by_action(transitions: Sequence[UnitTest]) -> list[UnitTest]:
    """Returns the smallest transition of each kind of action."""
    moves = [test for test in transitions if test.data["action"] is not None]
    kind_of = namer(moves)
    groups: dict[tuple[bool, str], list[UnitTest]] = defaultdict(list)
    for test in moves:
        groups[test.data["player"] == CHANCE, kind_of(test.data["action"])].append(test)
    return [min(group, key=size) for group in groups.values()]


def _ends(transitions: Sequence[UnitTest]) -> list[UnitTest]:
    """Returns the smallest terminal state of each pattern of rewards (who gained, who lost), at most three."""
    groups: dict[tuple[int, ...], list[UnitTest]] = defaultdict(list)
    for test in transitions:
        if test.data["player"] == TERMINAL:
            groups[tuple((reward > 0) - (reward < 0) for reward in test.data["rewards"])].append(test)
    return [min(group, key=size) for group in groups.values()][:3]


def _decisions(inferences: Sequence[UnitTest]) -> list[UnitTest]:
    """Returns each player's first decision point and one in the middle of a game."""
    chosen = []
    for player in sorted({test.data["player"] for test in inferences}):
        own = sorted((test for test in inferences if test.data["player"] == player), key=_decision_number)
        chosen += [own[0], own[len(own) // 2]]
    return chosen


def _whole_games(games: Sequence[UnitTest]) -> list[UnitTest]:
    """Returns the smallest game of each seat and result, then the smallest others, up to `MOST_WHOLE_GAMES`."""
    by_size = sorted(games, key=size)
    first = {(test.data["player"], test.data["return"]): test for test in reversed(by_size)}.values()
    return [*sorted(first, key=size), *by_size][:MOST_WHOLE_GAMES]


def _values(values: Sequence[UnitTest]) -> list[UnitTest]:
    """Returns the first state, one in the middle of a game, and two ends that pay differently."""
    going_on = [test for test in values if test.data["rewards"] is None]
    ends: dict[tuple[float, ...], UnitTest] = {}
    for test in sorted((test for test in values if test.data["rewards"] is not None), key=size):
        ends.setdefault(tuple(test.data["rewards"]), test)
    middle = sorted(going_on, key=lambda test: (test.step, test.game))[len(going_on) // 2 :][:1]
    return [*going_on[:1], *middle, *list(ends.values())[:2]]


def _decision_number(test: UnitTest) -> tuple[int, int, int]:
    return len(test.data["history"]), test.game, test.step
