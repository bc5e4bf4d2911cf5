"""Unit tests of programs with a joint step: made from recorded games, and as text for the prompt.

No test holds a state: a program has states of its own, and comes to them by the draws that were recorded.
"""

from collections.abc import Iterator, Sequence
from math import fsum, prod
from typing import Any, Final

from cwm.suite.types import Kind, UnitTest
from cwm.trajectories.joint import JointStep, joint_steps
from cwm.trajectories.recorded import Trajectory
from games.api import Json, State
from games.posg.api import Choose, Joint, PosgError, PosgInfo, PosgModel, observation_to_json
from games.posg.chance import enumerating, replaying

KINDS: Final[tuple[Kind, ...]] = ("step", "distribution", "joint_play")
MOST_WAYS: Final = 2_000
"""Where chance has more ways by the rules, probabilities are compared draw by draw alone."""
MOST_STEPS: Final = 200
"""Of a random game that nobody breaks off earlier."""
LONG: Final = 100
"""Tests of games of more steps tell in few words how the game came to where it is tested."""


def tests_of(kind: Kind, trajectory: Trajectory, rules: PosgModel | None) -> Iterator[UnitTest]:
    """Yields the tests of one recorded game: for its start and each step, that of kind `step`; or that of kind
    `distribution`, where anything is drawn.

    Args:
        kind: `step` or `distribution`.
        trajectory: of a game of simultaneous moves, recorded in turns.
        rules: the true ones, which say how likely what was recorded is; None where nobody has them.
    """
    steps = joint_steps(trajectory)
    chances = _chances(steps, rules) if kind == "distribution" else [None] * len(steps)
    before: list[Json] = []
    told = {"brief": True} if len(steps) - 1 > LONG else {}
    for number, step in enumerate(steps):
        actions = None if step.joint is None else [action or "" for action in step.joint]
        shared = {"num_agents": len(step.over), "before": list(before), "actions": actions} | told
        if kind == "step":
            yield _test("step", shared | _step_data(step), trajectory, number)
        elif step.log and (chances[number] is not None if rules is not None else _has_few_ways(step)):
            data = shared | {"came": _came(step), "probability": _rounded(chances[number])}
            yield _test("distribution", data, trajectory, number)
        before.append([actions, dict(step.log)])


def random_plays(info: PosgInfo, number: int) -> list[UnitTest]:
    """Returns tests that play at random, each with its own seed."""
    data = {
        "num_agents": info.num_agents,
        "actions": [list(actions) for actions in info.actions],
        "max_steps": info.step_limit or MOST_STEPS,
    }
    return [UnitTest(f"joint_play-{index}", "joint_play", data, -1, index) for index in range(number)]


def count(kind: Kind, trajectory: Trajectory) -> int:
    """Returns how many tests `tests_of` yields at most."""
    return sum(1 for step in joint_steps(trajectory) if kind == "step" or step.log)


def _test(kind: Kind, data: dict[str, Json], trajectory: Trajectory, number: int) -> UnitTest:
    return UnitTest(f"{kind}-{trajectory.index}-{number}", kind, data, trajectory.index, number)


def _step_data(step: JointStep) -> dict[str, Json]:
    return {
        "draws": dict(step.log),
        "tables": {
            label: [[outcome, _rounded(chance)] for outcome, chance in table] for label, table in step.tables.items()
        },
        "observations": list(step.observations),
        "rewards": list(step.rewards),
        "over": list(step.over),
        "active": None if step.active is None else list(step.active),
        "legal_actions": None if step.active is None else [list(actions) for actions in step.legal],
    }


def _rounded(chance: float | None) -> float | None:
    # Far below what is compared, and shorter to read.
    return None if chance is None else round(chance, 12)


def _came(step: JointStep) -> dict[str, Json]:
    told: dict[str, Json] = {"observations": list(step.observations)}
    return told if step.joint is None else told | {"rewards": list(step.rewards), "over": list(step.over)}


def _chances(steps: Sequence[JointStep], rules: PosgModel | None) -> list[float | None]:
    """Returns how likely each start or step was, as it was recorded; None where nobody knows."""
    if rules is None:
        return [None] * len(steps)
    found: list[float | None] = []
    state: State = None
    for step in steps:
        joint = None if step.joint is None else _joint(step, rules)
        found.append(_chance(rules, state, joint, step) if step.log else 1.0)
        log = replaying(step.log)
        state = rules.initial_state(log) if joint is None else rules.move(state, joint, log)[0]
    return found


def _joint(step: JointStep, rules: PosgModel) -> Joint:
    return tuple(action or rules.info.actions[agent][0] for agent, action in enumerate(step.joint or ()))


