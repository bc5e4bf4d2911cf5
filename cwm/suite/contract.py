"""What a program does that no game may do: each broken rule by name, with the smallest state that shows it.

The unit tests compare a program with recorded games; this needs none. The contract of `games.api.Game` is checked in
the worker, beside the program; then the same games are played again in a process with another hash seed, and again
with other questions in between, and nothing may change.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Outcome, ProgramSource
from cwm.sandbox.wire.blame import Ours, blame
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.trajectories.recorded import Trajectory
from games.api import Action, Json, ResamplesHistory

SESSION = "games.contract.session"
PAYLOAD: tuple[str, ...] = ("games.contract.report", "games.contract.rules", "games.contract.game", SESSION)
"""The modules that a worker must load, each after those it imports."""
JOINT_SESSION = "games.posg.session"
JOINT_PAYLOAD: tuple[str, ...] = (
    "games.contract.report",
    "games.posg.distributions",
    "games.posg.offers",
    "games.posg.contract",
    JOINT_SESSION,
)
"""The same for programs with a joint step."""
OTHER_HASH_SEED = 1
OTHER_PROCESS = "answers differ in another process"
EARLIER_CALLS = "answers depend on earlier calls"
FORGED = "the answer is not of the form that the check has: did the program write it?"
QUESTIONS = {
    "current_player": "get_current_player",
    "legal_actions": "get_legal_actions",
    "chance_outcomes": "get_chance_outcomes",
    "rewards": "get_rewards",
    "observations": "get_observations",
}


@dataclass(frozen=True)
class ContractOptions:
    """How much is checked.

    Attributes:
        games: random games under the contract, and half as many played again.
        seed: of all random choices.
        wall_s: wall-clock seconds for each request.
        max_actions: so many actions of a game are compared over processes.
        swaps: pairs of histories that are compared, where there is a reference.
        payoffs: whether what `GameInfo` says of payoffs is known. Read off a few recorded games it is a guess: the next
            game may pay more, or divide it otherwise, and a program is not blamed for it.
    """

    games: int = 8
    seed: int = 0
    wall_s: float = 30.0
    max_actions: int = 500
    swaps: int = 60
    payoffs: bool = True
    joint: bool = False


DEFAULT_OPTIONS = ContractOptions()
OF_PAYOFFS = ("are not zero-sum", "are not identical", "are not win, loss or draw", "out of bounds")
"""Ends of the names of rules that say what `GameInfo` says of payoffs."""


@dataclass(frozen=True)
class ContractViolation:
    """One broken rule.

    Attributes:
        rule: its short name, e.g. `apply_action changes its input`; for a death the outcome.
        message: what was given and what was expected.
        state: the smallest state seen that shows it, as JSON; None where there is none.
        actions: from the initial state to it.
        count: how often it was seen broken.
    """

    rule: str
    message: str
    state: Json = None
    actions: tuple[Action, ...] = ()
    count: int = 1

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "ContractViolation":
        """Returns the violation that a worker reported."""
        return cls(
            str(data["rule"]), str(data["message"]), data["state"], tuple(map(str, data["actions"])), int(data["count"])
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the violation as JSON."""
        return asdict(self) | {"actions": list(self.actions)}


class ContractCheckError(RuntimeError):
    """The check itself failed, through no fault of the program.

    Args:
        fault: what the worker said.
    """

    def __init__(self, fault: Ours) -> None:
        super().__init__(f"The contract of a program could not be checked ({fault.outcome.value}): {fault.sentence}.")


@dataclass(frozen=True)
class Pair:
    """Two histories that one player cannot tell apart, by the true rules.

    Attributes:
        player: who cannot.
        real: actions of a recorded game.
        other: actions that the true game's sampler gives for what the player saw.
    """

    player: int
    real: tuple[Action, ...]
    other: tuple[Action, ...]


