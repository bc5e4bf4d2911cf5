"""What functions beside a program with a joint step are written for: the program, and moments of recorded games."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from cwm.functions.materials import Materials
from cwm.functions.one_shot import FunctionTask
from cwm.trajectories.joint import JointStep, joint_steps
from games.api import Action, Json
from games.posg.api import PosgInfo

SHOWN_PLACES: Final = (0.0, 0.45, 0.9)
"""How far into a game the examples lie, as a share of its moments."""
LONGEST_SHOWN: Final = 12
"""Moments of the longest history that is shown."""
SHOWN_GAMES: Final = 3


@dataclass(frozen=True, kw_only=True)
class JointFunctionTask(FunctionTask):
    """What functions beside a program with a joint step are written for.

    Attributes:
        joint: what is fixed about the game.
    """

    joint: PosgInfo

    def words(self) -> dict[str, Any]:
        info = self.joint
        return {
            "agents": [{"name": name, "actions": info.actions[number]} for number, name in enumerate(info.agent_names)],
            "step_limit": info.step_limit,
            "min_step": info.min_step,
            "max_step": info.max_step,
            "discount": info.discount,
        }


def task_of(given: Materials, examples: str) -> JointFunctionTask:
    """Returns the task, with its examples."""
    return JointFunctionTask(given.rules, given.info, given.source, examples, given.telling, joint=joint_of(given))


def joint_of(given: Materials) -> PosgInfo:
    """Returns what is fixed about the game.

    Raises:
        ValueError: the program's players take turns.
    """
    if given.joint is None:
        raise ValueError(f"{given.info.id} is a game in turns; functions for joint steps need a program that has them")
    return given.joint


def played(given: Materials) -> list[list[JointStep]]:
    """Returns the recorded games as joint steps, the longest first: they show the most phases."""
    return sorted((joint_steps(game) for game in given.recorded), key=lambda steps: -len(steps))


def moments(given: Materials) -> str:
    """Returns moments of recorded games: the arguments of a policy."""
    shown = []
    for number, (steps, last, agent) in enumerate(_moments(given), 1):
        lines = [f"# Example {number}", *_arguments(steps, last, agent), f"legal = {list(steps[last].legal[agent])!r}"]
        shown.append("\n".join(lines))
    return "\n\n".join(shown)


def samples(given: Materials) -> str:
    """Returns moments of recorded games: the arguments of an inference, and what really happened."""
    shown = []
    for number, (steps, last, agent) in enumerate(_moments(given), 1):
        happened = [_entry(step, joint_of(given)) for step in steps[: last + 1]]
        lines = [f"# Example {number}", *_arguments(steps, last, agent), f"# what happened: {happened!r}"]
        shown.append("\n".join(lines))
    return "\n\n".join(shown)


def payments(given: Materials) -> str:
    """Returns what recorded games paid: how many steps they took, and the sums of the rewards."""
    shown = []
    for number, steps in enumerate(played(given)[:SHOWN_GAMES], 1):
        sums = [round(sum(step.rewards[agent] for step in steps), 6) for agent in range(len(steps[0].over))]
        ended = "ended by the rules" if all(steps[-1].over) else "broken off"
        paid = [
            f"step {place}: {list(step.joint or ())!r} paid {list(step.rewards)!r}"
            for place, step in enumerate(steps)
            if any(step.rewards)
        ]
        lines = [f"# Game {number}: {len(steps) - 1} steps, {ended}; paid in all, undiscounted: {sums!r}"]
        lines += [f"#   {line}" for line in paid[:LONGEST_SHOWN]]
        lines += [f"#   ({len(paid) - LONGEST_SHOWN} further steps that paid)"] if len(paid) > LONGEST_SHOWN else []
        shown.append("\n".join(lines))
    return "\n".join(shown)


def _moments(given: Materials) -> list[tuple[list[JointStep], int, int]]:
    """Returns an early, a middle and a late moment, each of another game and agent: steps, number, agent."""
    games = played(given)
    found = []
    for number, place in enumerate(SHOWN_PLACES if games else ()):
        steps = games[number % len(games)]
        agent = number % len(steps[0].over)
        acting = [index for index, step in enumerate(steps[:LONGEST_SHOWN]) if step.legal[agent]]
        if acting:
            found.append((steps, acting[round(place * (len(acting) - 1))], agent))
    return found


def _arguments(steps: Sequence[JointStep], last: int, agent: int) -> list[str]:
    history = history_of(steps[: last + 1], agent)
    return [f"history = {history!r}", f"agent = {agent}"]


def history_of(steps: Sequence[JointStep], agent: int) -> list[tuple[Json, Action | None]]:
    """Returns what an agent was told at the start and in each step, with what it did then; the last action is None."""
    did = [step.joint[agent] if step.joint else None for step in steps[1:]]
    return list(zip((step.observations[agent] for step in steps), [*did, None], strict=True))


def _entry(step: JointStep, info: PosgInfo) -> tuple[list[Action] | None, dict[str, Json]]:
    if step.joint is None:
        return None, dict(step.log)
    return [action or info.actions[agent][0] for agent, action in enumerate(step.joint)], dict(step.log)