def _chance(rules: PosgModel, state: State, joint: Joint | None, step: JointStep) -> float | None:
    def run(choose: Choose) -> Json:
        if joint is None:
            after, told = rules.initial_state(choose), {}
        else:
            after, rewards, over = rules.move(state, joint, choose)
            told = {"rewards": [float(one) for one in rewards], "over": [bool(one) for one in over]}
        seen = rules.observe(after, joint, choose)
        shown = [observation_to_json(rules, agent, one) for agent, one in enumerate(seen)]
        return {"observations": shown, **told}

    came = _came(step)
    if not _has_few_ways(step):
        return None
    try:
        return fsum(branch.probability for branch, told in enumerating(run, MOST_WAYS) if told == came)
    except PosgError:
        return None


def _has_few_ways(step: JointStep) -> bool:
    # Ways multiply: where the recorded one alone has very many beside it, none is gone through.
    return prod(map(len, step.tables.values())) <= MOST_WAYS


def lines_of(test: UnitTest) -> list[str]:
    """Returns the body of a test's method as the prompt shows it."""
    return {"step": _step, "distribution": _distribution, "joint_play": _play, "joint_contract": _contract}[test.kind](
        test.data
    )


def _way_there(data: dict[str, Any]) -> list[str]:
    """Returns the lines that lead to the state before what is tested."""
    lines: list[str] = []
    without: list[Json] = []
    for number, (actions, log) in enumerate(data["before"]):
        if number and not log and data.get("brief"):
            without.append(actions)
            continue
        lines += _without_draws(without)
        without = []
        arguments = f"state, {actions!r}, {log!r}" if number else repr(log)
        lines.append(f"state = {'moved' if number else 'started'}({arguments})")
    return lines + _without_draws(without)


def _without_draws(steps: Sequence[Json]) -> list[str]:
    """Returns the line of steps in which nothing is drawn."""
    if len(steps) > 1:
        return [f"state = played(state, {list(steps)!r})"]
    return [f"state = moved(state, {actions!r}, {{}})" for actions in steps]


def _step(data: dict[str, Any]) -> list[str]:
    draws, actions = data["draws"], data["actions"]
    lines = [*_way_there(data), f"draws = Recorded({draws!r})"]
    if actions is None:
        lines.append("state = initial_state(draws)")
    else:
        lines.append(f"state, rewards, over = move(state, {actions!r}, draws)")
    lines.append(f"self.assertEqual({data['observations']!r}, observe(state, {actions!r}, draws))")
    if actions is not None:
        lines += [f"self.assertEqual({data['rewards']!r}, rewards)", f"self.assertEqual({data['over']!r}, over)"]
    if draws:
        tables = {label: [tuple(pair) for pair in table] for label, table in data["tables"].items()}
        lines.append(f"self.assertDrawn({tables!r}, draws)")
    if data["active"] is not None:
        agents = range(data["num_agents"])
        lines.append(f"self.assertEqual({data['active']!r}, active(state))")
        lines += [
            f"self.assertEqual({data['legal_actions'][agent]!r}, legal_actions(state, {agent}))" for agent in agents
        ]
    return lines


def _distribution(data: dict[str, Any]) -> list[str]:
    state = "state" if data["before"] else "None"
    chance = data["probability"]
    lines = [
        *_way_there(data),
        f"came = {data['came']!r}",
        f"chance = probability_of(came, {state}, {data['actions']!r})",
    ]
    if chance is None:
        return [*lines, "self.assertGreater(chance, 0.0)"]
    return [*lines, f"self.assertAlmostEqual({chance!r}, chance, 9)"]


def _play(data: dict[str, Any]) -> list[str]:
    return [
        "draws = Random()",
        "state = initial_state(draws)",
        f"for _ in range({data['max_steps']!r}):",
        "    # Every answer must be of its form: numbers of agents, legal actions in their order, an observation for",
        "    # each agent for which the game was not over before, finite rewards, and `over`, which agrees with",
        "    # `active` and stays.",
        "    if not active(state):",
        "        break",
        f"    legal = [legal_actions(state, agent) for agent in range({data['num_agents']!r})]",
        "    actions = [random.choice(each) if each else '' for each in legal]",
        "    draws = Random()",
        "    state, rewards, over = move(state, actions, draws)",
        "    observations = observe(state, actions, draws)",
    ]


def _contract(data: dict[str, Any]) -> list[str]:
    lines = [f"# after the joint actions {data['actions']!r}"] if data["actions"] else []
    return [*lines, f"# Here the program breaks a rule of every game: {data['rule']}", "..."]
