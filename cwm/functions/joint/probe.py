"""Checks functions beside a program with a joint step on games that are played on it: form, range, repeatability, what
they hang on, samples that fit, speed.

Loaded into workers: standard library alone.
"""

import random
import time
from collections.abc import Callable, Iterator
from json import dumps, loads
from typing import Any, NamedTuple

from cwm.functions.prior_probe import ASKED_AGAIN, Clock, Problems, form, most_different, near
from cwm.sandbox.inside.joint_program import Contradiction, replayed, short
from cwm.sandbox.wire.failures import describe
from cwm.sandbox.wire.plain_json import is_finite
from games.api import Action, State
from games.posg.api import Observation, PosgModel, key_of
from games.posg.chance import drawing

MOST_STEPS = 200
"""Of a game that nobody breaks off earlier."""
MOST_ASKED = 2_000
"""A game that begins after so many questions is not played."""
RANGE_TOLERANCE = 1e-6
SHOWN = 2_000


class Moment(NamedTuple):
    """One agent is to act.

    Attributes:
        state: of the program.
        agent: who.
        history: what it was told and did, the last action None.
        legal: what it may do.
        past: what stands for its history up to its last action: histories of long games, kept whole, fill the memory.
    """

    state: State
    agent: int
    history: list[tuple[Observation, Action | None]]
    legal: list[Action]
    past: int


