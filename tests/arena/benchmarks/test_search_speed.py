"""What the speed benchmark times: positions with a choice, and programs that have cached nothing."""

import textwrap
from dataclasses import asdict

import pytest

from arena.benchmarks.search_speed import model_rate, one_rollout, situations
from cwm.model_bundle import ModelBundle
from games import registry

FORGETFUL = textwrap.dedent(
    """
    ASKED = []

    def get_current_player(state):
        ASKED.append(state)
        if len(ASKED) > 20:
            raise RuntimeError("asked too often for one worker")
        return -4 if len(state["said"]) == 2 else len(state["said"])

    def get_player_name(player_id):
        return "someone"

    def get_legal_actions(state):
        return ["red", "blue"] if len(state["said"]) < 2 else []

    def get_chance_outcomes(state):
        return []

    def apply_action(state, action):
        return {"said": state["said"] + [action]}

    def get_rewards(state):
        paid = float(len(state["said"]) == 2 and len(set(state["said"])) == 1)
        return [paid, paid]

    def get_observations(state):
        return [state, state]
    """
)


@pytest.mark.parametrize("game_id", ["tic_tac_toe", "connect_four", "yokai-9c-2p"])
def test_every_timed_position_leaves_a_choice_and_is_of_a_game_of_its_own(game_id: str) -> None:
    game = registry.make(game_id)
    found = situations(game, 30, seed=1)
    assert [situation.position.player for situation in situations(game, 30, seed=1)] == [
        situation.position.player for situation in found
    ]
    assert all(len(game.legal_actions(situation.native)) > 1 for situation in found)
    assert len(found) == 30


def test_game_without_choices_is_refused(pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair, "legal_actions", lambda state: ["red"] if pair.current_player(state) >= 0 else [])
    with pytest.raises(ValueError, match="only 0 of the 2 positions"):
        situations(pair, 2, seed=0)


def test_each_timing_of_a_model_starts_a_fresh_worker(pair) -> None:
    bundle = ModelBundle(FORGETFUL, None, {"said": []}, asdict(pair.info), "")
    found = situations(pair, 3, seed=0)
    measure = model_rate(bundle, one_rollout(pair, 100), found)
    assert all(measure() > 0.0 for _ in range(3))
    # What two timings ask is too much for one worker of this program.
    with pytest.raises(RuntimeError, match=r"the model failed under the planner|gave up"):
        model_rate(bundle, one_rollout(pair, 100), found * 2)()