def hidden_pairs(
    trajectories: Sequence[Trajectory], reference: ResamplesHistory, options: ContractOptions = DEFAULT_OPTIONS
) -> list[Pair]:
    """Returns pairs of histories that differ only in what one player cannot know.

    Args:
        trajectories: recorded games.
        reference: the true game.
        options: how many pairs, and the seed.
    """
    # By number alone: the games may be many, and held in little memory (`cwm.trajectories.packed`).
    points = [
        (index, number)
        for index, trajectory in enumerate(trajectories)
        for number, step in enumerate(trajectory.steps)
        if step.player >= 0
    ]
    rng = random.Random(f"hidden/{options.seed}")
    pairs = []
    for index, number in rng.sample(points, min(options.swaps, len(points))):
        trajectory = trajectories[index]
        player = trajectory.steps[number].player
        real = tuple(str(step.action) for step in trajectory.steps[:number])
        other = tuple(reference.resample_history(trajectory.history(player, number), player, rng))
        if real != other:
            pairs.append(Pair(player, real, other))
    return pairs


def verify(
    program: ProgramSource,
    sandbox: Sandbox,
    options: ContractOptions = DEFAULT_OPTIONS,
    pairs: Sequence[Pair] = (),
) -> list[ContractViolation]:
    """Returns the rules that a program breaks, one entry a rule, [] if none.

    Args:
        program: what is checked.
        sandbox: its limits and level are used, with the modules of the contract beside the program.
        options: how much is checked.
        pairs: see `hidden_pairs`; () where there is no true game.

    Raises:
        ContractCheckError: the check itself failed.
        SandboxUnavailableError: no worker can be started.
    """
    payload = JOINT_PAYLOAD if program.joint else PAYLOAD
    here = Sandbox(sandbox.limits, sandbox.level, payload)
    there = Sandbox(sandbox.limits, sandbox.level, payload, hash_seed=OTHER_HASH_SEED)
    options = replace(options, joint=program.joint)
    with here.start(program) as worker:
        found = _asked(worker, "check", {"games": options.games, "seed": options.seed}, options, _lists_violations)
        if isinstance(found, ContractViolation):
            return [found]
        violations = [ContractViolation.of(data) for data in found]
        if not options.payoffs:
            violations = [violation for violation in violations if not violation.rule.endswith(OF_PAYOFFS)]
        if pairs:
            violations += _swaps(worker, pairs, options)
        if worker.alive:
            with there.start(program) as other:
                violations += _differences(worker, other, options)
    return violations


def as_results(violations: Sequence[ContractViolation], joint: bool = False) -> list[UnitTestResult]:
    """Returns broken rules as failed tests of a kind of their own, for a program that passes all others.

    Args:
        violations: of the program.
        joint: whether it has a joint step.
    """
    return [
        UnitTestResult(
            id=f"contract-{number}",
            kind="joint_contract" if joint else "contract",
            status="fail",
            field=violation.rule,
            expected="what holds for every game",
            got={"actions": list(violation.actions), "state": violation.state},
            message=f"{violation.rule}: {violation.message}",
            output_tail="",
        )
        for number, violation in enumerate(violations)
    ]


def as_tests(results: Sequence[UnitTestResult]) -> list[UnitTest]:
    """Returns the tests that the results of a broken contract are of, [] if there are none."""
    return [
        UnitTest(result.id, result.kind, {"rule": result.field, "actions": result.got["actions"]}, -1, number)
        for number, result in enumerate(results)
        if result.kind in ("contract", "joint_contract")
    ]


def _swaps(worker: Worker, pairs: Sequence[Pair], options: ContractOptions) -> list[ContractViolation]:
    found = _asked(worker, "swap", {"pairs": [asdict(pair) for pair in pairs]}, options, _lists_violations)
    if isinstance(found, ContractViolation):
        return [found]
    shown: dict[str, list[ContractViolation]] = {}
    for violation in map(ContractViolation.of, found):
        shown.setdefault(violation.rule, []).append(violation)
    return [replace(min(each, key=_size), count=len(each)) for each in shown.values()]


def _size(violation: ContractViolation) -> tuple[int, int]:
    return len(repr(violation.state)), len(violation.actions)