def policy(program: Any, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Plays games on the program, half at random, half drawn from the policy, and asks it whenever an agent is to act.

    Args:
        program: with a joint step, and a policy beside it.
        argument: `games`.
        rng: chooses everything random.

    Returns:
        `problems`, one line each; `states`, moments asked about; `calls` and `seconds`, of first questions alone;
        `asked`, moments with the answers, for another process to repeat.
    """
    posg, asks = program.posg, _Asks("policy_prior")
    known: dict[Any, tuple[list[float], State]] = {}
    pasts: dict[Any, int] = {}
    moments: list[Moment] = []
    for number in range(argument["games"]):

        def chosen(moment: Moment, drawn: bool = number % 2 == 1) -> Action:
            chances = _probabilities(program, moment, asks)
            if chances is None:
                return rng.choice(moment.legal)
            _compare(known, moment, chances, asks)
            return rng.choices(moment.legal, chances)[0] if drawn else rng.choice(moment.legal)

        moments += _played(posg, rng, chosen, pasts)
        if asks.problems.lines() or len(moments) >= MOST_ASKED:
            break
    asked: list[Any] = []
    if not asks.problems.lines():
        picked = rng.sample(moments, min(len(moments), ASKED_AGAIN))
        asked = [[list(m.history), m.legal, m.agent, _policy(program, m)] for m in picked]
        for moment, (_, _, _, before) in reversed(list(zip(picked, asked, strict=True))):
            again = _policy(program, moment)
            if again != before:
                message = "policy_prior answered differently after other questions in between: it remembers something."
                asks.problems.add("memory", f"{message} {most_different(moment.legal, before, again)}", moment.state)
    return asks.found(len(moments), asked)


def repeat_policy(program: Any, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Asks a policy again what another process was asked: `asked`, as `policy` returned it."""
    problems = Problems()
    for history, legal, agent, before in argument["asked"]:
        again = program.posg.policy([(told, action) for told, action in history], legal, agent)
        if not near(list(again), before):
            message = "policy_prior answers differently in another process: does it follow the order of a set?"
            problems.add("process", f"{message} {most_different(legal, before, list(again))}", history)
    return {"problems": problems.lines()}


def value(program: Any, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Plays random games on the program, and asks what every state is worth to every agent.

    Args:
        program: with a joint step, and a value function beside it.
        argument: `games`; `bounds`, whether values outside what the rewards of a step allow are a fault.
        rng: chooses everything random.

    Returns:
        As `policy`.
    """
    posg, asks = program.posg, _Asks("value_function")
    info = posg.info
    asked: list[Any] = []
    most = info.step_limit or MOST_STEPS
    for _ in range(argument["games"]):
        for state, over, step in _states(posg, rng):
            for agent in range(info.num_agents):
                for steps in {max(1, most - step), rng.randint(1, most), 0}:
                    found = _worth(program, state, agent, steps, asks)
                    if found is None:
                        continue
                    _in_range(info, (state, agent, steps), found, over[agent], argument["bounds"], asks)
                    asked.append([state, agent, steps, found])
        if asks.problems.lines() or len(asked) >= MOST_ASKED:
            break
    count = len(asked)
    asked = [] if asks.problems.lines() else rng.sample(asked, min(count, ASKED_AGAIN))
    for state, agent, steps, before in reversed(asked):
        again = program.posg.state_value(loads(dumps(state)), agent, steps)
        if again != before:
            message = "value_function answered differently after other questions in between: it remembers something"
            asks.problems.add("memory", f"{message}: {before!r} and {again!r}", state)
    return asks.found(count, asked)


def repeat_value(program: Any, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Asks a value function again what another process was asked: `asked`, as `value` returned it."""
    problems = Problems()
    for state, agent, steps, before in argument["asked"]:
        again = program.posg.state_value(state, agent, steps)
        if not near([again], [before]):
            message = "value_function answers differently in another process: does it follow the order of a set?"
            problems.add("process", f"{message} {before!r} and {again!r}", state)
    return {"problems": problems.lines()}


def inference(program: Any, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Plays random games on the program, samples games that an agent cannot tell from them, and plays these again.

    Args:
        program: with a joint step, and an inference beside it.
        argument: `games`; `points`, moments at which samples are drawn; `draws`, how many at each.
        rng: chooses everything random.

    Returns:
        As `policy`; nothing is `asked`, since samples are random.
    """
    asks = _Asks("resample_history")
    moments = [
        moment
        for _ in range(argument["games"])
        for moment in _played(program.posg, rng, lambda one: rng.choice(one.legal), {})
    ]
    picked = rng.sample(moments, min(len(moments), argument["points"]))
    # The shortest first: what is wrong shows there in the fewest words.
    for moment in sorted(picked, key=lambda one: len(one.history)):
        for _ in range(argument["draws"]):
            _sample(program, moment, asks, rng)
        if asks.problems.lines():
            break
    return asks.found(len(picked), [])


class _Asks:
    """What came of asking one function."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems = Problems()
        self.clock = Clock()

    def timed(self, ask: Callable[[], Any], shown: Any) -> tuple[bool, Any]:
        """Returns whether there is an answer, and the answer."""
        try:
            started = time.perf_counter()
            answer = ask()
            self.clock.add(time.perf_counter() - started)
            return True, answer
        except MemoryError:
            raise
        except BaseException as error:
            found = describe(error, {})
            line = f" in line {found['line']}" if found["line"] else ""
            self.problems.add("raised", f"{self.name} raised {found['type']}{line}: {found['message']}", shown)
            return False, None

    def found(self, states: int, asked: list[Any]) -> dict[str, Any]:
        """Returns the result of a check."""
        problems = self.problems.lines()
        figures = {"states": states, "calls": self.clock.calls, "seconds": self.clock.seconds}
        return {"problems": problems, **figures, "asked": [] if problems else asked}


def _policy(program: Any, moment: Moment) -> list[float]:
    return list(program.posg.policy(_copied(moment.history), list(moment.legal), moment.agent))


def _probabilities(program: Any, moment: Moment, asks: _Asks) -> list[float] | None:
    """Returns the policy's answer, None if something is wrong with it."""
    history, legal = _copied(moment.history), list(moment.legal)
    shown = {"history": moment.history, "agent": moment.agent}
    there, answer = asks.timed(lambda: program.posg.beside["policy_prior"](history, legal, moment.agent), shown)
    if not there:
        return None
    try:
        wrong = form(answer, moment.legal)
    except Exception:
        # A whole number may be longer than any float, and a list of the program's own class may be none.
        wrong = "type", f"policy_prior must return a list of floats, got {short(answer)}"
    if wrong is not None:
        asks.problems.add(*wrong, shown)
        return None
    if legal != moment.legal or history != moment.history:
        asks.problems.add("changed", "policy_prior changed an argument that it was given", shown)
    chances = [float(chance) for chance in answer]
    again = _policy(program, moment)
    if again != chances:
        message = "policy_prior answered differently when asked the same again."
        asks.problems.add("repeat", f"{message} {most_different(moment.legal, chances, again)}", shown)
    return chances


def _compare(known: dict[Any, tuple[list[float], State]], moment: Moment, chances: list[float], asks: _Asks) -> None:
    """Compares the answers at two states that the agent cannot tell apart."""
    key = moment.agent, moment.past, key_of(moment.history[-1][0]), tuple(moment.legal)
    before = known.setdefault(key, (chances, moment.state))
    if not near(chances, before[0]):
        message = (
            f"the answer depends on more than what agent {moment.agent} was told and did, which was the same in "
            "another game:"
        )
        shown = {"state": moment.state, "other state": before[1]}
        asks.problems.add("leak", f"{message} {most_different(moment.legal, before[0], chances)}", shown)


def _worth(program: Any, state: State, agent: int, steps: int, asks: _Asks) -> float | None:
    """Returns the value function's answer, None if something is wrong with it."""
    before = dumps(state)
    copy = loads(before)
    shown = {"state": state, "agent": agent, "steps": steps}
    there, answer = asks.timed(lambda: program.posg.beside["value_function"](copy, agent, steps), shown)
    if not there:
        return None
    if isinstance(answer, bool) or not is_finite(answer):
        asks.problems.add("finite", f"value_function must return a finite float, got {short(answer)}", shown)
        return None
    if dumps(copy) != before:
        asks.problems.add("changed", "value_function changed the state that it was given", shown)
    again = program.posg.beside["value_function"](loads(before), agent, steps)
    if again != answer:
        message = f"value_function answered differently when asked the same again: {answer!r} and {short(again)}"
        asks.problems.add("repeat", message, shown)
    return float(answer)


def _in_range(info: Any, asked: tuple[State, int, int], found: float, over: bool, bounds: bool, asks: _Asks) -> None:
    state, agent, steps = asked
    shown = {"state": state, "agent": agent, "steps": steps}
    if steps == 0 or over:
        if found != 0.0:
            why = "the game is over for the agent" if over else "no step is left"
            asks.problems.add("end", f"value_function must return 0.0 where {why}, got {found!r}", shown)
        return
    weight = sum(info.discount**step for step in range(steps))
    low, high = min(0.0, info.min_step) * weight, max(0.0, info.max_step) * weight
    if bounds and not low - RANGE_TOLERANCE <= found <= high + RANGE_TOLERANCE:
        message = f"value_function must stay within what {steps} steps can pay, from {low:.6g} to {high:.6g}"
        asks.problems.add("range", f"{message}, got {found!r}", shown)


def _sample(program: Any, moment: Moment, asks: _Asks, rng: random.Random) -> None:
    history = _copied(moment.history)
    shown = {"history": moment.history, "agent": moment.agent}
    there, sample = asks.timed(lambda: program.posg.beside["resample_history"](history, moment.agent), shown)
    if not there:
        return
    if history != moment.history:
        asks.problems.add("changed", "resample_history changed an argument that it was given", shown)
    try:
        replayed(program.posg, sample, moment.history, moment.agent, rng)
    except Contradiction as why:
        message = f"a sample is not what agent {moment.agent} saw: {why}; sample: {short(sample, SHOWN)}"
        asks.problems.add("sample", message, shown)


def _played(
    posg: PosgModel, rng: random.Random, choose: Callable[[Moment], Action], pasts: dict[Any, int]
) -> Iterator[Moment]:
    """Plays a game, and yields every moment at which an agent is to act; `pasts` numbers what agents saw and did."""
    agents, draw = posg.info.num_agents, drawing(rng)
    state = posg.initial_state(draw)
    told = posg.observe(state, None, draw)
    histories: list[list[tuple[Observation, Action | None]]] = [[] for _ in range(agents)]
    past = [0] * agents
    for _ in range(posg.info.step_limit or MOST_STEPS):
        active = posg.active(state)
        if not active:
            return
        joint = [actions[0] for actions in posg.info.actions]
        moments = []
        for agent in active:
            legal = list(posg.legal_actions(state, agent))
            moment = Moment(state, agent, [*histories[agent], (told[agent], None)], legal, past[agent])
            joint[agent] = choose(moment)
            moments.append(moment)
        yield from moments
        for agent in range(agents):
            if told[agent] is not None:
                histories[agent].append((told[agent], joint[agent]))
                step = past[agent], key_of(told[agent]), joint[agent]
                past[agent] = pasts.setdefault(step, len(pasts) + 1)
        state = posg.move(state, tuple(joint), draw)[0]
        told = posg.observe(state, tuple(joint), draw)


def _states(posg: PosgModel, rng: random.Random) -> Iterator[tuple[State, list[bool], int]]:
    """Plays a random game, and yields every state, for whom the game is over there, and the number of steps played."""
    draw = drawing(rng)
    state, over = posg.initial_state(draw), [False] * posg.info.num_agents
    posg.observe(state, None, draw)
    for step in range(posg.info.step_limit or MOST_STEPS):
        yield state, over, step
        active = posg.active(state)
        if not active:
            return
        legal = [
            posg.legal_actions(state, agent) if agent in active else posg.info.actions[agent][:1]
            for agent in range(posg.info.num_agents)
        ]
        joint = tuple(rng.choice(list(each)) for each in legal)
        moved = posg.move(state, joint, draw)
        state, over = moved[0], list(moved[2])
        posg.observe(state, joint, draw)


def _copied(history: list[tuple[Observation, Action | None]]) -> list[tuple[Observation, Action | None]]:
    return [(loads(dumps(told)), action) for told, action in history]
