"""Checks programs with a joint step: under the chance that was recorded, in probability, and in random play.

Loaded into workers: standard library alone. Nothing here knows a state of the recorded game: the program comes to a
state of its own by the recorded draws, and is asked what can be seen from outside.
"""

from json import dumps
from math import fsum
from random import Random
from typing import Any, Final

from cwm.sandbox.inside.calls import MUTATED, ProgramCalls
from cwm.sandbox.inside.comparisons import (
    TOLERANCE,
    Mismatch,
    actions_problem,
    compare_exactly,
    compare_rewards,
)
from cwm.sandbox.inside.draws import CHANCE, CarefulDraws, OpenDraws, RandomDraws, RecordedDraws, WayOfDraws
from cwm.sandbox.inside.joint_program import MissingFunctionError
from cwm.sandbox.inside.output import TailWriter
from cwm.sandbox.inside.program import ProgramGame
from cwm.sandbox.wire.plain_json import first_difference, is_finite

OBSERVATIONS: Final = "observations"
MOVE: Final = "move"
NOT_REPEATABLE: Final = "not_repeatable"
DISTRIBUTION: Final = "distribution"
DISTURBED: Final = 12345
"""Seed of the draws of a question that is asked only to disturb."""
MOST_WAYS: Final = 20_000
"""Ways through one start or step that are gone through at most."""
LIKELIEST: Final = 3
"""So many of the outcomes that the program makes most likely are shown."""


def check_step(
    calls: ProgramCalls, data: dict[str, Any], fields: dict[str, str], output: TailWriter, rng: Random
) -> list[Mismatch]:
    """Plays a recorded game up to a start or step, and compares what it came to.

    Args:
        calls: the program.
        data: `num_agents`; `before`: the start and the steps before, each [actions or null, draws by label]; `actions`,
            null at the start; `draws`; `tables`, what these were drawn from; and what is expected: `observations`,
            `rewards` and `over` (not at the start), `active` and `legal_actions` (where they are known, else null).
        fields: takes the name of every field that was checked, with the status `pass`.
        output: unused.
        rng: unused: nothing is random.

    Returns:
        What failed, in the order in which the fields are checked.
    """
    disturb(calls, data["num_agents"])
    text = state_before(calls, data)
    draws = RecordedDraws(data["draws"], data["tables"])
    came = arrived(calls, text, data["actions"], draws, data["num_agents"])
    fields |= dict.fromkeys((CHANCE, OBSERVATIONS, NOT_REPEATABLE, MUTATED), "pass")
    failed = [_not_made(draws), compare_exactly(OBSERVATIONS, data["observations"], came["observations"])]
    if data["actions"] is not None:
        fields |= dict.fromkeys(("rewards", "over"), "pass")
        failed.append(compare_rewards("rewards", data["rewards"], came["rewards"]))
        failed.append(compare_exactly("over", data["over"], came["over"]))
    if data["active"] is not None:
        fields |= dict.fromkeys(("active", "legal_actions"), "pass")
        failed += _compare_turns(calls, came["text"], data)
    failed.append(_repeated(calls, text, data, came))
    return [mismatch for mismatch in failed if mismatch is not None]


def state_before(calls: ProgramCalls, data: dict[str, Any]) -> str | None:
    """Returns the program's state, as JSON text, before the start or step that is tested; None: there is none.

    Raises:
        Mismatch: the program failed on the way, or draws what was not recorded.
    """
    text: str | None = None
    for number, (actions, log) in enumerate(data["before"]):
        draws = RecordedDraws(log)
        where = f" (on the way to the step that is tested, in {f'step {number}' if number else 'the start'})"
        text = arrived(calls, text, actions, draws, data["num_agents"], where)["text"]
    return text


