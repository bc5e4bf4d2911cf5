"""The process in which policies learn together on a twin: `python -m arena.cooperation_on_twins.served`.

It is started by `.process`, and locked as the one that compiles twins is, before it is told the twin's first word. What
leaves it are arrays.
"""

from collections.abc import Mapping
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from arena.cooperation_on_twins.environment import Renaming
from arena.cooperation_on_twins.task import Functions, TeamLearner, TeamTask, TwinTable
from cwm.twins import served
from cwm.twins.form import ArrayForm, TwinForm
from cwm.twins.served import Arrays
from cwm.twins.text.build import function_of
from cwm.twins.traced import TracedTwin
from search.learn import checkpoint
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.config import PpoConfig

MEMBERS: Final = "members"
ACTIONS: Final = "symmetries/actions"
OUTCOMES: Final = "symmetries/outcomes"
SMALL: Final = TeamTask(
    NetworkConfig(encoder="mlp", core="gru", hidden=2, filters=2, layers=1),
    PpoConfig(total_steps=4, environments=2, steps=2, epochs=1, minibatches=1),
    max_actions=2,
    seeds=(0,),
)


class Team:
    """A twin, a training on it, and policies at its table.

    Args:
        form: of the twin.
        functions: as for `TwinEnv`.
        task: what is learned.
        given: the population and the symmetries, where the task has them.
    """

    def __init__(self, form: TwinForm, functions: Functions, task: TeamTask, given: Arrays) -> None:
        self._form = form
        self._functions = functions
        self._task = task
        self._given = given
        self._learner: TeamLearner | None = None
        self._state: Any = None
        self._table: TwinTable | None = None

    @property
    def learner(self) -> TeamLearner:
        """Made when something is to be learned."""
        if self._learner is None:
            members = checkpoint.nested(self._given).get(MEMBERS, ()) if self._task.partners else ()
            symmetries = Renaming(self._given[ACTIONS], self._given[OUTCOMES]) if self._task.symmetries else None
            self._learner = TeamLearner(self._form, self._functions, self._task, members, symmetries)
        return self._learner

    def begin(self, _: Mapping[str, Any], __: Arrays) -> Arrays:
        """Begins the training and returns its state."""
        self._state = self.learner.begin()
        return checkpoint.arrays_of(self._state)

    def resume(self, _: Mapping[str, Any], given: Arrays) -> Arrays:
        """Goes on with a training whose state is given."""
        self._state = checkpoint.state_of(given, jax.eval_shape(self.learner.begin), "what was given")
        return {}

    def run(self, asked: Mapping[str, Any], _: Arrays) -> Arrays:
        """Makes so many `updates`; returns what each came to, and the state."""
        self._state, report = self.learner.run(self._state, asked["updates"])
        return checkpoint.arrays_of({"report": report, "state": self._state})

    def seat(self, asked: Mapping[str, Any], given: Arrays) -> Arrays:
        """Takes policies: their `networks`, and parameters by number."""
        params = checkpoint.nested(given)
        networks = [NetworkConfig.from_json(network) for network in asked["networks"]]
        policies = [(network, params[str(number)]) for number, network in enumerate(networks)]
        self._table = TwinTable(self._form, self._functions, self._task.max_actions, policies)
        return {}

    def play(self, asked: Mapping[str, Any], _: Arrays) -> Arrays:
        """Plays `games` of a `seating`; returns their totals and lengths, and whether they were cut, [G]."""
        assert self._table is not None
        found = self._table.play(asked["seating"], asked["games"], asked["seed"], asked["greedy"])
        told = {"total": found.total, "length": found.length, "cut": found.figures["cut"]}
        return {name: np.asarray(values) for name, values in told.items()}


def main() -> None:
    """Serves one twin until its parent closes the pipe."""

    def opened(traced: TracedTwin, asked: Mapping[str, Any], given: Arrays) -> served.Functions:
        functions = {name: function_of(program) for name, program in traced.programs().items()}
        return _answers(Team(traced.form, functions, TeamTask.from_json(asked["task"]), given))

    served.serve(opened, rehearse)


def rehearse() -> None:
    """Learns and plays a game of ours, whatever can be asked for later."""
    served.rehearse()
    form, functions = _sample()
    seen = Renaming(np.zeros((1, 1), np.int32), np.zeros((1, 1), np.int32))
    alone = Team(
        form,
        functions,
        _small(symmetries=True, begins=(0,), rollouts=1),
        {ACTIONS: seen.actions, OUTCOMES: seen.outcomes},
    )
    arrays = alone.begin({}, {})
    alone.resume({}, arrays)
    told = alone.run({"updates": 1}, {})
    start = "state/training/learner/params/"
    params = {name.removeprefix(start): leaf for name, leaf in told.items() if name.startswith(start)}
    with_partners = Team(form, functions, _small(partners=True), {f"{MEMBERS}/{name}": params[name] for name in params})
    with_partners.begin({}, {})
    with_partners.run({"updates": 1}, {})
    alone.seat({"networks": [SMALL.network.to_json()]}, {f"0/{name}": leaf[0] for name, leaf in params.items()})
    for greedy in (False, True):
        alone.play({"seating": [0, 0], "games": 2, "seed": 0, "greedy": greedy}, {})


def _small(**flags: Any) -> TeamTask:
    return TeamTask(SMALL.network, SMALL.ppo, SMALL.max_actions, SMALL.seeds, **flags)


def _sample() -> tuple[TwinForm, Functions]:
    """Returns form and functions of a game of ours for two players."""
    functions: Functions = {
        "init": lambda: (jnp.zeros((), jnp.int32),),
        "step": lambda count, index: (count + 1 + index,),
        "look": lambda count: (
            jnp.where(count == 0, -1, count % 2),
            jnp.ones(1, bool),
            jnp.where(count == 0, jnp.ones(1), 0.0),
            jnp.ones(2),
            jnp.ones((2, 1)),
        ),
    }
    return TwinForm((ArrayForm("count", "int32", ()),), ("go",), ("come",), 2, 1), functions


def _answers(team: Team) -> served.Functions:
    return {name: getattr(team, name) for name in ("begin", "resume", "run", "seat", "play")}


if __name__ == "__main__":
    main()
