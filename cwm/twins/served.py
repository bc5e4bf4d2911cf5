"""The process that compiles and runs a twin: `python -m cwm.twins.served`, started by `cwm.twins.compiled`.

It reads a twin's texts, builds functions anew from them and compiles those, for a fixed number of lanes. It has a clean
environment and limits of memory and time, and before it is given a twin's first word it gives up files, sockets,
processes and privileges; what it does with a twin is arithmetic.
"""

import contextlib
import importlib
import resource
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from cwm.sandbox.lock.lock import guard
from cwm.sandbox.lock.seccomp import LockError
from cwm.sandbox.worker.worker import loaded_late
from cwm.twins.form import ArrayForm, TwinForm
from cwm.twins.frames import packed, received
from cwm.twins.play import TwinGames, rate_loop
from cwm.twins.text.build import function_of
from cwm.twins.text.language import TwinTextError
from cwm.twins.traced import TracedTwin
from cwm.twins.tracing import warm_up

Arrays: TypeAlias = dict[str, NDArray[Any]]
Functions: TypeAlias = Mapping[str, Callable[[Mapping[str, Any], Arrays], Arrays]]
"""What a process answers: (what was asked, JSON; arrays) -> arrays."""
Opened: TypeAlias = Callable[[TracedTwin, Mapping[str, Any], Arrays], Functions]

SEEN = ("player", "legal", "chance", "rewards", "observations")


class Served:
    """One twin, compiled.

    Args:
        traced: its form and texts.
        lanes: states of one call.
    """

    def __init__(self, traced: TracedTwin, lanes: int) -> None:
        functions = {name: function_of(program) for name, program in traced.programs().items()}
        self._games = TwinGames(traced.form, functions)
        self._form = traced.form
        self._lanes = lanes
        self._loops: dict[tuple[int, int], Callable[[Any, jax.Array], Any]] = {}
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

    def rate(self, given: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Plays at random and returns `steps_per_s`: float32 [1], after a call that compiles.

        Args:
            given: `lanes` and `steps`, int32 [1].
        """
        lanes, steps = int(given["lanes"][0]), int(given["steps"][0])
        loop = self._loops.setdefault((lanes, steps), rate_loop(self._games, lanes, steps))
        carry = (jax.jit(self._games.begin, static_argnums=0)(lanes, jax.random.key(0)), jnp.zeros(()))
        ended: Any = jax.block_until_ready
        began = time.perf_counter()
        carry = ended(loop(carry, jax.random.key(1)))
        compiled = time.perf_counter() - began
        began = time.perf_counter()
        ended(loop(carry, jax.random.key(2)))
        rate = lanes * steps / (time.perf_counter() - began)
        return {"steps_per_s": np.float32(rate).reshape(1), "compile_s": np.float32(compiled).reshape(1)}

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
    serve(_opened, rehearse)


def serve(opened: Opened, rehearsal: Callable[[], None]) -> None:
    """Shuts this process in, and answers questions on one twin until the parent closes the pipe.

    Args:
        opened: builds and compiles what answers, of the twin and of what the parent said with it.
        rehearsal: does on a game of ours whatever will be done, so that nothing has to be loaded later.
    """
    source, target = sys.stdin.buffer, sys.stdout.buffer

    def read(count: int) -> bytes:
        data = source.read(count)
        if len(data) < count:
            sys.exit(0)
        return data

    def tell(head: dict[str, Any], arrays: Arrays) -> None:
        target.write(packed(head, arrays))
        target.flush()

    limits, _ = received(read)
    _limit(limits["memory_mb"], limits["cpu_s"])
    try:
        _shut_in(limits["parent"], rehearsal)
    except LockError as error:
        tell({"not_locked": str(error)}, {})
        return
    tell({"ready": True}, {})
    asked, arrays = received(read)
    try:
        functions = opened(TracedTwin(TwinForm.from_json(asked["form"]), asked["texts"]), asked, arrays)
    except TwinTextError as error:
        tell({"problem": str(error)}, {})
        return
    except Exception as error:
        # A game of ours was compiled a moment ago.
        tell({"problem": f"the traced program cannot be compiled: {type(error).__name__}: {str(error)[:500]}"}, {})
        return
    tell({"ready": True}, {})
    while True:
        asked, arrays = received(read)
        tell({"ready": True}, functions[asked["function"]](asked, arrays))


def _opened(traced: TracedTwin, asked: Mapping[str, Any], _: Arrays) -> Functions:
    served = Served(traced, asked["lanes"])
    served.compile()
    return {
        "init": lambda _, given: served.init(given),
        "step": lambda _, given: served.step(given),
        "look": lambda _, given: served.look(given),
        "rate": lambda _, given: served.rate(given),
    }


def _shut_in(parent: int, rehearsal: Callable[[], None]) -> None:
    # What JAX loads late is loaded by name, in time: when it compiles, it starts threads, which must be shut in, too.
    for name in loaded_late(rehearsal):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    guard(parent)


def rehearse() -> None:
    """Compiles and plays a game of ours."""
    warm_up()
    games = TwinGames(*sample())
    ended: Any = jax.block_until_ready
    ended(rate_loop(games, 2, 2)((games.begin(2, jax.random.key(0)), jnp.zeros(())), jax.random.key(1)))


def sample() -> tuple[TwinForm, dict[str, Callable[..., tuple[Any, ...]]]]:
    """Returns form and functions of a game of ours, for rehearsals."""
    functions: dict[str, Callable[..., tuple[Any, ...]]] = {
        "init": lambda: (jnp.zeros((), jnp.int32),),
        "step": lambda count, index: (count + index,),
        "look": lambda count: (count * 0, jnp.ones(1, bool), jnp.ones(1), jnp.ones(1), jnp.ones((1, 1))),
    }
    return TwinForm((ArrayForm("count", "int32", ()),), ("go",), ("come",), 1, 1), functions


def _limit(memory_mb: int, cpu_s: int) -> None:
    caps = {
        resource.RLIMIT_AS: memory_mb << 20,
        resource.RLIMIT_CPU: cpu_s,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
    }
    for which, most in caps.items():
        _, allowed = resource.getrlimit(which)
        limit = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(which, (limit, limit))


if __name__ == "__main__":
    main()