def arrived(
    calls: ProgramCalls,
    text: str | None,
    actions: list[str] | None,
    draws: CarefulDraws,
    agents: int,
    where: str = "",
) -> dict[str, Any]:
    """Plays a start or a step.

    Args:
        calls: the program.
        text: the state before, as JSON text; None for a start.
        actions: of all agents; None for a start.
        draws: what chance does.
        agents: how many there are.
        where: see `CarefulDraws.check`.

    Returns:
        `text`, the state as JSON text; `observations`; and, after a step, `rewards` and `over`.

    Raises:
        Mismatch: the program failed, broke a rule of `choose`, or answered in another form.
    """
    try:
        if text is None or actions is None:
            came: dict[str, Any] = {"text": dumps(calls.call("initial_state", draws.for_program()))}
        else:
            came = _moved(calls.on_state(MOVE, text, list(actions), draws.for_program()), agents)
        draws.check(where)
        given = None if actions is None else list(actions)
        told = calls.on_state("observe", came["text"], given, draws.for_program())
    except Mismatch:
        # What a program raises when a draw is refused is that draw's fault.
        draws.check(where)
        raise
    draws.check(where)
    if not isinstance(told, list) or len(told) != agents:
        raise Mismatch(OBSERVATIONS, f"observe must return a list of {agents} observations, got {told!r}", got=told)
    return came | {OBSERVATIONS: told}


def disturb(calls: ProgramCalls, agents: int) -> None:
    """Plays another start and step, so that an answer which hangs on the call before comes out wrong."""
    draws = RandomDraws(Random(DISTURBED))
    # What fails here is no concern of the present test: the tests of these states find it.
    try:
        text = arrived(calls, None, None, draws, agents)["text"]
        legal = [calls.on_state("legal_actions", text, agent) for agent in range(agents)]
        arrived(calls, text, [each[-1] if each else "" for each in legal], RandomDraws(Random(DISTURBED)), agents)
    except MemoryError:
        raise
    except Exception:
        return


def _moved(answer: Any, agents: int) -> dict[str, Any]:
    if not isinstance(answer, list) or len(answer) != 3:
        raise Mismatch(MOVE, f"move must return a state, rewards, and for whom the game is over, got {answer!r}")
    state, rewards, over = answer
    if not isinstance(over, list) or len(over) != agents or not all(isinstance(one, bool) for one in over):
        raise Mismatch(MOVE, f"move must say for each of {agents} agents whether the game is over, got {over!r}")
    return {"text": dumps(state), "rewards": rewards, "over": over}


def _not_made(draws: RecordedDraws) -> Mismatch | None:
    try:
        draws.check_all_made()
    except Mismatch as mismatch:
        return mismatch
    return None


def _compare_turns(calls: ProgramCalls, text: str, data: dict[str, Any]) -> list[Mismatch | None]:
    try:
        active = calls.on_state("active", text)
        legal = [calls.on_state("legal_actions", text, agent) for agent in range(data["num_agents"])]
    except Mismatch as raised:
        return [raised]
    return [
        compare_exactly("active", data["active"], active),
        compare_exactly("legal_actions", data["legal_actions"], legal),
    ]


def _repeated(calls: ProgramCalls, text: str | None, data: dict[str, Any], came: dict[str, Any]) -> Mismatch | None:
    """Asks the same once more, after the others have been asked; returns what is different now."""
    try:
        again = arrived(calls, text, data["actions"], RecordedDraws(data["draws"]), data["num_agents"])
    except Mismatch as raised:
        return Mismatch(NOT_REPEATABLE, f"asked twice, {raised.message}", error=raised.error)
    for name in came:
        difference = compare_exactly(name, came[name], again[name])
        if difference is not None:
            message = f"the same draws gave something else the second time: {difference.message}"
            return Mismatch(NOT_REPEATABLE, message, difference.path, came[name], again[name])
    return None


