"""A synthesised program with a joint step behind `PosgModel`, in the parent: each start and step crosses to a worker.

A reading of `choose` lies on this side of the pipe and the program on the other. So a start or step is asked for with
the draws that have been made so far, and comes back with what is to be drawn next, until nothing is left to draw: for
matches and for looking at a model. A search runs inside the worker instead.
"""

import hashlib
import json
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Self

from cwm.model.bundle import ModelBundle
from cwm.model.program_worker import ProgramWorker
from cwm.model.world_model import WorldModelError, value_of
from cwm.sandbox.inside.draws import LONGEST_LABEL, MOST_DRAWS, MOST_OUTCOMES
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Outcome, Reply
from cwm.sandbox.wire.plain_json import is_finite
from games.api import Action, Json, State
from games.posg.api import Choose, Joint, Moved, Observation, PosgError, PosgInfo
from games.posg.chance import TOLERANCE, check_draw

SESSION: Final = "cwm.sandbox.inside.joint_checks"
"""A module that every worker loads."""


class JointWorldModel:
    """A program with a joint step as a `PosgModel`; states and observations are JSON.

    A context manager. A worker that died is replaced at the next call.

    Attributes:
        info: what is fixed about the game.
    """

    def __init__(self, bundle: ModelBundle, sandbox: Sandbox) -> None:
        """Args:
        bundle: the model.
        sandbox: where it runs.

        Raises:
            SandboxUnavailableError: no worker can be started.
            WorldModelError: the program does not load.
        """
        self.info: PosgInfo = bundle.joint_info
        self._program = ProgramWorker(bundle, sandbox)
        try:
            value_of(self._program.started().loaded, "loading")
        except WorldModelError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the worker."""
        self._program.close()

    def initial_state(self, choose: Choose) -> State:
        return self._drawn("initial_state", {}, choose)

    def active(self, state: State) -> Sequence[int]:
        active: list[int] = self._ask("active", {"state": state})
        return active

    def legal_actions(self, state: State, agent: int) -> Sequence[Action]:
        actions: list[Action] = self._ask("legal_actions", {"state": state, "agent": agent})
        if not actions and agent in self.active(state):
            raise self._malformed("legal_actions", f"gives agent {agent} nothing to do, who is active", actions)
        return actions

    def move(self, state: State, actions: Joint, choose: Choose) -> Moved:
        after, rewards, over = self._drawn("move", {"state": state, "actions": list(actions)}, choose)
        return after, [float(reward) for reward in rewards], over

    def observe(self, state: State, actions: Joint | None, choose: Choose) -> Sequence[Observation | None]:
        joint = None if actions is None else list(actions)
        told: list[Observation | None] = self._drawn("observe", {"state": state, "actions": joint}, choose)
        return told

    def _drawn(self, function: str, argument: dict[str, Json], choose: Choose) -> Any:
        """Returns what a function comes to, with the draws that `choose` makes.

        Raises:
            WorldModelError: the model failed, or a draw breaks the rules of `Choose`. The worker checks them too, but
                the program runs there: a draw that comes again would be asked for without end.
        """
        draws: dict[str, Json] = {}
        key = _key(function, argument)
        while True:
            answer = self._ask(function, argument | {"draws": draws}, key)
            if "draw" not in answer:
                return answer["value"]
            label, table = answer["draw"]
            outcomes = [(outcome, float(chance)) for outcome, chance in table]
            if len(draws) == MOST_DRAWS:
                raise self._malformed(function, f"asks for more than {MOST_DRAWS:,} draws in one start or step", answer)
            try:
                check_draw(label, outcomes, draws)
            except PosgError as error:
                raise self._malformed(function, f"broke a rule of choose: {error}", answer) from error
            draws[label] = choose(label, outcomes)
            # Of the key before and not of all draws: a replay of many draws asks again after each of them.
            key = _key(key, label, draws[label])

    def _ask(self, function: str, argument: dict[str, Json], key: str = "") -> Any:
        """Returns the answer, from the cache if the same was asked before; the caller owns what it gets."""

        def asked() -> Json:
            reply = self._program.started().payload(SESSION, "asked", argument | {"function": function}, seed=0)
            answer = value_of(reply, function)
            if not _has_form(function, answer, self.info, argument.get("agent")):
                raise self._malformed(function, f"answered in another form than it must: {answer!r}", answer)
            return answer

        return self._program.answer(key or _key(function, argument), asked)

    def _malformed(self, function: str, problem: str, answer: Json) -> WorldModelError:
        message = f"{function} of the model of {self.info.id} {problem}"
        return WorldModelError(message[:2_000], Reply(Outcome.BAD_VALUE, answer))


def _key(*asked: Json) -> str:
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode("ascii")).hexdigest()


def _has_form(function: str, answer: Json, info: PosgInfo, agent: int | None) -> bool:
    """Tells whether an answer is of its form: it comes from a process in which an untrusted program runs.

    Args:
        function: that answered.
        answer: as it came.
        info: of the game.
        agent: of whom `legal_actions` are asked; None for the other functions.
    """
    agents = info.num_agents
    if function == "active":
        whole = isinstance(answer, list) and all(type(one) is int for one in answer)
        return whole and answer == [one for one in range(agents) if one in answer]
    if agent is not None:
        named = isinstance(answer, list) and all(isinstance(action, str) for action in answer)
        return named and len(set(answer)) == len(answer) and set(answer) <= set(info.actions[agent])
    if not isinstance(answer, dict) or not answer.keys() & {"value", "draw"}:
        return False
    if "draw" in answer:
        return _is_draw(answer["draw"])
    value = answer["value"]
    if function == "observe":
        return isinstance(value, list) and len(value) == agents
    return function != "move" or _is_moved(value, agents)


def _is_draw(draw: Json) -> bool:
    if not isinstance(draw, list) or len(draw) != 2 or not isinstance(draw[0], str) or not isinstance(draw[1], list):
        return False
    label, table = draw
    return (
        len(label) <= LONGEST_LABEL
        and len(table) <= MOST_OUTCOMES
        and all(isinstance(pair, list) and len(pair) == 2 and _is_probability(pair[1]) for pair in table)
    )


def _is_probability(value: Json) -> bool:
    return is_finite(value) and 0 < value <= 1 + TOLERANCE


def _is_moved(value: Json, agents: int) -> bool:
    if not isinstance(value, list) or len(value) != 3:
        return False
    rewards, over = value[1:]
    if not isinstance(rewards, list) or not isinstance(over, list) or len(rewards) != agents or len(over) != agents:
        return False
    return all(map(is_finite, rewards)) and all(isinstance(one, bool) for one in over)
