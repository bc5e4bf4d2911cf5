"""Decides how much is played for a game in the time allowed, by what a small part of it takes on this machine."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from arena.agents.api import InfrastructureError
from arena.papers.cwm.tables import accuracy, matches
from arena.papers.cwm.tables.matches import OnGame
from arena.papers.cwm.tables.places import Place
from arena.papers.cwm.tables.settings import PAPER_SCALE, PaperWishes, Scale

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
PROBE: Final = Scale(2, 1, 1, 1)
"""Played first: next to nothing, as in some games a single rollout takes long."""
MANY: Final = 8
"""So many times the simulations of the probe tell what a simulation takes from what a deal takes in any case."""
SHARE_OF_PROBE: Final = 0.1
"""Of the time for matches, which a second probe may take, and a deal with the simulations that were chosen."""
TESTING: Final = 0.4
"""Share of the time that is for held-out games; the rest is for matches."""
PLAYING: Final = 0.6


def decide(
    place: Place, asked: PaperWishes, played: float, tested: int, workers: int, on_game: OnGame | None = None
) -> Scale:
    """Returns the scale of a game, after playing and testing a little of it.

    Args:
        place: a finished synthesis of the game.
        asked: minutes, seed, and numbers that are given.
        played: how many times the matches of the probe are to be played for each deal.
        tested: how many programs are to be tested on the held-out games.
        workers: processes.
        on_game: called after each match that is only played to be timed.
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
            alone = _cost(place, Path(folder), asked, PLAYING * seconds, on_game)

            def play(simulations: int, rollouts: int) -> float:
                scale = Scale(simulations, rollouts, 1, 1)
                return _deal(place, Path(folder) / "chosen", asked, scale, on_game)

            (simulations, rollouts, deals), cost = checked(rungs, alone, played / workers, PLAYING * seconds, play)
            measured["seconds for a deal without simulations"] = cost.deal
            measured["seconds for a deal for each simulation a move"] = cost.simulation
        if transitions is None:
            a_transition = _seconds_a_transition(place, Path(folder), asked, tested, workers)
            transitions = next((n for n in TRANSITIONS if n * a_transition <= TESTING * seconds), TRANSITIONS[-1])
            measured["seconds for a held-out transition"] = a_transition
    minutes = asked.minutes if measured else None
    return Scale(simulations, rollouts, deals, transitions, minutes, measured)


@dataclass(frozen=True)
class Cost:
    """What a deal takes: the matches with both opponents in both seatings.

    Attributes:
        deal: seconds without any simulation.
        simulation: seconds for each simulation a move with one rollout.
    """

    deal: float
    simulation: float

    @classmethod
    def of(cls, few: float, many: float | None) -> "Cost":
        """Returns the cost that two measured deals show, or one alone.

        Args:
            few: seconds of the deal with the simulations of `PROBE`.
            many: seconds of the deal with `MANY` times as many, None if it was not played.
        """
        if many is None:
            return cls(0.0, few / PROBE.simulations)
        apart = (many - few) / ((MANY - 1) * PROBE.simulations)
        # On a busy machine the second deal may happen to take no longer, as if simulations cost nothing.
        simulation = max(apart, many / (MANY * PROBE.simulations) / 4)
        return cls(max(0.0, few - PROBE.simulations * simulation), simulation)

    def times(self, factor: float) -> "Cost":
        """Returns the cost of so many such deals."""
        return Cost(factor * self.deal, factor * self.simulation)

    def seconds(self, simulations: int, rollouts: int, deals: int) -> float:
        """Returns what deals take."""
        return deals * (self.deal + self.simulation * simulations * rollouts)


def fitting(rungs: Sequence[tuple[int, int, int]], cost: Cost, seconds: float) -> tuple[int, int, int]:
    """Returns the first of the rungs that takes no more than `seconds`, or the last one."""
    return next((rung for rung in rungs if cost.seconds(*rung) <= seconds), rungs[-1])


def checked(
    rungs: Sequence[tuple[int, int, int]],
    alone: Cost,
    factor: float,
    seconds: float,
    play: Callable[[int, int], float],
) -> tuple[tuple[int, int, int], Cost]:
    """Returns the rung that fits and what its deals cost, after one deal with its own simulations where there is time.

    Games between planners that search well may last several times as long as those of the probe (gin rummy's do).

    Args:
        rungs: to choose from.
        alone: what a deal costs by the probe.
        factor: deals that each deal of a rung stands for, over the processes.
        seconds: for all deals.
        play: (simulations, rollouts) -> seconds of a deal.
    """
    simulations, rollouts, _ = rung = fitting(rungs, alone.times(factor), seconds)
    known = simulations * rollouts <= MANY * PROBE.simulations
    if known or alone.seconds(simulations, rollouts, 1) > SHARE_OF_PROBE * seconds:
        return rung, alone.times(factor)
    taken = play(simulations, rollouts)
    # One deal may be short by chance: it only ever makes the others dearer.
    simulation = max(alone.simulation, (taken - alone.deal) / (simulations * rollouts))
    cost = replace(alone, simulation=simulation).times(factor)
    return fitting(rungs, cost, seconds - taken), cost


def _seconds_a_transition(place: Place, folder: Path, asked: PaperWishes, tested: int, workers: int) -> float:
    """Returns the seconds that a held-out transition takes: to be played once, and to be tested with each program.

    Raises:
        InfrastructureError: tests broke through a fault of ours.
    """
    held_out = folder / "held-out.jsonl"
    playing = _timed(lambda: accuracy.try_out(held_out, place.game, asked.seed)) / workers
    testing = _timed(lambda: accuracy.evaluate(place.folder, folder / "test", held_out, asked.seed, workers))
    made = accuracy.figures(folder / "test")
    if made is None:
        raise InfrastructureError(f"Tests of {place.game} broke through a fault of ours; run the command again.")
    count = max(1, int(made["transitions"]))
    return (playing + tested * testing) / count


def _cost(place: Place, folder: Path, asked: PaperWishes, seconds: float, on_game: OnGame | None) -> Cost:
    """Returns what a deal takes; with more simulations it is played once more where there is time for it."""
    few = _deal(place, folder / "few", asked, PROBE, on_game)
    if few * MANY > SHARE_OF_PROBE * seconds:
        return Cost.of(few, None)
    scale = replace(PROBE, simulations=MANY * PROBE.simulations)
    return Cost.of(few, _deal(place, folder / "many", asked, scale, on_game))


def _deal(place: Place, folder: Path, asked: PaperWishes, scale: Scale, on_game: OnGame | None) -> float:
    prepared = matches.config(place, scale, asked, matches.Deals(scale.deals, asked.seed))
    return _timed(lambda: matches.play(folder, prepared, 1, on_game))


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def paper_scale() -> tuple[tuple[str, int], ...]:
    """Returns the paper's own numbers as given ones."""
    names = ("simulations", "rollouts", "deals", "transitions")
    return tuple(sorted((name, int(getattr(PAPER_SCALE, name))) for name in names))
