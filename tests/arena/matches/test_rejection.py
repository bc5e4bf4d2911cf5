"""Rejection of bad models among several syntheses: each way of being bad is seen, and good ones are kept."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.machine.runtime import Runtime
from arena.matches import rejection
from arena.matches.rejection import (
    Contestant,
    MemoryMatches,
    Rejection,
    RejectionConfig,
    RejectionTournament,
    play_hosted,
)
from cwm.model.bundle import ModelBundle, describe
from cwm.synthesis import candidate
from games import registry
from games.api import state_to_json
from search.api import PlannerConfig

PROGRAM = Path(__file__).resolve().parents[2] / "data" / "hidden_programs" / "kuhn_poker.py"
GOOD = PROGRAM.read_text(encoding="utf-8").replace("last_is_terminal)", "last_is_terminal=False)")
CRASHING = GOOD.replace(
    '    over = betting in (["Pass", "Pass"]',
    '    assert betting[:2] != ["Pass", "Bet"]\n    over = betting in (["Pass", "Pass"]',
)
"""Fails after a pass and a bet."""
IMPOSSIBLE = GOOD.replace('*seen["betting"]]', '"Raise", "Raise"]')
"""Its inference function returns histories that nobody can play."""
INVERTED = GOOD.replace("return [won, -won] if winner == 0", "return [won, -won] if winner == 1")
"""Pays each player what the other one won."""
ILLEGAL = (
    GOOD.replace('["Pass", "Bet"]\n\n\ndef get_chance', '["Pass", "Bet", "Win"]\n\n\ndef get_chance')
    .replace(
        'chips = state["contributions"]',
        'chips = state["contributions"]\n'
        '    if "Win" in state["betting"]:\n'
        '        return [2.0, -2.0] if state["betting"].index("Win") % 2 == 0 else [-2.0, 2.0]',
    )
    .replace("over = betting in", 'over = "Win" in betting or betting in')
)
"""Knows an action that wins at once, and that no other model has."""
SLEEPING = GOOD.replace("def get_rewards(state):", "def get_rewards(state):\n    while True:\n        pass")
PLANNER = PlannerConfig(algorithm="ismcts", exploration=0.3)


def bundle(source: str) -> ModelBundle:
    game = registry.make("kuhn_poker")
    initial = state_to_json(game, game.initial_state())
    return ModelBundle(source, None, initial, describe(game.info), "rules")


def contestants(*sources: str) -> list[Contestant]:
    """Returns models named by their place; those that are not good fail some of their unit tests."""
    return [
        Contestant(f"s{index}", bundle(source), 1.0 if source.startswith(GOOD) else 0.8)
        for index, source in enumerate(sources)
    ]


def tournament(*sources: str, **settings: Any) -> RejectionTournament:
    config = RejectionConfig(**{"repetitions": 10, "simulations": 20, **settings})
    return RejectionTournament(contestants(*sources), PLANNER, config, Runtime(move_timeout_s=2.0))


def rejected(found: Rejection) -> list[str]:
    return [standing.name for standing in found.standings if standing.rejected]


@pytest.mark.parametrize("bad", [CRASHING, IMPOSSIBLE, ILLEGAL], ids=["crashing", "impossible", "illegal"])
def test_model_that_fails_while_it_plays_is_rejected(bad: str) -> None:
    assert bad != GOOD
    found = tournament(GOOD, GOOD, bad, GOOD, GOOD).run()
    assert rejected(found) == ["s2"]
    assert found.standings[2].failures
    assert all(not standing.failures for standing in found.standings if standing.name != "s2")


def test_model_with_inverted_payoffs_is_rejected_without_any_failure() -> None:
    assert INVERTED != GOOD
    found = tournament(GOOD, GOOD, GOOD, INVERTED, GOOD).run()
    assert rejected(found) == ["s3"]
    assert found.standings[3].failures == {}
    assert found.standings[3].payoff < 0 < found.standings[0].payoff


def test_model_that_never_answers_times_out_and_is_rejected() -> None:
    found = RejectionTournament(
        contestants(GOOD, GOOD, SLEEPING),
        PLANNER,
        RejectionConfig(repetitions=1, simulations=5),
        Runtime(move_timeout_s=0.3),
    ).run()
    assert rejected(found) == ["s2"]
    assert set(found.standings[2].failures) == {"timeout"}


def test_five_equal_models_are_all_kept() -> None:
    found = tournament(*[GOOD] * 5).run()
    assert rejected(found) == []
    assert {standing.payoff for standing in found.standings} == {0.0}


def test_good_models_of_different_text_are_all_kept() -> None:
    found = tournament(*[f"{GOOD}\n# {number}\n" for number in range(3)], repetitions=4).run()
    assert rejected(found) == []


def test_every_planner_sits_at_both_places_against_all_on_both_hosts() -> None:
    asked = tournament(*[f"{GOOD}\n# {number}\n" for number in range(5)], repetitions=3)
    matches = list(asked._matches())
    assert len(matches) == 3 * 2 * 5 * 5
    assert len({match.key for match in matches}) == len(matches)
    assert len({match.deal for match in matches}) == 3
    assert {match.host for match in matches} == set(asked.hosts())
    assert {match.seats for match in matches} == {(one, two) for one in range(5) for two in range(5)}


def test_failure_loses_the_match_for_both() -> None:
    found = tournament(GOOD, GOOD, IMPOSSIBLE, repetitions=2).run()
    assert found.observed[0] == -2.0
    # The bad model loses all its matches; the good ones lose those with it, a third of theirs, and their own sum to 0.
    assert [standing.payoff for standing in found.standings] == pytest.approx([-2 / 3, -2 / 3, -2.0])
    assert [standing.seats for standing in found.standings] == [24, 24, 24]
    errors = [standing.standard_error for standing in found.standings]
    assert errors[0] == errors[1] is not None
    assert errors[2] == 0.0


def test_only_models_that_fall_behind_by_more_than_the_tolerance_are_rejected() -> None:
    asked = tournament(GOOD, GOOD, IMPOSSIBLE, repetitions=2)
    found = asked.run()
    gap = (found.standings[0].payoff - found.standings[2].payoff) / (found.observed[1] - found.observed[0])
    for tolerance, expected in ((gap - 0.01, ["s2"]), (gap + 0.01, [])):
        again = replace(asked, config=replace(asked.config, tolerance=tolerance)).run()
        assert rejected(again) == expected


def test_hosts_are_drawn_among_the_models_that_pass_most_of_their_tests() -> None:
    models = [Contestant(f"s{index}", bundle(GOOD), accuracy) for index, accuracy in enumerate((0.5, 1.0, 0.9, 1.0))]
    assert RejectionTournament(models, PLANNER).hosts() == [1, 3]
    equal = [replace(model, accuracy=None) for model in models]
    drawn = {tuple(RejectionTournament(equal, PLANNER, RejectionConfig(seed=seed)).hosts()) for seed in range(100)}
    assert drawn == {(one, two) for one in range(4) for two in range(one + 1, 4)}


def test_host_that_fails_loses_the_match_for_both_and_is_named() -> None:
    models = [Contestant("s0", bundle(CRASHING), 1.0), Contestant("s1", bundle(GOOD), 0.5)]
    found = RejectionTournament(models, PLANNER, RejectionConfig(hosts=1, repetitions=6, simulations=20)).run()
    assert found.hosts == ("s0",)
    assert any(cause.startswith("host: ") for cause in found.standings[0].failures)
    assert found.standings[1].failures == {}


def test_result_depends_neither_on_the_workers_nor_on_an_interruption() -> None:
    asked = tournament(GOOD, f"{GOOD}\n# other\n", CRASHING, repetitions=1)
    whole = asked.run()
    assert replace(asked, workers=2).run() == whole

    kept = MemoryMatches()

    def interrupted(done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asked.run(kept, interrupted)
    assert len(kept.kept) == 5
    told: list[tuple[int, int]] = []
    assert asked.run(kept, lambda done, total: told.append((done, total))) == whole
    assert told == [(done, 18) for done in range(5, 19)]


def test_another_seed_plays_other_matches() -> None:
    first, second = tournament(GOOD, INVERTED), tournament(GOOD, INVERTED, seed=1)
    assert {match.key for match in first._matches()}.isdisjoint(match.key for match in second._matches())


def test_match_that_ours_broke_is_played_again_and_never_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tournament(GOOD, INVERTED, repetitions=2)
    whole = asked.run()
    broken: list[str] = []

    def at_first_broken(job: dict[str, Any]) -> dict[str, Any]:
        if job["key"] in broken:
            return play_hosted(job)
        broken.append(job["key"])
        return {"fault": "no pipe"}

    monkeypatch.setattr(rejection, "play_hosted", at_first_broken)
    assert asked.run() == whole


def test_match_that_ours_keeps_breaking_ends_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejection, "play_hosted", lambda job: {"fault": "no pipe"})
    with pytest.raises(candidate.TesterError, match="broke 3 times: no pipe"):
        tournament(GOOD, INVERTED, repetitions=1).run()


@pytest.mark.parametrize(
    ("function", "answer", "cause"),
    [
        ("get_current_player", "5", "bad_value"),
        ("get_current_player", "-2", "bad_value"),
        ("get_rewards", "[1.0]", "bad_value"),
        ("get_rewards", "[10**400, 0.0]", "bad_value"),
        ("get_rewards", "[1e308, 1e308]", "contract"),
        ("get_legal_actions", "[]", "bad_value"),
        ("get_legal_actions", "[1, 2]", "bad_value"),
        ("get_chance_outcomes", "[]", "bad_value"),
        ("get_chance_outcomes", '[["J J", 0.0]]', "bad_value"),
        ("get_chance_outcomes", "[[[], 1.0]]", "bad_value"),
        ("get_observations", "[]", "bad_value"),
    ],
)
def test_host_whose_answers_are_none_fails_and_breaks_nothing(function: str, answer: str, cause: str) -> None:
    host = bundle(f"{GOOD}\n\ndef {function}(state):\n    return {answer}\n")
    planner = replace(PLANNER, simulations=2, rollouts=1).to_json()
    job = {
        "key": "match",
        "host": rejection._model(host),
        "seats": [[rejection._model(bundle(GOOD)), planner]] * 2,
        "deal_seed": 3,
        "runtime": Runtime(move_timeout_s=20.0).to_json(),
    }
    assert play_hosted(job) == {"returns": [-2.0, -2.0], "failures": [["host", cause]]}
