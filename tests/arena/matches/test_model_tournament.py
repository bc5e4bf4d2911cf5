import textwrap
from dataclasses import replace
from typing import Any

import pytest

from arena.machine.runtime import Runtime
from arena.matches import model_tournament
from arena.matches.lineups import lone_and_rest
from arena.matches.model_tournament import ModelTournament, play_on_model
from cwm.functions.types import Entrant
from cwm.model.bundle import ModelBundle, describe
from cwm.synthesis import candidate
from games.api import GameInfo
from search.api import PlannerConfig

NIM = textwrap.dedent(
    """
    def get_current_player(state):
        return -4 if state["left"] == 0 else state["turn"]

    def get_player_name(player_id):
        return {-1: "chance", -4: "terminal"}.get(player_id, f"player {player_id}")

    def get_legal_actions(state):
        return [f"take {n}" for n in (1, 2, 3) if n <= state["left"]]

    def get_chance_outcomes(state):
        return []

    def apply_action(state, action):
        return {"left": state["left"] - int(action.split()[1]), "turn": 1 - state["turn"]}

    def get_rewards(state):
        if state["left"]:
            return [0.0, 0.0]
        return [-1.0, 1.0] if state["turn"] == 0 else [1.0, -1.0]

    def get_observations(state):
        return [dict(state), dict(state)]
    """
)
GOOD = textwrap.dedent(
    """
    def value_function(state, player_id):
        if state["left"] == 0:
            return get_rewards(state)[player_id]
        good = 1.0 if state["left"] % 4 else -1.0
        return good if state["turn"] == player_id else -good
    """
)
"""Exact: whoever moves wins unless the sticks left are a multiple of four."""
BAD = GOOD.replace("1.0 if state", "-1.0 if state").replace("else -1.0", "else 1.0")
CRASHING = "def value_function(state, player_id):\n    import os\n    os._exit(1)\n"


def tournament(source: str = NIM, **settings: Any) -> ModelTournament:
    info = GameInfo("nim", 2, "win_loss_draw", -1.0, 1.0, True, False, ("player 0", "player 1"), 15)
    bundle = ModelBundle(source, None, {"left": 15, "turn": 0}, describe(info), "rules")
    return ModelTournament(bundle, PlannerConfig(simulations=12, rollouts=1), **{"deals": 3, **settings})


def test_exact_value_function_beats_a_wrong_one_and_random_rollouts() -> None:
    rollouts, good, bad = tournament(deals=6).play([Entrant(), Entrant(GOOD), Entrant(BAD)])
    assert good > 0 > max(rollouts, bad)
    assert rollouts + good + bad == pytest.approx(0.0)


def test_scores_depend_on_the_seed_alone_and_not_on_the_workers() -> None:
    assert tournament().play([Entrant(), Entrant(GOOD)]) == tournament(workers=2).play([Entrant(), Entrant(GOOD)])


def test_all_lineups_meet_the_same_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[dict[str, Any]] = []

    def noted(job: dict[str, Any]) -> dict[str, Any]:
        jobs.append(job)
        return {"returns": [0.0, 0.0]}

    monkeypatch.setattr(model_tournament, "play_on_model", noted)
    tournament(deals=3).play([Entrant(), Entrant(GOOD), Entrant(BAD)])
    by_lineup: dict[tuple[int, ...], list[int]] = {}
    for job in jobs:
        by_lineup.setdefault(tuple(job["seats"]), []).append(job["deal_seed"])
    assert len(by_lineup) > 2
    (deals,) = {tuple(seeds) for seeds in by_lineup.values()}
    assert len(set(deals)) == 3


def test_scores_by_deal_are_those_of_the_whole_tournament() -> None:
    entrants = [Entrant(), Entrant(GOOD)]
    rows = tournament().play_deals(entrants, [0, 1, 2])
    assert [sum(row[index] for row in rows if row) / 3 for index in range(2)] == pytest.approx(
        tournament(deals=3).play(entrants)
    )
    assert tournament().play_deals(entrants, [2, 0]) == [rows[2], rows[0]]


