"""Asks a program for vectors of observations, or for observations of vectors. Loaded into workers: standard library
alone.

What comes of it is judged by the parent: it decodes in another process than it encodes, so that nothing but the vector
can carry an observation over.
"""

import random
import time
from typing import Any

from cwm.sandbox.wire.failures import describe
from cwm.sandbox.wire.plain_json import NotJsonError, normalise


def answers(game: Any, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Calls one function of a program on many inputs.

    Args:
        game: the program.
        argument: `function`, its name; `items`, [first argument, player] each.
        rng: not used.

    Returns:
        `answers`: [answer, ""] each, or [None, what went wrong]; `seconds` that the calls took.
    """
    name = argument["function"]
    function = game.functions.get(name)
    found: list[list[Any]] = []
    seconds = 0.0
    for value, player in argument["items"]:
        try:
            began = time.perf_counter()
            answer = function(value, player)
            seconds += time.perf_counter() - began
            found.append([normalise(answer), ""])
        except MemoryError:
            raise
        except NotJsonError as error:
            found.append([None, f"{name}: {error}"])
        except BaseException as error:
            failure = describe(error, {})
            line = f" in line {failure['line']}" if failure["line"] else ""
            found.append([None, f"{name} raised {failure['type']}{line}: {failure['message']}"])
    return {"answers": found, "seconds": seconds}
