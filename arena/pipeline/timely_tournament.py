"""A tournament on the model that stops in time: when the leader is told apart, or its seconds or deals are used."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any, Final

from arena.figures.intervals import mean_estimate
from arena.figures.told_apart import BLOCK, look, paired_difference
from arena.matches.model_tournament import ModelTournament
from cwm.functions.decided import Decided, FreshDeals, Played, Stopped
from cwm.functions.types import Entrant
from cwm.record.record import RunRecord
from cwm.storage.keys import content_key

FRESH_DEALS: Final = 8
"""Deals that say how strong is what was kept; those that chose it flatter it."""


FEWEST_SIMULATIONS: Final = 10
"""A move; below that planners differ in little but chance."""


@dataclass(frozen=True)
class TimelyTournament:
    """Plays common deals in blocks and looks after each, see `arena.figures.told_apart`.

    A trial deal between the first and the last entrant says how long a block takes. Where two would not fit into the
    seconds, as in games that are long, planners have fewer simulations, but `FEWEST_SIMULATIONS` at least.

    What depends on the time is not a function of a seed. So every block is kept in the record with the seconds that it
    took, and who is kept is a function of the blocks there: a resumed run decides as the first one did, and plays none
    of them again.

    Attributes:
        tournament: who plays how; `deals` is the most there may be.
        seconds: of trial and blocks; after the first block none is begun that would not fit in, if it took as long as
            the last.
        record: where blocks are kept.
        on_stage: told in words which deals are played now.
        clock: seconds; injected by tests.
    """

    tournament: ModelTournament
    seconds: float
    record: RunRecord
    on_stage: Callable[[str], None] = lambda text: None
    clock: Callable[[], float] = time.monotonic

    def play(self, entrants: Sequence[Entrant]) -> Played:
        """Returns scores and whom to keep; fresh deals are played on top of the seconds.

        Args:
            entrants: the simplest first: the planner without any function.

        Raises:
            TesterError: a game could not be played through no fault of the programs.
        """
        usual = self.tournament.config.simulations
        simulations, spent = self._trial(entrants)
        if simulations == usual:
            return self._decided(entrants, spent, None)
        fewer = replace(self.tournament, config=replace(self.tournament.config, simulations=simulations))
        return replace(self, tournament=fewer)._decided(entrants, spent, simulations)

    def _trial(self, entrants: Sequence[Entrant]) -> tuple[int, float]:
        """Returns how many simulations a move there is time for, and the seconds that it took to find out."""
        after = self.tournament.deals + FRESH_DEALS
        usual = self.tournament.config.simulations
        _, took = self._block([entrants[0], entrants[-1]], range(after, after + 1))
        blocks = 2 * BLOCK * took * len(self.tournament.lineups(len(entrants))) / len(self.tournament.lineups(2))
        left = max(0.0, self.seconds - took)
        if blocks <= left:
            return usual, took
        return min(usual, max(FEWEST_SIMULATIONS, int(usual * left / blocks))), took

    def _decided(self, entrants: Sequence[Entrant], spent: float, simulations: int | None) -> Played:
        most = self.tournament.deals
        table: list[list[float]] = []
        begun = 0
        stopped: Stopped | None = None
        while stopped is None:
            until = min(begun + BLOCK, most)
            rows, took = self._block(entrants, range(begun, until))
            table += rows
            begun, spent = until, spent + took
            if len(table) > 1 and not look(_columns(table)).level:
                stopped = "told apart"
            elif begun == most:
                stopped = "deals"
            elif spent + took > self.seconds:
                stopped = "seconds"
        if not table:
            # The model failed as the referee on every deal: nobody has shown anything.
            nobody = Decided(0, 0, tuple(range(1, len(entrants))), 0, stopped, None, simulations)
            return Played((self.tournament.bundle.game_info.min_utility,) * len(entrants), nobody)
        columns = _columns(table)
        found = look(columns)
        fresh = self._fresh([entrants[0], entrants[found.kept]]) if found.kept else None
        decided = Decided(found.kept, found.leader, found.level, len(table), stopped, fresh, simulations)
        return Played(tuple(map(fmean, columns)), decided)

    def _fresh(self, entrants: Sequence[Entrant]) -> FreshDeals | None:
        """Returns what two entrants score on deals that chose neither; None if none could be played."""
        most = self.tournament.deals
        rows, _ = self._block(entrants, range(most, most + FRESH_DEALS), apart=True)
        if not rows:
            return None
        without, kept = _columns(rows)
        own, other, gained = mean_estimate(kept), mean_estimate(without), paired_difference(kept, without)
        if own is None or other is None or gained is None:
            return None
        return FreshDeals(
            len(rows),
            own.mean,
            own.standard_error,
            other.mean,
            other.standard_error,
            gained.mean,
            gained.standard_error,
        )

    def _block(self, entrants: Sequence[Entrant], deals: range, apart: bool = False) -> tuple[list[list[float]], float]:
        """Returns the scores on each deal that could be played, and the seconds it took; a finished block is served."""
        asked: dict[str, Any] = {
            "tournament block": [asdict(entrant) for entrant in entrants],
            "model": self.tournament.bundle.hash,
            "config": self.tournament.config.to_json(),
            "seed": self.tournament.seed,
            "deals": [deals.start, deals.stop],
            "apart": apart,
        }
        key = content_key(asked)
        stored = self.record.evaluation(key)
        if stored is None:
            which = self._called(deals)
            self.on_stage(f"tournament on the model: {which}")
            began = self.clock()
            rows = self.tournament.play_deals(entrants, deals, apart)
            stored = {
                "kind": "tournament_block",
                "scores": [row for row in rows if row is not None],
                "seconds": self.clock() - began,
            }
            self.record.put_evaluation(key, stored)
        return [[float(score) for score in row] for row in stored["scores"]], float(stored["seconds"])

    def _called(self, deals: range) -> str:
        most = self.tournament.deals
        if deals.start < most:
            return f"deals {deals.start + 1} to {deals.stop} of at most {most}"
        return "fresh deals" if deals.start == most else "a trial deal"


def _columns(table: Sequence[Sequence[float]]) -> list[list[float]]:
    """Returns the scores of each entrant, [entrants][deals], of those on each deal."""
    return [list(column) for column in zip(*table, strict=True)]