def _differences(worker: Worker, other: Worker, options: ContractOptions) -> list[ContractViolation]:
    """Plays the same games twice more: in a process with another hash seed, and with questions in between."""
    found: list[ContractViolation] = []
    plain = {"games": max(1, options.games // 2), "max_actions": options.max_actions, "disturb": False}
    runs = [_asked(one, "trace", plain, options, _is_trace) for one in (worker, other)]
    runs.append(_asked(other, "trace", plain | {"disturb": True}, options, _is_trace) if other.alive else runs[1])
    for rule, first, second, asked in (
        (OTHER_PROCESS, runs[0], runs[1], (worker, False)),
        (EARLIER_CALLS, runs[1], runs[2], (other, True)),
    ):
        died = next((run for run in (first, second) if isinstance(run, ContractViolation)), None)
        if died is not None:
            return [*found, died]
        places = [_first_difference(*games) for games in zip(first, second, strict=False)]
        differing = [place for place in places if place is not None]
        if differing:
            actions = min(differing, key=len)
            shown = _shown_joint if options.joint else _shown
            message, state = shown(asked[0], other, actions, asked[1], options)
            found.append(ContractViolation(rule, message, state, actions, len(differing)))
    return found


def _first_difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[Action, ...] | None:
    """Returns the actions to the first state at which two runs of one game differ, None if they do not."""
    rows = zip(first["answers"], second["answers"], strict=False)
    number = next((number for number, (was, now) in enumerate(rows) if was != now), None)
    return None if number is None else tuple(first["actions"][:number])


def _shown(
    worker: Worker, other: Worker, actions: Sequence[Action], disturb: bool, options: ContractOptions
) -> tuple[str, Json]:
    """Returns what the two runs answer at the state where they differ, and the state."""
    first = _asked(worker, "look", {"actions": list(actions), "disturb": False}, options, _is_look)
    second = _asked(other, "look", {"actions": list(actions), "disturb": disturb}, options, _is_look)
    how = "after other questions" if disturb else "in a process with another hash seed"
    if isinstance(first, ContractViolation) or isinstance(second, ContractViolation):
        return f"the answers here differ {how}", None
    for question, name in QUESTIONS.items():
        was, now = first["answers"][question], second["answers"][question]
        if was != now:
            return f"{name} answers {was}, but {now} {how}", first["state"]
    if first["state"] != second["state"]:
        return f"apply_action led to this state, but to {second['state']!r} {how}", first["state"]
    return f"the answers here differ {how}, and from one time to the next", first["state"]


def _shown_joint(
    worker: Worker, other: Worker, actions: Sequence[Action], disturb: bool, options: ContractOptions
) -> tuple[str, Json]:
    """Returns what is said of two runs of a program with a joint step that differ: what chance did is not looked up."""
    how = "after other questions" if disturb else "in a process with another hash seed"
    return f"after these joint actions, and the same draws, the answers differ {how}", None


def _lists_violations(value: Json) -> bool:
    """What comes from a worker may be written by the program: it is believed to be what its form says, no more."""
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and isinstance(one.get("rule"), str)
        and isinstance(one.get("message"), str)
        and isinstance(one.get("actions"), list)
        and isinstance(one.get("count"), int)
        and "state" in one
        for one in value
    )


def _is_trace(value: Json) -> bool:
    return isinstance(value, list) and all(
        isinstance(game, dict) and isinstance(game.get("actions"), list) and isinstance(game.get("answers"), list)
        for game in value
    )


def _is_look(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and "state" in value
        and isinstance(value.get("answers"), dict)
        and set(value["answers"]) == set(QUESTIONS)
    )


def _asked(
    worker: Worker, function: str, argument: Json, options: ContractOptions, has_form: Callable[[Json], bool]
) -> Any:
    """Returns a worker's answer, or a violation if the program broke off the check.

    Raises:
        ContractCheckError: we did.
    """
    reply = worker.loaded
    if reply.outcome is Outcome.OK:
        session = JOINT_SESSION if options.joint else SESSION
        reply = worker.payload(session, function, argument, seed=options.seed, timeout_s=options.wall_s)
    fault = blame(reply)
    if fault is None:
        return reply.value if has_form(reply.value) else ContractViolation(Outcome.PROTOCOL_ERROR.value, FORGED)
    if isinstance(fault, Ours):
        raise ContractCheckError(fault)
    return ContractViolation(fault.outcome.value, f"random games could not be played to their end: {fault.sentence}")
