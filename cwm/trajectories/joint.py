"""Joint steps out of recorded games: games of simultaneous moves are recorded as they are played in turns.

A start is the joint step that nobody has chosen: it has what chance did and what the agents are told, no more.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cwm.trajectories.recorded import Step, Trajectory
from games.api import CHANCE, Action, Json
from games.posg.serialised import outcome_of


@dataclass(frozen=True)
class JointStep:
    """One start or step of a game of simultaneous moves, and where it led.

    Attributes:
        joint: one action an agent, None for one that was not active; None as a whole at the start.
        log: what chance did, by label.
        tables: by label, every (outcome, probability) that it was drawn from.
        observations: what each agent is told on arrival.
        rewards: by agent.
        over: by agent, whether the game is over for it.
        active: the agents that act next; None where the game was broken off, and nobody knows.
        legal: by agent, what it may do next; () for one that is not active.
    """

    joint: tuple[Action | None, ...] | None
    log: Mapping[str, Json]
    tables: Mapping[str, tuple[tuple[Json, float], ...]]
    observations: tuple[Json, ...]
    rewards: tuple[float, ...]
    over: tuple[bool, ...]
    active: tuple[int, ...] | None
    legal: tuple[tuple[Action, ...], ...]


@dataclass
class _Open:
    """What has been recorded of a step so far."""

    joint: dict[int, Action] | None = None
    log: dict[str, Json] = field(default_factory=dict)
    tables: dict[str, tuple[tuple[Json, float], ...]] = field(default_factory=dict)


def joint_steps(trajectory: Trajectory) -> list[JointStep]:
    """Returns the start and the steps of a game of simultaneous moves that was recorded in turns.

    Args:
        trajectory: with its states, to its end.
    """
    return list(_joint_steps(trajectory))


def _joint_steps(trajectory: Trajectory) -> Iterator[JointStep]:
    agents, open_step = len(trajectory.player_names), _Open()
    for number, step in enumerate(trajectory.steps):
        if step.player == CHANCE:
            _draw(step, open_step)
            continue
        if not step.state["chosen"]:
            # Who acts next, and what they may do, is told by the turns that follow.
            turns = _turns(trajectory.steps[number:])
            yield _closed(open_step, step, turns, agents)
            open_step = _Open({})
        if step.action is not None and open_step.joint is not None:
            open_step.joint[step.player] = step.action


def _draw(step: Step, open_step: _Open) -> None:
    label = step.state["draw"]
    open_step.tables[label] = tuple((outcome_of(label, name), probability) for name, probability in step.chance)
    if step.action is not None:
        open_step.log[label] = outcome_of(label, step.action)


def _turns(steps: tuple[Step, ...]) -> dict[int, tuple[Action, ...]]:
    """Returns what each agent that acts may do, by agent: the turns up to the next arrival or draw."""
    found: dict[int, tuple[Action, ...]] = {}
    for step in steps:
        if step.player < 0 or step.player in found or len(step.state["chosen"]) != len(found):
            break
        found[step.player] = step.legal_actions
    return found


def _closed(open_step: _Open, step: Step, turns: Mapping[int, tuple[Action, ...]], agents: int) -> JointStep:
    joint = open_step.joint
    over = tuple(map(bool, step.state["ended"]))
    broken_off = not turns and not all(over)
    return JointStep(
        joint=None if joint is None else tuple(joint.get(agent) for agent in range(agents)),
        log=open_step.log,
        tables=open_step.tables,
        observations=tuple(told["seen"] for told in step.observations),
        rewards=step.rewards,
        over=over,
        active=None if broken_off else tuple(turns),
        legal=tuple(turns.get(agent, ()) for agent in range(agents)),
    )
