"""Tries parameters of OpenSpiel's games in a process of their own: wrong ones may end it, and must not end ours.

Run as a program, this module is that process.
"""

import importlib
import json
import random
import re
import resource
import subprocess
import sys
import time
from functools import lru_cache
from typing import Any, Final

TIMEOUT_S: Final = 20.0
MEMORY: Final = 4 << 30
"""Bytes: parameters that ask for more would rather end the machine than the game."""
PASSES: Final = 12
"""Games that are begun alike; a chance hidden in them shows in one of the next with two players all but surely."""
MOVES: Final = 40
ENOUGH_S: Final = 0.3
"""Seconds after which no further game is begun."""
FAILED: Final = "failed: "
ENDS: Final = {
    "done": "",
    "impure": "the same moves lead to different states, since chance acts inside of them",
    "memory": f"it needs more than {MEMORY >> 30} GiB of memory",
}
"""What the other process says at its end, and what is wrong then."""


@lru_cache(maxsize=256)
def complaint(name: str) -> str:
    """Returns what is wrong with a game and its parameters, "" if a process of its own got over trying it.

    What OpenSpiel refuses with an error of its own is no complaint: loading it here raises the same.

    Args:
        name: what `pyspiel.load_game` takes.
    """
    command = [sys.executable, "-I", "-S", __file__, json.dumps([sys.path, name])]
    try:
        ended = subprocess.run(
            command, capture_output=True, timeout=TIMEOUT_S, check=False, text=True, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return f"its first moves take longer than {TIMEOUT_S:g} seconds"
    last = ended.stdout.rpartition("\n")[2]
    if last.startswith(FAILED):
        return f"it cannot be begun ({_without_places(last.removeprefix(FAILED))})"
    if last in ENDS:
        return ENDS[last]
    said = [line for line in ended.stderr.splitlines() if line.strip()]
    return f"it ends the whole process ({_without_places(said[-1]) if said else f'exit status {ended.returncode}'})"


def _without_places(text: str) -> str:
    """Returns a message without where in OpenSpiel's sources it says so."""
    return re.sub(r"\S*/", "", text)[:200]


def attempt(game: Any) -> bool:
    """Plays the first moves of a game several times alike and returns whether they always led to the same states."""
    first, until = _course(game), time.monotonic() + ENOUGH_S
    return all(_course(game) == first for _ in range(PASSES - 1) if time.monotonic() < until)


def _course(game: Any) -> list[tuple[str, list[int]]]:
    rng, state, seen = random.Random(0), game.new_initial_state(), []
    for _ in range(MOVES):
        legal = [] if state.is_terminal() else state.legal_actions()
        seen.append((str(state), legal))
        if not legal:
            break
        if state.is_simultaneous_node():
            state.apply_actions(
                [rng.choice(state.legal_actions(player) or [0]) for player in range(game.num_players())]
            )
        else:
            state.apply_action(rng.choice(legal))
    return seen


def main() -> str:
    """Tries the game that the command line names and returns a key of `ENDS`, or `FAILED` and why."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    path, name = json.loads(sys.argv[1])
    sys.path[:] = path
    pyspiel = importlib.import_module("pyspiel")
    if name.startswith("python_"):
        importlib.import_module("open_spiel.python.games")
    game = None
    try:
        game = pyspiel.load_game(name)
        return "done" if attempt(game) else "impure"
    except MemoryError:
        return "memory"
    except Exception as error:
        if game is None and isinstance(error, pyspiel.SpielError):
            return "done"  # whoever loads it in earnest is told the same
        return FAILED + " ".join(str(error).split())


if __name__ == "__main__":
    sys.stdout.write(f"\n{main()}")
