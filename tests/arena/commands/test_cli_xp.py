from pathlib import Path
from typing import Any

ALONE = ("--games", "2", "--workers", "1")


def test_cross_play_of_partners_prints_one_document_and_a_page(cwm: Any, tmp_path: Path) -> None:
    page = tmp_path / "xp.html"
    options = ("--agent", "partner:heuristic", "--agent", "partner:end-at-once", "--games", "2", "--html", str(page))
    found = cwm("xp", "yokai-9c-2p", *options, "--json").json
    assert found["table"]["games"] == 6
    assert found["self_play"]["length"]["n"] == 2
    assert found["ablations"] == {}
    assert "Cross-play on yokai-9c-2p" in page.read_text(encoding="utf-8")


def test_cross_play_without_agents_says_what_to_give(refused: Any) -> None:
    assert "No recorded model ships for yokai-8c-2p: give agents with --agent." in refused("xp", "yokai-8c-2p").err


def test_game_that_is_not_cooperative_shows_payoffs_alone(cwm: Any) -> None:
    shown = cwm("xp", "kuhn_poker", "--agent", "random", "--agent", "random:name=other", *ALONE).out
    assert "Return of the row's agent" in shown
    assert "SEE" not in shown


def test_cooperative_game_shows_every_lineup_and_the_sum(cwm: Any) -> None:
    options = ("--agent", "partner:heuristic", "--agent", "partner:end-at-once", *ALONE)
    shown = cwm("xp", "yokai-9c-2p", *options).out
    for part in ("Self-play", "Cross-play", "All lineups"):
        assert part in shown


def test_a_fit_without_a_policy_prior_is_refused_before_anything_is_played(refused: Any) -> None:
    told = refused("xp", "yokai-9c-2p", "--agent", "partner:heuristic", "--fit", *ALONE).err
    assert "--fit reads partners by the policy prior of a model, and no agent has one" in told