def check_distribution(
    calls: ProgramCalls, data: dict[str, Any], fields: dict[str, str], output: TailWriter, rng: Random
) -> list[Mismatch]:
    """Goes through all that chance can do in a start or step, and compares the probability of what was recorded.

    Args:
        calls: the program.
        data: `num_agents`, `before` and `actions` as for `check_step`; `came`: `observations`, and after a step
            `rewards` and `over`, as recorded; `probability` of that by the rules, None where nobody knows it.
        fields: takes the field `distribution`, with the status `pass`.
        output: unused.
        rng: unused: nothing is random.
    """
    fields[DISTRIBUTION] = "pass"
    probability, others = probability_of(calls, state_before(calls, data), data)
    wanted = data["probability"]
    if probability > 0.0 and (wanted is None or abs(wanted - probability) <= TOLERANCE):
        return []
    message = (
        f"what was recorded here has the probability {wanted!r}, and {probability!r} in the program"
        if probability > 0.0
        else "what was recorded here cannot happen in the program, whatever chance does"
    )
    expected = {"probability": wanted, **data["came"]}
    return [Mismatch(DISTRIBUTION, message, "", expected, {"probability": probability, "likeliest": others})]


def probability_of(
    calls: ProgramCalls, text: str | None, data: dict[str, Any]
) -> tuple[float, list[tuple[float, Any]]]:
    """Returns how likely the program makes what was recorded, and what it makes likeliest, with probabilities.

    Raises:
        Mismatch: the program failed, or chance has more than `MOST_WAYS` ways.
    """
    found: dict[str, list[float]] = {}
    shown: dict[str, Any] = {}
    hits: list[float] = []
    path: list[int] = []
    for _ in range(MOST_WAYS):
        way = WayOfDraws(path)
        came = arrived(calls, text, data["actions"], way, data["num_agents"])
        told: dict[str, Any] = {name: came[name] for name in (OBSERVATIONS, "rewards", "over") if name in came}
        if _is_recorded(data["came"], told):
            hits.append(way.probability)
        key = dumps(told | {"rewards": _rounded(told.get("rewards"))}, sort_keys=True)
        found.setdefault(key, []).append(way.probability)
        shown[key] = told
        path = way.next_path()
        if not path:
            break
    else:
        message = f"chance has more than {MOST_WAYS:,} ways in one start or step, by the rules far fewer"
        raise Mismatch(DISTRIBUTION, message)
    ranked = sorted(
        ((fsum(parts), dumps(shown[key], sort_keys=True), key) for key, parts in found.items()), reverse=True
    )
    return fsum(hits), [(probability, shown[key]) for probability, _, key in ranked[:LIKELIEST]]


def _is_recorded(recorded: dict[str, Any], told: dict[str, Any]) -> bool:
    """Returns True if a start or step came to what was recorded, rewards to `TOLERANCE`: a program may add in another
    order."""
    paid = recorded.get("rewards")
    if paid is not None and compare_rewards("rewards", paid, told["rewards"]) is not None:
        return False
    return first_difference(recorded | {"rewards": paid}, told | {"rewards": paid}) is None


def _rounded(rewards: Any) -> Any:
    """Returns rewards that differ by rounding alone as the same, and what are no rewards as they are."""
    if not isinstance(rewards, list) or not all(map(is_finite, rewards)):
        return rewards
    # `or 0`: there is a -0.0, too.
    return [round(one, 9) or 0 for one in rewards]


def check_joint_play(
    calls: ProgramCalls, data: dict[str, Any], fields: dict[str, str], output: TailWriter, rng: Random
) -> list[Mismatch]:
    """Plays uniformly random legal actions until the game is over or broken off.

    Args:
        calls: the program.
        data: `num_agents`; `actions`, all of each agent, in order; `max_steps`, after which the game is broken off.
        fields: takes the name of every field that was checked, with the status `pass`.
        output: takes a line for every state and joint action.
        rng: chooses the actions, and what chance does.
    """
    names = ("start", MOVE, CHANCE, OBSERVATIONS, "rewards", "over", "active", "legal_actions")
    fields |= dict.fromkeys(names, "pass")
    agents = data["num_agents"]
    over = before = [False] * agents
    came = arrived(calls, None, None, RandomDraws(rng), agents)
    for number in range(data["max_steps"] + 1):
        output.note("In state ", came["text"])
        _check_told(came[OBSERVATIONS], before, agents)
        active = _active(calls.on_state("active", came["text"]), over, agents)
        legal = [calls.on_state("legal_actions", came["text"], agent) for agent in range(agents)]
        _check_legal(legal, active, data["actions"])
        if not active or number == data["max_steps"]:
            return []
        joint = [rng.choice(each) if each else data["actions"][agent][0] for agent, each in enumerate(legal)]
        output.note("Playing ", joint)
        came = arrived(calls, came["text"], joint, RandomDraws(rng), agents)
        before, over = over, _over(came, over, agents)
    return []


