"""The process that compiles and runs a twin: `python -m cwm.twins.served`, started by `cwm.twins.compiled`.

It reads a twin's texts with the same reader, builds functions anew from them and compiles those, for a fixed number of
lanes. It has a clean environment and limits of memory and time; what it does with a twin is arithmetic.
"""

import resource
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from cwm.twins.form import TwinForm
from cwm.twins.frames import packed, received
from cwm.twins.text.build import function_of
from cwm.twins.text.language import TwinTextError
from cwm.twins.traced import TracedTwin

SEEN = ("player", "legal", "chance", "rewards", "observations")


class Served:
    """One twin, compiled.

    Args:
        traced: its form and texts.
        lanes: states of one call.
    """

    def __init__(self, traced: TracedTwin, lanes: int) -> None:
        functions = {name: function_of(program) for name, program in traced.programs().items()}
        self._form = traced.form
        self._lanes = lanes
        init = functions["init"]
        self._init: Any = jax.jit(init)
        self._step: Any = jax.jit(jax.vmap(functions["step"]))
        self._look: Any = jax.jit(jax.vmap(functions["look"]))

    def compile(self) -> None:
        """Compiles all functions.

        Raises:
            TwinTextError: one cannot be built from its text.
        """
        array_of: Any = jax.ShapeDtypeStruct
        kinds = [array_of((self._lanes, *array.shape), array.dtype) for array in self._form.arrays]
        index = array_of((self._lanes,), "int32")
        self._init = self._init.lower().compile()
        self._step = self._step.lower(*kinds, index).compile()
        self._look = self._look.lower(*kinds).compile()

    def init(self, _: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Returns the initial state, one row."""
        return self._rows([np.asarray(value)[None] for value in self._init()])

    def step(self, given: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Returns the next states of at most as many as there are lanes."""
        return self._rows(self._called(self._step, given, given["index"]))

    def look(self, given: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Returns every field of the states."""
        return dict(zip(SEEN, self._called(self._look, given), strict=True))

    def _called(self, function: Any, given: dict[str, NDArray[Any]], *further: NDArray[Any]) -> list[NDArray[Any]]:
        count = len(given["whole"])
        values = [*self._form.split((given["whole"], given["real"])), *further]
        if count > self._lanes:
            raise ValueError(f"{count} states were given, at most {self._lanes} are taken")
        filled = [
            np.concatenate([value, np.zeros((self._lanes - count, *value.shape[1:]), value.dtype)]) for value in values
        ]
        return [np.asarray(value)[:count] for value in function(*filled)]

    def _rows(self, arrays: list[NDArray[Any]]) -> dict[str, NDArray[Any]]:
        whole, real = self._form.join(arrays)
        return {"whole": whole, "real": real}


def main() -> None:
    """Serves one twin until its parent closes the pipe."""
    source, target = sys.stdin.buffer, sys.stdout.buffer

    def read(count: int) -> bytes:
        data = source.read(count)
        if len(data) < count:
            sys.exit(0)
        return data

    def tell(head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        target.write(packed(head, arrays))
        target.flush()

    asked, _ = received(read)
    _limit(asked["memory_mb"], asked["cpu_s"])
    try:
        served = Served(TracedTwin(TwinForm.from_json(asked["form"]), asked["texts"]), asked["lanes"])
        served.compile()
    except TwinTextError as error:
        tell({"problem": str(error)}, {})
        return
    tell({"ready": True}, {})
    functions: dict[str, Callable[[dict[str, NDArray[Any]]], dict[str, NDArray[Any]]]] = {
        "init": served.init,
        "step": served.step,
        "look": served.look,
    }
    while True:
        asked, arrays = received(read)
        tell({"ready": True}, functions[asked["function"]](arrays))


def _limit(memory_mb: int, cpu_s: int) -> None:
    for which, most in ((resource.RLIMIT_AS, memory_mb << 20), (resource.RLIMIT_CPU, cpu_s), (resource.RLIMIT_CORE, 0)):
        _, allowed = resource.getrlimit(which)
        limit = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(which, (limit, limit))


if __name__ == "__main__":
    main()
