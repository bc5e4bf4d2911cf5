"""Decides how much is played for a game in the time allowed, by what a small part of it takes on this machine."""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from arena.match import GameRecord
from arena.paper import accuracy, matches
from arena.paper.places import Place
from arena.paper.settings import PAPER_SCALE, Asked, Scale

RUNGS: Final = (
    (1000, 10, 100),
    (1000, 1, 100),
    (500, 1, 100),
    (200, 1, 100),
    (200, 1, 50),
    (100, 1, 50),
    (100, 1, 20),
    (50, 1, 20),
    (50, 1, 10),
    (20, 1, 10),
    (20, 1, 5),
    (10, 1, 5),
    (10, 1, 2),
    (5, 1, 1),
)
"""Simulations a move, rollouts a leaf, matches a seat: from the paper's own down."""
TRANSITIONS: Final = (10_000, 5_000, 2_000, 1_000, 500, 200, 100)
PROBE: Final = Scale(5, 1, 1, 40)
TESTING: Final = 0.4
"""Share of the time that is for held-out games; the rest is for matches."""
PLAYING: Final = 0.6


def decide(place: Place, asked: Asked, played: float, tested: int, workers: int) -> Scale:
    """Returns the scale of a game, after playing and testing a little of it.

    Args:
        place: a finished synthesis of the game.
        asked: minutes, seed, and numbers that are given.
        played: how many times the matches of the probe are to be played for each deal.
        tested: how many programs are to be tested on the held-out games.
        workers: processes.
    """
    given = dict(asked.scale)
    rungs = [
        (given.get("simulations", simulations), given.get("rollouts", rollouts), given.get("deals", deals))
        for simulations, rollouts, deals in RUNGS
    ]
    simulations, rollouts, deals = rungs[0]
    transitions = given.get("transitions")
    seconds = 60.0 * asked.minutes
    measured: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=place.root) as folder:
        if len(set(rungs)) > 1:
            a_simulation = _seconds_a_simulation(place, Path(folder), asked) * played / workers
            simulations, rollouts, deals = fitting(rungs, a_simulation, PLAYING * seconds)
            measured["seconds for a deal with one simulation a move and one rollout"] = a_simulation
        if transitions is None:
            a_transition = _seconds_a_transition(place, Path(folder), asked, tested, workers)
            transitions = next((n for n in TRANSITIONS if n * a_transition <= TESTING * seconds), TRANSITIONS[-1])
            measured["seconds for a held-out transition"] = a_transition
    minutes = asked.minutes if measured else None
    return Scale(simulations, rollouts, deals, transitions, minutes, measured)


def fitting(rungs: Sequence[tuple[int, int, int]], a_simulation: float, seconds: float) -> tuple[int, int, int]:
    """Returns the first of the rungs that takes no more than `seconds`, or the last one."""
    for simulations, rollouts, deals in rungs:
        if a_simulation * simulations * rollouts * deals <= seconds:
            return simulations, rollouts, deals
    return rungs[-1]


def _seconds_a_transition(place: Place, folder: Path, asked: Asked, tested: int, workers: int) -> float:
    """Returns the seconds that a held-out transition takes: to be played once, and to be tested with each program."""
    held_out = folder / "held-out.jsonl"
    # Played anew: games that are kept from before would say nothing of those that are not.
    playing = _timed(lambda: accuracy.hold_out(held_out, place.game, PROBE.transitions, asked.seed, workers))
    testing = _timed(lambda: accuracy.evaluate(place.folder, folder / "test", held_out, asked.seed, workers))
    made = accuracy.figures(folder / "test")
    count = PROBE.transitions if made is None else max(1, int(made["transitions"]))
    return (playing + tested * testing) / count


def _seconds_a_simulation(place: Place, folder: Path, asked: Asked) -> float:
    """Returns the seconds of one deal with both opponents in both seatings, for each simulation a move."""
    prepared = matches.config(place, PROBE, asked, matches.Deals(PROBE.deals, asked.seed))
    result = matches.play(folder / "matches", prepared, 1)
    return sum(map(_seconds, result.records)) / PROBE.simulations


def _seconds(record: GameRecord) -> float:
    return sum(sum(row) for row in record.seconds)


def _timed(work: Callable[[], None]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def paper_scale() -> tuple[tuple[str, int], ...]:
    """Returns the paper's own numbers as given ones."""
    names = ("simulations", "rollouts", "deals", "transitions")
    return tuple(sorted((name, int(getattr(PAPER_SCALE, name))) for name in names))