@pytest.mark.parametrize(("apart", "played"), [(False, {(0, 0), (0, 1), (1, 0), (1, 1)}), (True, {(0, 0), (1, 1)})])
def test_where_players_cooperate_each_may_play_with_itself_alone(
    monkeypatch: pytest.MonkeyPatch, apart: bool, played: set[tuple[int, int]]
) -> None:
    seats: set[tuple[int, ...]] = set()

    def noted(job: dict[str, Any]) -> dict[str, Any]:
        seats.add(tuple(job["seats"]))
        return {"returns": [3.0, 3.0] if job["deal_seed"] != voided else []}

    monkeypatch.setattr(model_tournament, "play_on_model", noted)
    asked = tournament()
    together = replace(asked, bundle=replace(asked.bundle, info={**asked.bundle.info, "utility": "identical"}))
    voided = asked._job([Entrant(), Entrant()], (0, 0), 1)["deal_seed"]
    assert together.play_deals([Entrant(), Entrant(GOOD)], [0, 1], apart) == [[3.0, 3.0], None]
    assert seats == played


def test_value_function_that_ends_its_process_loses() -> None:
    assert tournament(deals=1).play([Entrant(GOOD), Entrant(CRASHING)]) == [1.0, -1.0]


def test_model_that_fails_as_the_referee_leaves_everyone_at_the_bottom() -> None:
    broken = NIM.replace('return {"left"', 'return 1 / 0 and {"left"')
    assert tournament(broken, deals=1).play([Entrant(), Entrant(GOOD)]) == [-1.0, -1.0]


def test_sandbox_that_is_not_to_be_had_is_no_score() -> None:
    with pytest.raises(candidate.TesterError, match="A tournament on the model broke"):
        tournament(runtime=Runtime(level="seatbelt")).play([Entrant(), Entrant(GOOD)])


def test_pairs_meet_in_all_seatings() -> None:
    assert list(lone_and_rest(2, 2, alone=False)) == [(0, 1), (1, 0)]
    assert list(lone_and_rest(2, 2, alone=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert list(lone_and_rest(2, 3, alone=False)) == [(0, 1, 1), (1, 1, 0), (1, 0, 1), (1, 0, 0), (0, 0, 1), (0, 1, 0)]


def test_game_that_ours_broke_is_played_again_and_never_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tournament().play([Entrant(), Entrant(GOOD)])
    played: list[str] = []

    def at_first_broken(job: dict[str, Any]) -> dict[str, Any]:
        played.append(job["key"])
        return {"fault": "no pipe"} if len(played) % 3 == 1 and len(played) < 8 else play_on_model(job)

    monkeypatch.setattr(model_tournament, "play_on_model", at_first_broken)
    assert tournament().play([Entrant(), Entrant(GOOD)]) == whole
    assert len(played) == len(set(played)) + 3


def test_game_that_ours_keeps_breaking_ends_the_tournament(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_tournament, "play_on_model", lambda job: {"fault": "no pipe"})
    with pytest.raises(candidate.TesterError, match="broke 3 times: no pipe"):
        tournament().play([Entrant(), Entrant(GOOD)])


BEST_MOVE = textwrap.dedent(
    """
    def policy_prior(state, legal_actions, player_id):
        best = f"take {state['left'] % 4}"
        weights = [100.0 if action == best else 1.0 for action in legal_actions]
        return [weight / sum(weights) for weight in weights]
    """
)
WITH_PRIOR = {"selection": "puct", "prior": "policy"}


def test_planner_with_a_good_prior_beats_those_without() -> None:
    entrants = [Entrant(), Entrant(settings={"selection": "puct"}), Entrant(prior=BEST_MOVE, settings=WITH_PRIOR)]
    none, uniform, prior = tournament(deals=6).play(entrants)
    assert prior > 0.0
    assert prior > max(none, uniform)
    assert none + uniform + prior == pytest.approx(0.0)


def test_prior_stands_beside_a_value_function() -> None:
    entrants = [Entrant(GOOD), Entrant(GOOD, BEST_MOVE, WITH_PRIOR), Entrant(CRASHING, BEST_MOVE, WITH_PRIOR)]
    assert tournament(deals=1).play(entrants)[2] == -1.0


def test_games_of_value_functions_alone_keep_their_keys_and_others_have_their_own() -> None:
    asked = tournament()
    plain = asked._job([Entrant(), Entrant(GOOD)], (0, 1), 0)
    assert "beyond_value" not in plain
    assert "prior_source" not in plain["model"]
    keys = {plain["key"]}
    for second in (Entrant(GOOD, BEST_MOVE, WITH_PRIOR), Entrant(GOOD, settings={"selection": "puct"})):
        keys.add(asked._job([Entrant(), second], (0, 1), 0)["key"])
    assert len(keys) == 3
