"""A tournament that stops in time: after how many deals, whom it keeps, and what a resumed run does."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.pipeline.timely_tournament import FRESH_DEALS, TimelyTournament
from cwm.functions.decided import Decided, FreshDeals, Played
from cwm.functions.types import Entrant
from cwm.record.record import RunRecord
from search.api import PlannerConfig

NONE, ONE, TWO = Entrant(), Entrant("one"), Entrant("two")


@dataclass
class Scripted:
    """A tournament whose scores are read from a function of entrant and deal; each block takes so many seconds.

    The trial deal takes seconds of its own and is not noted.
    """

    score: Callable[[str | None, int], float | None]
    deals: int = 40
    seconds: float = 1.0
    trial_seconds: float = 0.0
    dies_after: int | None = None
    now: float = 0.0
    played: list[tuple[list[int], bool]] = field(default_factory=list)
    config: PlannerConfig = field(default_factory=PlannerConfig)
    seed: int = 0
    bundle: Any = field(default_factory=lambda: SimpleNamespace(hash="m", game_info=SimpleNamespace(min_utility=-1.0)))

    def play_deals(
        self, entrants: Sequence[Entrant], deals: Sequence[int], apart: bool = False
    ) -> list[list[float] | None]:
        if list(deals) == [self.deals + FRESH_DEALS]:
            self.now += self.trial_seconds
            return [[0.0] * len(entrants)]
        if len(self.played) == self.dies_after:
            raise KeyboardInterrupt
        self.played.append((list(deals), apart))
        self.now += self.seconds
        rows: list[list[float] | None] = []
        for deal in deals:
            row = [self.score(entrant.value, deal) for entrant in entrants]
            rows.append(None if None in row else [score for score in row if score is not None])
        return rows

    def lineups(self, entrants: int) -> list[tuple[int, int]]:
        return list(permutations(range(entrants), 2))


@pytest.fixture
def record(tmp_path: Path) -> Iterator[RunRecord]:
    with RunRecord.create_or_resume(tmp_path, "synthesis", {}) as made:
        yield made


def decide(
    record: RunRecord,
    scripted: Scripted,
    entrants: Sequence[Entrant] = (NONE, ONE),
    seconds: float = 1000.0,
    on_stage: Callable[[str], None] = lambda text: None,
) -> Played:
    timely = TimelyTournament(scripted, seconds, record, on_stage, lambda: scripted.now)  # type: ignore[arg-type]
    return timely.play(entrants)


def clear(value: str | None, deal: int) -> float:
    return {None: 0.0, "one": 1.0, "two": 0.5}[value] + deal % 2


def test_blocks_are_told_as_they_are_begun(record: RunRecord) -> None:
    told: list[str] = []
    decide(record, Scripted(clear, deals=40), on_stage=told.append)
    decide(record, Scripted(clear, deals=40), on_stage=told.append)
    assert told == [
        "tournament on the model: a trial deal",
        "tournament on the model: deals 1 to 4 of at most 40",
        "tournament on the model: fresh deals",
    ]


def equal(value: str | None, deal: int) -> float:
    return float(deal % 3)


def noise(value: str | None, deal: int) -> float:
    """One is 1 above none on every second deal and 1 below on the others, but for the first of all."""
    return 0.0 if value is None else (1.0 if deal % 2 == 0 else -1.0) + (0.5 if deal == 0 else 0.0)


def test_clear_leader_stops_after_four_deals_and_is_told_by_fresh_ones(record: RunRecord) -> None:
    scripted = Scripted(clear)
    fresh = FreshDeals(8, 1.5, (2 / 7 / 8) ** 0.5, 0.5, (2 / 7 / 8) ** 0.5, 1.0, 0.0)
    played = decide(record, scripted, (NONE, ONE, TWO))
    assert played.scores == (0.5, 1.5, 1.0)
    assert played.decided is not None
    assert played.decided.fresh is not None
    assert played.decided.fresh.error == pytest.approx(fresh.error)
    assert played.decided == Decided(1, 1, (), 4, "told apart", played.decided.fresh)
    assert (played.decided.fresh.mean, played.decided.fresh.without, played.decided.fresh.ahead) == (1.5, 0.5, 1.0)
    assert scripted.played == [([0, 1, 2, 3], False), (list(range(40, 40 + FRESH_DEALS)), True)]


@pytest.mark.parametrize("score", [equal, noise])
def test_who_is_never_told_apart_plays_all_deals_and_the_simplest_stays(
    record: RunRecord, score: Callable[[str | None, int], float]
) -> None:
    scripted = Scripted(score, deals=10)
    played = decide(record, scripted)
    leader = 0 if score is equal else 1
    assert played.decided == Decided(0, leader, (1 - leader,), 10, "deals")
    assert [deals for deals, _ in scripted.played] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def late(value: str | None, deal: int) -> float:
    """Of the first four deals two are equal, and one is won and one lost; One wins all that follow."""
    return 0.0 if value is None or deal < 2 else (-1.0 if deal == 2 else 1.0)


def test_leader_that_shows_late_is_told_apart_then(record: RunRecord) -> None:
    played = decide(record, Scripted(late))
    assert played.decided is not None
    # After 8 deals mean 0.5, error 0.27: behind twice that. After 12: 0.667, error 0.19.
    assert (played.decided.deals, played.decided.kept, played.decided.stopped) == (12, 1, "told apart")


@pytest.mark.parametrize(("seconds", "blocks"), [(0.5, 1), (2.0, 1), (2.5, 2), (3.75, 3), (3.7, 2)])
def test_no_block_is_begun_that_would_not_fit_in(record: RunRecord, seconds: float, blocks: int) -> None:
    scripted = Scripted(equal, seconds=1.25)
    played = decide(record, scripted, seconds=seconds)
    assert played.decided == Decided(0, 0, (1,), 4 * blocks, "seconds")
    assert len(scripted.played) == blocks


def test_deal_at_which_the_model_fails_as_referee_counts_for_nobody(record: RunRecord) -> None:
    played = decide(record, Scripted(lambda value, deal: None if deal == 2 else clear(value, 0)))
    assert played.decided is not None
    assert (played.decided.deals, played.decided.kept) == (3, 1)


def test_model_that_always_fails_as_referee_shows_nothing(record: RunRecord) -> None:
    played = decide(record, Scripted(lambda value, deal: None, deals=8))
    assert played == Played((-1.0, -1.0), Decided(0, 0, (1,), 0, "deals"))


def test_fresh_deals_of_a_failing_referee_tell_no_strength(record: RunRecord) -> None:
    played = decide(record, Scripted(lambda value, deal: None if deal >= 40 else clear(value, deal)))
    assert played.decided == Decided(1, 1, (), 4, "told apart")


@pytest.mark.parametrize("dies_after", [1, 2, 3])
def test_killed_tournament_decides_as_if_it_had_not_been_and_plays_no_block_again(
    record: RunRecord, tmp_path: Path, dies_after: int
) -> None:
    with RunRecord.create_or_resume(tmp_path / "whole", "synthesis", {}) as other:
        whole = Scripted(late)
        expected = decide(other, whole)
    assert len(whole.played) == 4
    killed = Scripted(late, dies_after=dies_after)
    with pytest.raises(KeyboardInterrupt):
        decide(record, killed)
    # The second process is a hundred times slower: what the first took is what counts.
    resumed = Scripted(late, seconds=100.0)
    assert decide(record, resumed) == expected
    assert killed.played + resumed.played == whole.played


def test_seconds_of_a_killed_process_count(record: RunRecord) -> None:
    with pytest.raises(KeyboardInterrupt):
        decide(record, Scripted(equal, seconds=5.0, dies_after=1), seconds=12.0)
    played = decide(record, Scripted(equal, seconds=5.0), seconds=12.0)
    assert played.decided == Decided(0, 0, (1,), 8, "seconds")


def test_finished_tournament_again_is_served_whatever_the_machine(record: RunRecord) -> None:
    first = decide(record, Scripted(equal, seconds=5.0), seconds=12.0)
    again = Scripted(equal, seconds=0.001)
    assert decide(record, again, seconds=12.0) == first
    assert again.played == []


def test_blocks_of_other_entrants_are_their_own(record: RunRecord) -> None:
    decide(record, Scripted(equal, deals=4))
    other = Scripted(clear, deals=4)
    assert decide(record, other, (NONE, TWO)).scores == (0.5, 1.0)
    assert [deals for deals, _ in other.played] == [[0, 1, 2, 3], list(range(4, 12))]


@pytest.mark.parametrize(
    ("trial", "seconds", "entrants", "simulations"),
    [
        # With two entrants two blocks are eight times the trial deal, with three 24 times.
        (1.0, 9.0, (NONE, ONE), None),
        (1.0, 5.0, (NONE, ONE), 75),
        (1.0, 9.0, (NONE, ONE, TWO), 50),
        (1.0, 1.1, (NONE, ONE), 10),
        (10.0, 9.0, (NONE, ONE), 10),
    ],
)
def test_planners_have_fewer_simulations_where_two_blocks_would_not_fit_in(
    record: RunRecord, trial: float, seconds: float, entrants: Sequence[Entrant], simulations: int | None
) -> None:
    for _ in range(2):
        # The second time, the trial is served from the record.
        scripted = Scripted(clear, trial_seconds=trial, config=PlannerConfig(simulations=150))
        played = decide(record, scripted, entrants, seconds)
        assert played.decided is not None
        assert (played.decided.simulations, played.decided.kept) == (simulations, 1)
        trial = 0.0


def test_planners_that_think_little_think_no_less(record: RunRecord) -> None:
    scripted = Scripted(clear, trial_seconds=10.0, config=PlannerConfig(simulations=3))
    decided = decide(record, scripted, seconds=1.0).decided
    assert decided is not None
    assert decided.simulations is None
