"""The contract's checks of games of simultaneous moves as a worker runs them beside a program: each function takes the
program, a JSON argument and a seeded source of randomness, and returns JSON. Standard library alone.
"""

import json
import random
import zlib
from typing import Any, Final, Protocol

from games.api import Json
from games.contract.report import Violation
from games.posg import contract
from games.posg.api import PosgModel
from games.posg.chance import drawing

MAX_MESSAGE: Final = 2_000
SAMPLES: Final = 500
"""Of a start and of steps; a program is drawn from by the very tables that are enumerated, so few show a fault."""


class Program(Protocol):
    """What a worker calls: a loaded program."""

    @property
    def posg(self) -> PosgModel: ...


def check(program: Program, argument: dict[str, Any], rng: random.Random) -> list[Json]:
    """Returns the rules of the contract that a program breaks.

    Args:
        program: a program with a joint step.
        argument: `games` (so many random games) and `seed`.
        rng: unused: the contract has its own.
    """
    found = contract.check(program.posg, games=argument["games"], seed=argument["seed"], samples=SAMPLES)
    return [_to_json(violation) for violation in found]


def trace(program: Program, argument: dict[str, Any], rng: random.Random) -> list[Json]:
    """Plays random games and returns of each what was done and a checksum of every answer, to compare with another run.

    Args:
        program: a program with a joint step.
        argument: `games`; `max_actions`, so many steps at most; `disturb`: whether another game is begun before every
            step, which must change no answer.
        rng: chooses the actions, and what chance does.

    Returns:
        For each game `actions`, joint ones as text, and `answers`: [arrivals][checksums].
    """
    model = program.posg
    return [_traced(model, argument["max_actions"], argument["disturb"], rng) for _ in range(argument["games"])]


def _traced(model: PosgModel, max_steps: int, disturb: bool, rng: random.Random) -> Json:
    actions: list[str] = []
    answers: list[list[int]] = []
    agents = range(model.info.num_agents)
    most = min(max_steps, model.info.step_limit or max_steps)
    try:
        choose = drawing(rng)
        state = model.initial_state(choose)
        came: list[Any] = [state, model.observe(state, None, choose)]
        for _ in range(most):
            if disturb:
                _disturb(model)
            active = model.active(state)
            legal = [list(model.legal_actions(state, agent)) for agent in agents]
            answers.append([_checksum(one) for one in (*came, list(active), legal)])
            if not active:
                break
            joint = tuple(
                rng.choice(legal[agent]) if legal[agent] else model.info.actions[agent][0] for agent in agents
            )
            actions.append(" | ".join(joint))
            moved = model.move(state, joint, choose)
            state = moved[0]
            came = [list(moved), model.observe(state, joint, choose)]
    except MemoryError:
        raise
    except Exception:
        # `check` reports what fails; here it is only to happen in every run alike.
        answers.append([0])
    return {"actions": actions, "answers": answers}


def _disturb(model: PosgModel) -> None:
    choose = drawing(random.Random(0))
    try:
        state = model.initial_state(choose)
        joint = tuple((list(model.legal_actions(state, agent)) or [""])[-1] for agent in range(model.info.num_agents))
        after = model.move(state, joint, choose)[0]
        model.observe(after, joint, choose)
        model.active(after)
    except MemoryError:
        raise
    except Exception:
        return


def _checksum(answer: Any) -> int:
    """Returns a number that is the same for equal answers, in whatever order a dictionary was filled."""
    try:
        text = json.dumps(answer, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        text = repr(answer)
    return zlib.crc32(text.encode("utf-8", "replace"))


def _to_json(violation: Violation) -> Json:
    message = violation.message
    shown = message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]} … ({len(message)} characters)"
    try:
        json.dumps(violation.state, allow_nan=False)
        state = violation.state
    except (TypeError, ValueError, RecursionError):
        state = repr(violation.state)[:MAX_MESSAGE]
    actions = [action if type(action) is str else repr(action) for action in violation.actions]
    return {
        "rule": violation.rule,
        "message": shown,
        "state": state,
        "actions": actions,
        "count": violation.count,
    }