def asked(program: ProgramGame, argument: dict[str, Any], rng: Random) -> Any:
    """Asks a function of a program with a joint step, for a caller on the other side of the pipe.

    Args:
        program: the program.
        argument: `function`; `state` and, by function, `agent` or `actions`; `draws`, those that are made, by label.
        rng: unused: nothing is random.

    Returns:
        Who is active, or legal actions; of the other functions `value`, or `draw`: [label, table] of the next draw.
    """
    posg, name, state = program.posg, argument["function"], argument.get("state")
    if posg is None:
        raise MissingFunctionError("the program has no joint step")
    if name == "active":
        return posg.active(state)
    if name == "legal_actions":
        return posg.legal_actions(state, argument["agent"])
    draws = OpenDraws(argument["draws"])
    choose = draws.for_program()
    actions = None if argument.get("actions") is None else tuple(argument["actions"])
    value: Any = None
    try:
        if name == "initial_state":
            value = posg.initial_state(choose)
        elif name == MOVE and actions is not None:
            value = posg.move(state, actions, choose)
        else:
            value = posg.observe(state, actions, choose)
    except MemoryError:
        raise
    except BaseException:
        if draws.open is None:
            raise
    draws.check()
    return {"value": value} if draws.open is None else {"draw": draws.open}


def _check_told(told: list[Any], over: list[bool], agents: int) -> None:
    for agent in range(agents):
        if (told[agent] is None) != over[agent]:
            expected = "None, since the game was over for it before" if over[agent] else "an observation"
            message = f"observe told agent {agent} {told[agent]!r}; expected {expected}"
            raise Mismatch(OBSERVATIONS, message, f"[{agent}]", got=told)


def _over(came: dict[str, Any], over: list[bool], agents: int) -> list[bool]:
    rewards = came["rewards"]
    if not isinstance(rewards, list) or len(rewards) != agents or not all(map(is_finite, rewards)):
        raise Mismatch("rewards", f"move must pay {agents} finite numbers, got {rewards!r}", got=rewards)
    now: list[bool] = came["over"]
    if any(was and not is_now for was, is_now in zip(over, now, strict=True)):
        raise Mismatch("over", f"over was {over} before the step and is {now}; over stays over", "", over, now)
    return now


def _active(active: Any, over: list[bool], agents: int) -> list[int]:
    well_formed = isinstance(active, list) and all(type(one) is int and 0 <= one < agents for one in active)
    if not well_formed or active != sorted(set(active)):
        message = f"active must return agents from 0 to {agents - 1}, ascending, each once, got {active!r}"
        raise Mismatch("active", message, got=active)
    if any(over[agent] for agent in active) or (not active) != all(over):
        raise Mismatch("active", f"active are {active}, and over is {over}: the two disagree", "", over, active)
    agents_who_act: list[int] = active
    return agents_who_act


def _check_legal(legal: list[Any], active: list[int], known: list[list[str]]) -> None:
    for agent, actions in enumerate(legal):
        problem = actions_problem(actions)
        if problem is None and bool(actions) != (agent in active):
            problem = f"it {'is not active' if actions else 'is active'} and may do {actions!r}"
        elif problem is None and actions != [action for action in known[agent] if action in actions]:
            problem = f"expected some of {known[agent]!r}, in this order, got {actions!r}"
        if problem:
            raise Mismatch("legal_actions", f"legal_actions of agent {agent}: {problem}", f"[{agent}]", got=legal)
