"""The process in which agents learn on a twin: `python -m arena.training_on_twins.served`, started by `.process`.

It is locked as the one that compiles twins is, before it is told the twin's first word. What leaves it are arrays.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import jax
import numpy as np

from arena.training_on_twins.learning import SeatLearner, SeatTask, UpdateCame
from cwm.twins import served
from cwm.twins.served import Arrays, Functions
from cwm.twins.text.build import function_of
from cwm.twins.traced import TracedTwin
from search.learn import checkpoint
from search.learn.api import Params
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.config import PpoConfig

SMALL: Final = SeatTask(
    NetworkConfig(encoder="mlp", core="rnn", hidden=2, filters=2, layers=1, activation="tanh"),
    PpoConfig(total_steps=4, environments=2, steps=1, epochs=1, minibatches=1, entropy_end=0.0),
    max_actions=2,
    others="itself",
)


class Lessons:
    """A learner on one twin, and where its training stands.

    Args:
        learner: compiled functions, as `SeatLearner` has them.
        others: arrays of a fixed policy, by name; {} for none.
    """

    def __init__(self, learner: Any, others: Arrays) -> None:
        self._learner = learner
        self._others: Params = checkpoint.nested(others) if others else ()
        self._state: Any = None

    def begin(self, asked: Mapping[str, Any], _: Arrays) -> Arrays:
        """Begins a training of a `seed` at a `seat`."""
        self._state = self._learner.begin(np.uint32(asked["seed"]), np.int32(asked["seat"]), self._others)
        return {}

    def resume(self, _: Mapping[str, Any], given: Arrays) -> Arrays:
        """Goes on with a training whose state is given."""
        like = jax.eval_shape(self._learner.begin, np.uint32(0), np.int32(0), self._others)
        self._state = checkpoint.state_of(given, like, "what was given")
        return {}

    def run(self, asked: Mapping[str, Any], _: Arrays) -> Arrays:
        """Makes updates until there are `updates` more, or `seconds` have passed; returns what each came to."""
        began = time.perf_counter()
        came: list[UpdateCame] = []
        while len(came) < asked["updates"] and (not came or time.perf_counter() - began < asked["seconds"]):
            self._state, one = self._learner.update(self._state, self._others)
            came.append(jax.device_get(one))
        told = {
            f"{part}/{name}": np.stack([getattr(getattr(one, part), name) for one in came])
            for part in UpdateCame._fields
            for name in getattr(came[0], part)._fields
        }
        return told | {"seconds": np.float32(time.perf_counter() - began).reshape(1)}

    def state(self, _: Mapping[str, Any], __: Arrays) -> Arrays:
        """Returns where the training stands."""
        return checkpoint.arrays_of(self._state)

    def evaluate(self, asked: Mapping[str, Any], _: Arrays) -> Arrays:
        """Plays `games` with the present policy at a `seat` against chance."""
        key = jax.random.key(asked["seed"])
        ended = self._learner.evaluate(self._state.learner.params, np.int32(asked["seat"]), asked["games"], key)
        return {name: np.asarray(value).reshape(1) for name, value in ended._asdict().items()}


def main() -> None:
    """Serves one twin until its parent closes the pipe."""
    serve(SeatLearner, SeatTask.from_json, SMALL)


def serve(make: Callable[..., Any], task_of: Callable[[Mapping[str, Any]], Any], small: Any) -> None:
    """Shuts this process in, and learns on a twin as the parent says.

    Args:
        make: returns compiled functions for a form, functions and a task.
        task_of: reads a task.
        small: a task that is learned on a game of ours before.
    """

    def opened(traced: TracedTwin, asked: Mapping[str, Any], others: Arrays) -> Functions:
        functions = {name: function_of(program) for name, program in traced.programs().items()}
        return _answers(Lessons(make(traced.form, functions, task_of(asked["task"])), others))

    def rehearse() -> None:
        served.rehearse()
        lessons = Lessons(make(*served.sample(), small), {})
        lessons.begin({"seed": 0, "seat": 0}, {})
        lessons.run({"updates": 1, "seconds": 0}, {})
        lessons.resume({}, lessons.state({}, {}))
        lessons.evaluate({"seat": 0, "games": 1, "seed": 0}, {})

    served.serve(opened, rehearse)


def _answers(lessons: Lessons) -> Functions:
    return {name: getattr(lessons, name) for name in ("begin", "resume", "run", "state", "evaluate")}


if __name__ == "__main__":
    main()
