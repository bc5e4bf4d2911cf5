"""Moves of stored games are valued once, agree with the ratings of who played, and survive an interruption."""

from pathlib import Path
from typing import Any

import pytest

from arena.decisions import agreement, search_ratings, walk
from arena.decisions.agreement import kendall_tau
from arena.decisions.search_ratings import RateConfig, rate
from arena.decisions.walk import TakenDecision
from arena.language_players.turn_record import TurnRecord
from arena.matches.replay import RecordError
from arena.usage import UsageError
from games.api import Game, State
from search.api import PlannerConfigError
from tests.arena.decisions import told

FAST = RateConfig(worlds=4)


def test_kendalls_tau_counts_pairs_and_ties() -> None:
    assert kendall_tau([1, 2, 3, 4], [10, 20, 30, 40]) == 1
    assert kendall_tau([1, 2, 3, 4], [4, 3, 2, 1]) == -1
    # With ties as scipy.stats.kendalltau has it.
    assert kendall_tau([1, 2, 3, 2], [1, 1, 2, 3]) == pytest.approx(0.4, abs=1e-12)
    assert kendall_tau([1, 1, 1], [1, 2, 3]) is None
    assert kendall_tau([1.0], [2.0]) is None


def test_every_decision_is_valued_once_and_read_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = told.play(tmp_path, deals=2)
    first = rate(place, FAST)
    decisions = [item for key, record in place.games.items() for item in walk.decisions(key, record)]
    assert [item.decision for item in first.rated] == decisions
    assert first.failed == []
    assert all(item.decision.action in item.by_action for item in first.rated)
    monkeypatch.setattr(search_ratings, "rate_job", None)
    assert [item.values for item in rate(place, FAST).rated] == [item.values for item in first.rated]


def test_what_was_rated_before_an_interruption_is_not_rated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, asked, real = told.play(tmp_path), [], search_ratings.rate_job

    def stopping(job: dict[str, Any]) -> dict[str, Any]:
        asked.append(job["key"])
        if len(asked) == 4:
            raise KeyboardInterrupt
        return real(job)

    monkeypatch.setattr(search_ratings, "rate_job", stopping)
    with pytest.raises(KeyboardInterrupt):
        rate(place, FAST)
    rated = rate(place, FAST).rated
    assert asked[4] == asked[3]
    assert len(set(asked)) == len(asked) - 1 == len(rated)


def test_one_who_sees_all_is_kept_apart_and_more_worlds_are_preferred(tmp_path: Path) -> None:
    place = told.play(tmp_path)
    for config in (FAST, RateConfig(worlds=6), RateConfig(worlds=4, clairvoyant=True)):
        rate(place, config)
    kept = search_ratings.stored(place)
    decision = walk.decisions(*next(iter(place.games.items())))[0]
    key = search_ratings.position_key(place, decision)
    assert kept[key, False]["config"]["worlds"] == 6
    assert kept[key, True]["config"]["worlds"] == 4


def best_first(game: Game, decision: TakenDecision, state: State) -> TurnRecord:
    """Rates the chosen move 1 and all others lower, one after the other; leaves one unrated."""
    legal = game.legal_actions(state)
    ratings = [(move, 1.0 if move == decision.action else -number / 20) for number, move in enumerate(legal)]
    unrated = next((move for move in legal if move != decision.action), None)
    return TurnRecord(0, None, tuple((move, None if move == unrated else rating) for move, rating in ratings))


def test_figures_are_of_those_who_rate_and_of_their_scaffolds(tmp_path: Path) -> None:
    place = told.tell(told.play(tmp_path, deals=2), best_first)
    rated = rate(place, FAST).rated
    (row,) = agreement.by_scaffold(rated)
    assert row.who == "mycroft"
    assert row.top is not None
    assert (row.top.mean, row.top.n) == (1.0, len(rated))
    (agent,) = agreement.by_agent(rated)
    assert agent.tau == row.tau
    taus = []
    for item in rated:
        assert item.decision.kept is not None
        own = {move: rating for move, rating in item.decision.kept.ratings if rating is not None}
        tau = kendall_tau(list(own.values()), [item.by_action[move] for move in own])
        taus += [] if tau is None else [tau]
    assert row.tau is not None
    assert (row.tau.mean, row.tau.n) == (pytest.approx(sum(taus) / len(taus)), len(taus))
    regrets = [item.regret for item in rated if len(item.values) > 1 and item.regret is not None]
    assert row.regret is not None
    assert row.regret.mean == pytest.approx(sum(regrets) / len(regrets))


def test_the_command_tells_regret_and_agreement_and_goes_on_where_it_was(cwm: Any, tmp_path: Path) -> None:
    told.tell(told.play(tmp_path / "run"), best_first)
    found = cwm("rate", tmp_path / "run", "--worlds", "4", "--json").json
    assert found["failed"] == 0
    assert found["scaffolds"][0]["who"] == "mycroft"
    assert {row["agent"] for row in found["decisions"]} == {"partner:simple"}
    shown = cwm("rate", tmp_path / "run", "--worlds", "4")
    assert "Moves by agent: 4 sampled worlds, partner:simple plays on" in shown.out
    assert "Moves by scaffold: 4 sampled worlds" in shown.out
    assert "4 true worlds" in cwm("rate", tmp_path / "run", "--worlds", "4", "--clairvoyant").out


def test_what_cannot_be_rated_is_said_in_a_sentence(refused: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    place = told.play(run)
    assert "holds no games: games.sqlite is missing" in refused("rate", tmp_path / "nowhere").err
    assert "Nobody called 'me' played: the agents are partner:simple." in refused("rate", run, "--agent", "me").err
    assert "nobody called 'simple' plays hanabi-tiny-2p on: choose policy, random, partner:blind" in (
        refused("rate", run, "--by", "simple").err
    )
    with pytest.raises(PlannerConfigError, match="worlds is 1"):
        rate(place, RateConfig(worlds=1))
    with search_ratings._writing(run), pytest.raises(UsageError, match="Another process rates the decisions of"):
        rate(place, FAST)


def test_a_kept_decision_that_is_not_of_its_game_is_named(tmp_path: Path) -> None:
    place = told.tell(told.play(tmp_path), best_first)
    key, record = next(iter(place.games.items()))
    record.accounts["0"]["turns"][0]["action"] = "(Play 9)"
    with pytest.raises(RecordError, match=r"keeps another move of action \d+ than"):
        walk.decisions(key, record)
    record.accounts["0"]["turns"][0] = {"action": "(Play 0)"}
    with pytest.raises(RecordError, match="keeps a decision that cannot be read"):
        walk.decisions(key, record)
