import random
from itertools import product
from typing import Any

import numpy as np
import pytest

from arena.agents.specs import AgentSpec
from arena.matches import cross_play
from arena.matches.cross_play import CrossPlayConfig
from arena.matches.match import GameRecord
from arena.policy_play.played_lineups import FIELDS, Tally, summary
from games import registry

DEALS = 6
INFO = registry.make("yokai-8c-2p").info


def record(seats: tuple[str, ...], deal: int, rng: random.Random) -> GameRecord:
    outcome: dict[str, Any] = {
        "won": rng.random() < 0.5,
        "score": rng.randrange(1, 9),
        "ended_early": rng.random() < 0.7,
    }
    paid = float(outcome["score"] if outcome["won"] else -2)
    return GameRecord(
        game=INFO.id,
        deal_seed=deal,
        seats=seats,
        actions=(),
        paid=(paid, paid),
        returns=(paid, paid),
        outcome=outcome,
        forfeit=None,
        length=rng.randrange(1, 25),
        fallbacks=({}, {}),
        model_errors=({}, {}),
        sandbox=None,
        seconds=((), ()),
    )


def tally(records: list[GameRecord]) -> Tally:
    outcomes = [item.outcome for item in records if item.outcome is not None]
    won, early = (np.array([float(outcome[name]) for outcome in outcomes]) for name in ("won", "ended_early"))
    none = np.zeros(len(records))
    return Tally(
        score=np.array([item.won_score for item in records]),
        returns=np.array([item.returns[0] for item in records]),
        won=won,
        early=early,
        success_early=won * early,
        length=np.array([float(item.length) for item in records]),
        moves=none,
        border=none,
    )


def test_figures_are_those_of_the_same_games_recorded_one_by_one() -> None:
    rng = random.Random(0)
    names = ("a", "b", "c")
    games = {seats: [record(seats, deal, rng) for deal in range(DEALS)] for seats in product(names, repeat=2)}
    ours = summary({seats: tally(records) for seats, records in games.items()}, INFO, names)
    agents = CrossPlayConfig(INFO.id, tuple(AgentSpec("random", name) for name in names))
    theirs = cross_play.summary(agents, [item for records in games.values() for item in records], {}, 54)
    for one, other in ((ours.self_play, theirs.self_play), (ours.cross_play, theirs.cross_play)):
        assert flat(one) == pytest.approx(flat(other), nan_ok=True)
    assert flat(ours.gap) == pytest.approx(flat(theirs.gap))
    assert [result.lineup for result in ours.table.lineups] == [result.lineup for result in theirs.table.lineups]
    for mine, yours in zip(ours.table.lineups, theirs.table.lineups, strict=True):
        assert (mine.games, mine.deals) == (yours.games, yours.deals)
        assert flat(mine.cooperation) == pytest.approx(flat(yours.cooperation), nan_ok=True)
    for row, wanted in zip(ours.table.matrix, theirs.table.matrix, strict=True):
        assert [flat(cell) for cell in row] == [pytest.approx(flat(cell)) for cell in wanted]
    assert ours.table.games == theirs.table.games == ours.played == 54


def test_lineups_of_which_not_all_have_equally_many_seatings_are_summed_up() -> None:
    """With three players and many seeds some seatings are drawn: the means over lineups are then no whole counts."""

    def all_won(*early: float) -> Tally:
        ended = np.array(early)
        return Tally(**dict.fromkeys(FIELDS, np.zeros(4)) | {"won": ended, "early": ended, "success_early": ended})

    played = {
        ("a", "b", "c"): all_won(1, 0, 1, 0),
        ("a", "c", "b"): all_won(0, 0, 1, 0),
        ("b", "c", "d"): all_won(0, 1, 0, 0),
        ("a", "b", "d"): all_won(0, 0, 0, 0),
    }
    found = summary(played, registry.make("yokai-9c-3p").info, ("a", "b", "c", "d")).cross_play
    assert found is not None
    assert found.won_given_early is not None
    assert found.won_given_early.mean == pytest.approx(1.0)


def flat(found: Any) -> list[float]:
    """Returns all numbers of an estimate or of several."""
    if hasattr(found, "mean"):
        return [found.mean, found.standard_error or 0.0, found.low, found.high, float(found.n)]
    return [number for name in vars(found) for number in flat(getattr(found, name))]
