"""What the speed benchmark times: positions with a choice, and programs that have cached nothing."""

import textwrap
from dataclasses import asdict

import pytest

from arena.benchmarks import search_speed
from arena.benchmarks.search_speed import (
    SETTINGS,
    SearchSetting,
    SearchSpeed,
    in_turn,
    model_rate,
    one_rollout,
    situations,
    spiel_states,
    table,
)
from cwm.model.bundle import ModelBundle
from games import registry
from games.posg.registry import ids as simultaneous_ids

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


def test_each_timing_of_a_model_starts_a_fresh_worker(pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_speed, "MOST_WORKERS", 2)
    bundle = ModelBundle(FORGETFUL, None, {"said": []}, asdict(pair.info), "")
    found = situations(pair, 3, seed=0)
    measure = model_rate(bundle, one_rollout(pair, 100), found)
    assert all(measure() > 0.0 for _ in range(3))
    # What two timings ask is too much for one worker of this program.
    with pytest.raises(RuntimeError, match=r"the model failed under the planner|gave up"):
        model_rate(bundle, one_rollout(pair, 100), found * 2)()


@pytest.mark.parametrize("game_id", ["army5x5a", "quadranto", "leduc_poker", "backgammon"])
def test_the_bot_is_given_the_very_positions_that_our_planners_get(game_id: str) -> None:
    game = registry.make(game_id)
    found = situations(game, 3, seed=2)
    spiel, states = spiel_states(game, found)
    for situation, state in zip(found, states, strict=True):
        player = situation.position.player
        assert state.current_player() == player
        assert state.get_game().get_type().short_name == spiel.get_type().short_name
        # OpenSpiel may number one play twice, once for each order of its moves.
        names = {state.action_to_string(player, action) for action in state.legal_actions()}
        if game_id != "backgammon":
            assert len(names) == len(game.legal_actions(situation.native))


def test_searches_of_a_game_without_a_model_give_one_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_speed, "LEAST_S", 0.0)
    game = registry.make("tic_tac_toe")
    speed = in_turn(game, None, SearchSetting("tic_tac_toe", 5, 2, 2), seed=0)
    assert (speed.cwm, speed.cwm_ratio, speed.bot_game) == (None, None, "OpenSpiel's own game")
    assert min(speed.true, speed.bot, speed.true_ratio) > 0.0
    assert [item.name for item in speed.measurements()] == ["search/tic_tac_toe/true"]


def test_the_table_holds_three_rates_and_two_ratios_a_game() -> None:
    both = SearchSpeed("mine", 300.4, 1200.0, 100.0, 3.004, 12.0, "ours, registered with OpenSpiel", "2 positions")
    records = both.measurements()
    assert [(item.name, item.value, item.baseline, item.ratio) for item in records] == [
        ("search/mine/true", 1200.0, 100.0, 12.0),
        ("search/mine/cwm", 300.4, 100.0, 3.004),
    ]
    assert all("the bot plays ours" in item.note for item in records)
    columns = [list(column) for column in zip(*table([both]).rows, strict=True)]
    assert columns[:6] == [["mine"], ["300"], ["1,200"], ["100"], ["3.00"], ["12.00"]]


def test_every_game_with_a_name_of_its_own_is_timed() -> None:
    others = {f"yokai-{cards}c-{players}p" for cards in (9, 16) for players in (2, 3, 4)} | {"yokai-8c-2p"}
    others -= {"yokai-9c-2p"}
    others |= {name for name in registry.ids() if name.startswith("hanabi-")}
    others |= set(simultaneous_ids())
    assert {setting.game for setting in SETTINGS} == set(registry.ids()) - others
