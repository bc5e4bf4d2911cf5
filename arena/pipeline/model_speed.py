"""Profiles and times a model's programs under the planner, in workers; compares what stands beside them."""

import math
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cwm.model.bundle import ModelBundle
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Level, Outcome, Reply
from cwm.sandbox.wire.blame import blame
from cwm.sandbox.wire.failures import PRIOR_FILE, PROGRAM_FILE, VALUE_FILE
from cwm.speed.task import Rates, SpeedConfig, SpeedProfile
from cwm.synthesis.candidate import TesterError, problem_of
from cwm.trajectories.recorded import Trajectory
from games.api import Json
from search import profiling, session
from search.api import PlannerConfig

BESIDE = "cwm.speed.beside_answers"
TIMEOUT_S = 600.0
MEASURED_S = 0.5
"""About so long one of the two programs of a pair is timed."""
MOST_SIMULATIONS = 1000
TOLERANCE = 1e-9


@dataclass(frozen=True)
class ModelSpeed:
    """Measures the programs of one model.

    Attributes:
        bundle: the model; each program takes the place of its source.
        config: settings of the speed refinement.
        planner: settings of the planner; its simulations a position are those of a calibration.
        games: random games of the model.
        level: isolation level of the workers.
    """

    bundle: ModelBundle
    config: SpeedConfig
    planner: PlannerConfig
    games: tuple[Trajectory, ...]
    level: Level

    def profile(self, source: str) -> SpeedProfile:
        """Says where the planner's time goes in a program.

        Raises:
            TesterError: the program fails under the planner, which it has done before without a fault.
        """
        asked = replace(self.planner, simulations=self.config.simulations)
        argument = self._argument(asked) | {"files": [PROGRAM_FILE]}
        reply = self._asked(source, profiling.PAYLOAD, "search.profiling", "profile", argument)
        fault = blame(reply)
        if fault is not None or not _is_profile(reply.value):
            why = "its worker's answer is no profile" if fault is None else fault.problem
            raise TesterError(f"the program cannot be profiled: {why}")
        return SpeedProfile.of(source, reply.value)

    def pairs(self, old: str, new: str) -> list[Rates]:
        """Times both programs in turn, each time in a fresh worker, by its CPU time.

        Raises:
            TesterError: the old program fails under the planner.
        """
        rate = self._rate(old, replace(self.planner, simulations=self.config.simulations))
        wanted = rate * MEASURED_S / self.config.positions
        asked = replace(self.planner, simulations=max(self.config.simulations, min(MOST_SIMULATIONS, int(wanted))))
        found: list[Rates] = []
        for number in range(self.config.pairs):
            # Each goes first in every other pair: what a machine does in waves favours neither.
            first, second = (old, new) if number % 2 == 0 else (new, old)
            rates = {first: self._rate(first, asked), second: self._rate(second, asked)}
            found.append((rates[old], rates[new]))
        if not all(before for before, _ in found):
            raise TesterError("the program in place fails under the planner, so that nothing can be compared with it")
        return found

    def differences(self, old: str, new: str) -> list[str]:
        """Returns where the value function or the policy prior answers otherwise beside the new program, one line for
        the first place; [] if nowhere, or if the model has neither."""
        if self.bundle.value_source is None and self.bundle.prior_source is None:
            return []
        argument = {"states": list(_questions(self.games))}
        replies = [self._asked(source, (BESIDE,), BESIDE, "answers", argument) for source in (old, new)]
        if blame(replies[0]) is not None:
            raise TesterError("the functions beside the program in place fail, so that nothing can be compared")
        if fault := blame(replies[1]):
            return [f"{VALUE_FILE} or {PRIOR_FILE}, which stand beside the module, fail with it: {fault.problem}"]
        found, changed = (reply.value for reply in replies)
        if not _answers_all(found, argument):
            raise TesterError("the functions beside the program in place give no answers, so that nothing is compared")
        if not _answers_all(changed, argument):
            return ["the functions beside the module did not answer on every state with it"]
        for before, after in zip(found, changed, strict=True):
            if not _agree(before, after):
                return [f"the functions beside the module answered {before} on a state, and answer {after} with it"]
        return []

    def _rate(self, source: str, asked: PlannerConfig) -> float:
        """Returns simulations a second, 0.0 if the program fails or a search gives up."""
        reply = self._asked(source, session.PAYLOAD, "search.session", "benchmark", self._argument(asked))
        if reply.outcome is not Outcome.OK or not isinstance(reply.value, dict):
            return 0.0
        wanted = asked.simulations * len(self._positions())
        if reply.value.get("fallbacks") != 0 or reply.value.get("simulations") != wanted:
            return 0.0
        seconds = reply.value.get("seconds")
        return wanted / max(seconds, session.TICK_S) if isinstance(seconds, float) else 0.0

    def _asked(self, source: str, payload: Sequence[str], module: str, function: str, argument: Json) -> Reply:
        program = replace(self.bundle, source=source).program()
        with Sandbox(level=self.level, payload=payload).start(program, self.config.seed) as worker:
            reply = worker.loaded
            if reply.outcome is Outcome.OK:
                reply = worker.payload(module, function, argument, seed=self.config.seed, timeout_s=TIMEOUT_S)
        # Raises where ours is to blame; what the program did is for the caller to judge.
        problem_of(reply)
        return reply

    def _argument(self, asked: PlannerConfig) -> dict[str, Any]:
        return {"config": asked.to_json(), "positions": self._positions()}

    def _positions(self) -> list[dict[str, Any]]:
        """Returns decision points with a choice, of as many games as there are.

        Raises:
            TesterError: no game has one.
        """
        perfect = self.bundle.game_info.perfect_information
        rng = random.Random(f"positions/{self.config.seed}")
        choices = [(game, rng.sample(points, len(points))) for game in self.games if (points := _choices(game))]
        if not choices:
            raise TesterError("no random game of the model has a decision with two legal actions: nothing to search")
        found = []
        for number in range(self.config.positions):
            game, points = choices[number % len(choices)]
            point = points[number // len(choices) % len(points)]
            step = game.steps[point]
            found.append(
                {
                    "player": step.player,
                    "history": [list(pair) for pair in game.history(step.player, point)],
                    "state": step.state if perfect else None,
                }
            )
        return found


def _choices(game: Trajectory) -> list[int]:
    """Returns the steps at which a player has at least two legal actions."""
    return [number for number, step in enumerate(game.steps) if step.player >= 0 and len(step.legal_actions) > 1]


def _questions(games: Sequence[Trajectory]) -> Iterator[dict[str, Any]]:
    for game in games:
        for step in game.steps:
            yield {"state": step.state, "player": step.player, "legal": list(step.legal_actions)}


def _answers_all(value: Json, argument: dict[str, Any]) -> bool:
    """Returns whether there is an answer for each state; a program may have written them itself."""
    return isinstance(value, list) and len(value) == len(argument["states"])


def _agree(before: Json, after: Json) -> bool:
    """Tells whether two answers of `cwm.speed.beside_answers` are the same numbers; a program may have written them."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return False
    for name in ("values", "policy"):
        left, right = before.get(name), after.get(name)
        if not isinstance(left, list) or not isinstance(right, list) or len(left) != len(right):
            return False
        for one, other in zip(left, right, strict=True):
            if not _is_number(one) or not _is_number(other):
                return False
            if not math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                return False
    return True


def _is_number(value: Json) -> bool:
    """Returns whether a value is a number that a float can hold."""
    return isinstance(value, int | float) and -sys.float_info.max <= value <= sys.float_info.max


def _is_profile(value: Json) -> bool:
    """Returns whether a worker's answer has the form that is asked for: a program may have written it itself."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("simulations"), int)
        and isinstance(value.get("seconds"), float)
        and 0.0 <= value["seconds"] <= TIMEOUT_S
        and isinstance(value.get("functions"), list)
        and all(
            isinstance(row, list) and list(map(type, row)) == [str, int, int, float] and 0.0 <= row[3] <= TIMEOUT_S
            for row in value["functions"]
        )
    )
