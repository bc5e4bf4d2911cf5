"""Comparisons of a planner on a model with the same planner on the true game."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.agents.specs import AgentSpec
from arena.comparison import equivalence
from arena.comparison.equivalence import CWM, TRUE, EquivalenceConfig, compare, difference_estimate, margin_of, verdict
from arena.figures.intervals import Estimate, mean_estimate
from arena.matches import plan
from arena.matches.match import Forfeit, GameRecord
from arena.matches.plan import TournamentError
from arena.matches.tournament import Progress
from cwm.llm import recordings
from cwm.model.bundle import ModelBundle, describe
from games import registry
from games.api import state_to_json

Builder = Callable[..., GameRecord]


def model(folder: Path, source: str) -> str:
    """Stores a program as a model of tic-tac-toe and returns its folder."""
    game = registry.make("tic_tac_toe")
    initial = state_to_json(game, game.initial_state())
    ModelBundle(source, None, initial, describe(game.info), "rules").save(folder)
    return str(folder)


def inverted(program: str) -> str:
    """Returns the program with the payoffs of the two players exchanged."""
    renamed, count = re.subn(r"def get_rewards\(", "def _paid(", program)
    assert count == 1
    return renamed + "\n\ndef get_rewards(state):\n    return list(reversed(_paid(state)))\n"


@pytest.fixture
def right(tmp_path: Path, right_program: str) -> EquivalenceConfig:
    return EquivalenceConfig("tic_tac_toe", model(tmp_path / "right", right_program), deals=3, simulations=20)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.19, 0.19, "equal"),
        (0.0, 0.19, "equal"),
        (0.05, 0.15, "inside ±δ, not zero"),
        (-0.19, -0.01, "inside ±δ, not zero"),
        (-0.2, 0.1, "not shown"),
        (-0.1, 0.3, "not shown"),
        (0.1, 0.9, "not shown"),
        (0.21, 0.9, "different"),
        (-0.9, -0.21, "different"),
    ],
)
def test_verdict_is_equal_only_where_the_whole_interval_lies_inside_the_margin(
    low: float, high: float, expected: str
) -> None:
    assert verdict(Estimate((low + high) / 2, 0.1, low, high, 50), 0.2) == expected


def test_one_deal_or_none_shows_nothing() -> None:
    assert verdict(None, 0.2) == "not shown"
    assert verdict(mean_estimate([0.0]), 0.2) == "not shown"


def test_deals_without_any_difference_still_leave_an_interval_that_shrinks_with_their_number() -> None:
    few, many = difference_estimate([0.0] * 10, 2.0), difference_estimate([0.0] * 100, 2.0)
    assert few is not None
    assert many is not None
    # Wilson's upper end for none of n is z² / (n + z²).
    assert few.high == pytest.approx(2 * 3.8415 / 13.8415, abs=1e-4)
    assert (many.low, many.high) == pytest.approx((-2 * 3.8415 / 103.8415, 2 * 3.8415 / 103.8415), abs=1e-4)
    assert (few.mean, many.mean) == (0.0, 0.0)


def test_deals_that_differ_often_enough_are_judged_by_their_spread_alone() -> None:
    differences = [1.0, -1.0] * 10
    assert difference_estimate(differences, 2.0) == mean_estimate(differences)
    assert difference_estimate([], 2.0) is None


def game(record: Builder, seats: list[str], returns: list[float], deal: int, **settings: Any) -> GameRecord:
    return replace(record(" ".join("x" for _ in seats), returns, deal, **settings), seats=tuple(seats))


def test_both_planners_judge_leaves_alike_whatever_functions_the_model_and_the_game_have(tmp_path: Path) -> None:
    game = registry.make("yokai-9c-2p")
    bundle = ModelBundle(
        "# a model", "# its value function", {}, describe(game.info), "rules", prior_source="# its prior"
    )
    bundle.save(tmp_path)
    own, other = EquivalenceConfig("yokai-9c-2p", str(tmp_path)).prepared().agents
    assert (own.name, other.name) == (CWM, TRUE)
    assert own.planner is not None
    assert own.planner["leaf"] == "rollout"
    assert own.planner_config(False) == other.planner_config(False)


def test_head_to_head_takes_both_seatings_of_a_deal_together(right: EquivalenceConfig, record: Builder) -> None:
    found = compare(
        right.prepared(),
        [
            game(record, [CWM, TRUE], [1.0, -1.0], 1),
            game(record, [TRUE, CWM], [1.0, -1.0], 1),
            game(record, [CWM, TRUE], [1.0, -1.0], 2),
            game(record, [TRUE, CWM], [0.0, 0.0], 2),
            # The other seating of this deal is still to be played.
            game(record, [CWM, TRUE], [1.0, -1.0], 3),
        ],
    )
    assert (found.deals, found.different_deals, found.games) == (2, 1, 5)
    assert found.cwm is not None
    assert found.true is not None
    assert found.difference is not None
    assert (found.cwm.mean, found.true.mean, found.difference.mean) == pytest.approx((0.25, -0.25, 0.5))


def test_forfeits_count_as_what_they_cost_and_are_shown(right: EquivalenceConfig, record: Builder) -> None:
    lost = Forfeit(1, "illegal", "no such move")
    found = compare(
        right.prepared(),
        [
            game(record, [TRUE, CWM], [1.0, -1.0], 1, forfeit=lost),
            game(record, [CWM, TRUE], [-1.0, 1.0], 1),
        ],
    )
    assert found.difference is not None
    assert found.difference.mean == -2.0
    assert found.forfeits == {CWM: 1, TRUE: 0}


def test_partners_are_compared_by_r_in_self_play_on_the_same_deals(record: Builder) -> None:
    config = plan.TournamentConfig(
        "yokai-9c-2p",
        (AgentSpec("cwm", CWM, model_hash="m"), AgentSpec("random", TRUE)),
        deals=2,
        lineups=((0, 0), (1, 1)),
    )
    won, lost = {"won": True, "score": 12.0, "ended_early": True}, {"won": False, "score": 9.0, "ended_early": True}
    found = compare(
        config,
        [
            game(record, [CWM, CWM], [12.0, 12.0], 1, outcome=won),
            game(record, [TRUE, TRUE], [-4.0, -4.0], 1, outcome=lost),
            game(record, [CWM, CWM], [12.0, 12.0], 2, outcome=won),
            game(record, [TRUE, TRUE], [12.0, 12.0], 2, outcome=won),
        ],
    )
    assert found.measure == "R in self-play"
    assert found.cwm is not None
    assert found.true is not None
    assert (found.cwm.mean, found.true.mean, found.deals) == (12.0, 6.0, 2)


def test_exact_model_plays_the_very_games_of_the_true_game(right: EquivalenceConfig) -> None:
    found = equivalence.run(replace(right, deals=36, simulations=5))
    assert (found.deals, found.different_deals, found.verdict) == (36, 0, "equal")
    assert found.forfeits == {CWM: 0, TRUE: 0}


def test_model_with_exchanged_payoffs_is_told_apart(tmp_path: Path, right_program: str) -> None:
    wrong = model(tmp_path / "wrong", inverted(right_program))
    found = equivalence.run(EquivalenceConfig("tic_tac_toe", wrong, deals=12, simulations=60))
    assert found.verdict == "different"
    assert found.difference is not None
    assert found.difference.mean < -1.0


def test_result_depends_neither_on_the_workers_nor_on_an_interruption(right: EquivalenceConfig, tmp_path: Path) -> None:
    whole = equivalence.run(right, workers=2)

    def interrupted(state: Progress) -> None:
        if state.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        equivalence.run(right, tmp_path / "kept", on_game=interrupted)
    played: list[int] = []
    found = equivalence.run(right, tmp_path / "kept", on_game=lambda state: played.append(state.done))
    assert played == [3, 4, 5, 6]
    assert found == whole


def test_more_deals_go_on_in_the_same_folder(right: EquivalenceConfig, tmp_path: Path) -> None:
    equivalence.run(right, tmp_path)
    played: list[int] = []
    found = equivalence.run(replace(right, deals=4), tmp_path, on_game=lambda state: played.append(state.done))
    assert (played, found.deals) == ([7, 8], 4)


def test_time_limit_stops_between_deals_and_keeps_whole_deals(right: EquivalenceConfig) -> None:
    found = equivalence.run(replace(right, deals=50, simulations=2), minutes=0.0)
    assert (found.deals, found.games) == (1, 2)


def test_no_deals_are_refused(right: EquivalenceConfig) -> None:
    with pytest.raises(TournamentError, match="at least one deal, not 0"):
        equivalence.run(replace(right, deals=0))


def test_every_game_with_a_recording_has_a_margin_within_a_tenth_of_its_range() -> None:
    for game_id in recordings.bundled_games():
        info = registry.make(game_id).info
        assert registry.describe(info.id).margin is not None
        assert 0 < margin_of(info).delta <= 0.11 * (info.max_utility - info.min_utility)


def test_game_without_a_stated_margin_gets_a_tenth_of_its_range() -> None:
    info = replace(registry.make("tic_tac_toe").info, id="other")
    assert margin_of(info).delta == pytest.approx(0.2)


def test_command_prints_the_table_the_reasons_and_json(
    cwm: Any, refused: Any, tmp_path: Path, right_program: str
) -> None:
    words = ["benchmark", "equivalence", "--model", model(tmp_path / "m", right_program), "--run", tmp_path / "games"]
    words += ["--deals", 3, "--simulations", 5, "--workers", 1, "--game", "tic_tac_toe"]
    shown = cwm(*words)
    assert shown.code == 0, shown.err
    assert "not shown" in shown.out
    assert "δ = 0.2 (tic_tac_toe): a tenth of the range" in shown.out
    (found,) = cwm(*words, "--json").json
    assert (found["game"], found["deals"], found["verdict"]) == ("tic_tac_toe", 3, "not shown")
    assert found["settings"]["simulations"] == 5
    assert refused(*words, "--game", "mnk").code == 2


def test_difference_larger_than_the_margin_is_a_negative_result(cwm: Any, tmp_path: Path, right_program: str) -> None:
    wrong = model(tmp_path / "m", inverted(right_program))
    words = ["benchmark", "equivalence", "--game", "tic_tac_toe", "--model", wrong, "--run", tmp_path / "games"]
    assert cwm(*words, "--deals", 12, "--simulations", 60, "--workers", 1, "--json").code == 1
