"""Beliefs along games: exact ones are exact, finished games are kept, bad wishes are refused in one sentence."""

import json
from pathlib import Path

import pytest

from arena.agents.specs import parse
from arena.posg import beliefs_page
from arena.posg.beliefs import BelievedGame, by_step, measure, over_a_game
from arena.usage import UsageError
from search.api import PlannerConfigError

SURE = parse("posg:ipomcp,types=H3+H6,sims=4,particles=20,name=sure")
BLIND = parse("posg:pomcp,sims=4,particles=20,name=blind")


@pytest.fixture(scope="module")
def games() -> list[BelievedGame]:
    return measure("cooperative-reaching", [SURE, BLIND], episodes=2, others=("H3", "H6"), seed=3)


def test_a_belief_is_held_against_the_truth(games: list[BelievedGame]) -> None:
    sure, blind = beliefs_page.by_agent(games).values()
    assert [game.others for game in sure] == [game.others for game in blind]
    assert {step.state for game in games for step in game.steps} == {1.0}, "all is seen"
    assert {step.contradicting for game in games for step in game.steps} == {0.0}
    first = by_step(sure, "type")[0][1]
    assert (first.mean, first.n) == (0.5, 2)
    assert max(step.type or 0.0 for step in sure[0].steps) == 1.0, "a best and a lesser goal lie apart"
    assert all(step.action == pytest.approx(0.2) for game in blind for step in game.steps)
    assert over_a_game(blind, "type") is None
    assert over_a_game(games, "parts") is None


def test_hidden_parts_are_those_that_the_game_names() -> None:
    agent = parse("posg:ipomcp,types=H1+H5,sims=2,particles=30,belief=inferred,unknown=.2,name=forager")
    (game,) = measure("foraging", [agent], episodes=1, others=("H2",), steps=4, seed=1)
    first = game.steps[0]
    assert first.type == pytest.approx(0.2, abs=0.04), "H2 is of no type that was named"
    # Own level and nothing else is known: nine values of ten, of which the level of the other is one in three.
    assert first.parts is not None
    assert 0.1 < first.parts < 0.5
    assert all((step.whole or 0.0) <= (step.parts or 0.0) for step in game.steps)
    assert (len(game.steps), game.fallbacks) == (4, 0)


@pytest.mark.slow
def test_foragers_know_most_levels_and_keep_nothing_that_contradicts_what_they_saw() -> None:
    """At least 0.65 of the belief in each level, whoever acts; in three games."""
    settings = "types=H1+H2+H3+H4+H5,particles=100,episodes=20,sims=100"
    agents = [parse(f"posg:potmmcp,{settings},belief={belief},name={belief}") for belief in ("inferred", "adapted")]
    found = beliefs_page.by_agent(measure("foraging", agents, episodes=3))
    known = over_a_game(found["inferred"], "parts")
    assert known is not None
    assert known.mean >= 0.65
    assert {step.contradicting for game in found["adapted"] for step in game.steps} == {0.0}
    assert sum(game.fallbacks for games in found.values() for game in games) == 0


def test_finished_games_are_not_played_again(tmp_path: Path, games: list[BelievedGame]) -> None:
    out = tmp_path / "kept.json"
    told: list[tuple[int, int]] = []
    first = measure("cooperative-reaching", [BLIND], episodes=1, others=("H3", "H6"), seed=3, out=out)
    assert first == [game for game in games if game.agent == "blind"][:1]
    kept = json.loads(out.read_text())
    kept["games"]["0 blind"]["returned"] = 0.125
    out.write_text(json.dumps(kept))
    again = measure(
        "cooperative-reaching",
        [BLIND],
        episodes=2,
        others=("H3", "H6"),
        seed=3,
        out=out,
        on_game=lambda done, total: told.append((done, total)),
    )
    assert again[0].returned == 0.125
    assert told == [(0, 2), (1, 2), (2, 2)]
    with pytest.raises(UsageError, match=r"keeps beliefs of .* give another file to the option `out`"):
        measure("cooperative-reaching", [BLIND], episodes=2, seed=4, out=out)


def test_table_and_page_tell_the_same(games: list[BelievedGame]) -> None:
    sheet = beliefs_page.sheet("cooperative-reaching", games)
    assert sheet.columns == [
        "agent", "games", "true state", "true type", "true action", "return", "contradicting", "fallbacks"
    ]  # fmt: skip
    assert [row[:3] for row in sheet.rows] == [("sure", 2, "1.00 ± 0.00"), ("blind", 2, "1.00 ± 0.00")]
    page = beliefs_page.render("cooperative-reaching", games)
    assert page.count("<figure>") == 3
    assert "1.00 ± 0.00" in page


def test_bad_wishes_are_refused() -> None:
    with pytest.raises(UsageError, match="agent 'random' has no belief to look at"):
        measure("tiger-2a", [parse("random")])
    with pytest.raises(UsageError, match="two agents have one name"):
        measure("tiger-2a", [parse("posg:pomcp"), parse("posg:pomcp")])
    with pytest.raises(PlannerConfigError, match="tiger-2a has no policy 'H9'; types may name uniform"):
        measure("tiger-2a", [parse("posg:pomcp")], others=("H9",))
