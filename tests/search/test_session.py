import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from games import registry
from search import session
from search.api import PlannerConfigError

ROOT = Path(__file__).resolve().parents[2]
QUICK = {"algorithm": "ismcts", "simulations": 40, "rollouts": 1}


def test_choose_speaks_json_both_ways(pennies_game: Any) -> None:
    argument = {"config": QUICK, "player": 1, "history": [[{"sees": "high"}, None]], "state": None}
    result = session.choose(pennies_game, json.loads(json.dumps(argument)), random.Random(0))
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["action"] == "heads"
    assert result["simulations"] == 40
    assert set(result) >= {"visits", "values", "fallback", "belief", "errors", "seconds"}


def test_choose_on_a_given_state(tic_tac_toe: Any) -> None:
    argument = {"config": {"simulations": 200}, "player": 0, "history": [], "state": {"board": "xx.oo...."}}
    assert session.choose(tic_tac_toe, argument, random.Random(0))["action"] == "2"


def test_search_without_any_action_says_why(pennies_game: Any) -> None:
    argument = {"config": QUICK, "player": 1, "history": []}
    result = session.choose(pennies_game, argument, random.Random(0))
    assert result["action"] is None
    assert "history" in result["fallback"]


def test_games_are_played_in_all_rotations_of_the_seats_on_one_deal(pennies_game: Any) -> None:
    argument = {"seats": [QUICK, "random"], "games": 3, "rotations": True}
    records = session.play(pennies_game, argument, random.Random(1))["games"]
    assert [(record["deal"], record["rotation"], record["seats"]) for record in records] == [
        (deal, rotation, [rotation, 1 - rotation]) for deal in range(3) for rotation in range(2)
    ]
    assert all(record["ended"] and record["actions"] == 2 and sum(record["returns"]) == 0 for record in records)
    assert all(record["failure"] is None and record["errors"] == {} for record in records)


def test_search_beats_random_play(tic_tac_toe: Any) -> None:
    argument = {"seats": [{"simulations": 100, "rollouts": 1}, "random"], "games": 10, "rotations": True}
    records = session.play(tic_tac_toe, argument, random.Random(0))["games"]
    assert sum(record["returns"][record["seats"].index(0)] for record in records) >= 16


def test_first_games_do_not_depend_on_how_many_follow(pennies_game: Any) -> None:
    few, many = (
        session.play(pennies_game, {"seats": [QUICK, QUICK], "games": games}, random.Random(2))["games"]
        for games in (2, 4)
    )
    assert many[:2] == few


def test_game_is_cut_after_so_many_actions(tic_tac_toe: Any) -> None:
    argument = {"seats": ["random", "random"], "games": 1, "max_actions": 3}
    record = session.play(tic_tac_toe, argument, random.Random(0))["games"][0]
    assert (record["ended"], record["actions"]) == (False, 3)


def test_model_that_raises_ends_its_game_and_says_so(tic_tac_toe: Any) -> None:
    class Flawed(type(tic_tac_toe)):  # type: ignore[misc]
        def rewards(self, state: Any) -> list[float]:
            raise IndexError("off the board")

    record = session.play(Flawed(), {"seats": ["random", "random"], "games": 1}, random.Random(0))["games"][0]
    assert (record["ended"], record["failure"]) == (False, "IndexError: off the board")


def test_visited_steps_replay_on_the_game(pennies_game: Any) -> None:
    result = session.visited(pennies_game, {"seats": [QUICK, "random"], "games": 2}, random.Random(0))
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    for trajectory in result["trajectories"]:
        assert [step["player"] for step in trajectory["steps"]] == [-1, 0, 1, -4]
        state = pennies_game.initial_state()
        for step in trajectory["steps"]:
            assert step["state"] == state
            assert step["legal_actions"] == pennies_game.legal_actions(state)
            assert step["rewards"] == pennies_game.rewards(state)
            if step["action"] is not None:
                state = pennies_game.apply_action(state, step["action"])
        assert trajectory["steps"][-1]["action"] is None


def test_playouts_and_benchmark_count_what_they_ran(tic_tac_toe: Any) -> None:
    assert session.playouts(tic_tac_toe, {"games": 20}, random.Random(0))["games"] == 20
    position = {"player": 0, "history": [], "state": tic_tac_toe.initial_state()}
    argument = {"config": {"simulations": 30, "rollouts": 1}, "positions": [position] * 3}
    result = session.benchmark(tic_tac_toe, argument, random.Random(0))
    assert (result["simulations"], result["errors"], result["fallbacks"]) == (90, 0, 0)


@pytest.mark.parametrize("seats", [["random"], ["random", "clever"]])
def test_wrong_seats_are_refused(tic_tac_toe: Any, seats: list[str]) -> None:
    with pytest.raises(PlannerConfigError, match="seat"):
        session.play(tic_tac_toe, {"seats": seats, "games": 1}, random.Random(0))


READING = QUICK | {"belief_temper": 1.0, "belief_size": 20}


def leduc() -> Any:
    game: Any = registry.make("leduc_poker")
    game.policy = lambda state, actions, player: [1.0 / len(actions)] * len(actions)
    return game


def two_decisions(game: Any) -> list[dict[str, Any]]:
    """The first player's first two decisions in a game of Leduc."""
    state, history, found = game.initial_state(), [], []
    for action in ("Chance outcome:0", "Chance outcome:3", "Call", "Raise"):
        if game.current_player(state) == 0:
            found.append({"player": 0, "history": [*history, [game.observations(state)[0], None]]})
            history.append([game.observations(state)[0], action])
        state = game.apply_action(state, action)
    found.append({"player": 0, "history": [*history, [game.observations(state)[0], None]]})
    return found


def carried(game: Any, argument: dict[str, Any], config: dict[str, Any] = READING, seed: int = 0) -> int:
    result = session.choose(game, json.loads(json.dumps({"config": config, **argument})), random.Random(seed))
    assert result["fallback"] is None
    return int(result["belief"]["carried"])


def test_belief_is_carried_from_move_to_move_of_one_game() -> None:
    game = leduc()
    first, second = two_decisions(game)
    assert carried(game, first) == 0
    assert carried(game, second) > 0


def test_nothing_is_carried_to_another_game_setting_or_past() -> None:
    game = leduc()
    first, second = two_decisions(game)
    seen = first["history"][0][0] | {"money": [0, 0]}
    for other, argument, config in (
        (leduc(), second, READING),
        (game, second, READING | {"simulations": 41}),
        (game, {"player": 0, "history": first["history"]}, READING),
    ):
        assert carried(game, first) == 0
        assert carried(other, argument, config) == 0
    assert carried(game, first) == 0
    elsewhere = {"player": 0, "history": [[seen, "Call"], second["history"][1]]}
    result = session.choose(game, {"config": READING, **elsewhere}, random.Random(0))
    assert result["belief"]["carried"] == 0


def test_planner_whose_search_broke_off_is_not_used_again() -> None:
    game = leduc()
    first, second = two_decisions(game)
    assert carried(game, first) == 0
    assert session.choose(game, {"config": READING, "player": 0, "history": []}, random.Random(0))["action"] is None
    assert carried(game, second) == 0


def test_a_new_worker_in_mid_game_draws_anew() -> None:
    game = leduc()
    assert carried(game, two_decisions(game)[1]) == 0


def test_planner_is_not_kept_where_it_remembers_nothing() -> None:
    game = leduc()
    first, second = two_decisions(game)
    plain = [session.choose(game, {"config": QUICK, **own}, random.Random(1)) for own in (first, second)]
    alone = session.choose(leduc(), {"config": QUICK, **second}, random.Random(1))
    assert {**plain[1], "seconds": 0} == {**alone, "seconds": 0}


def test_belief_is_reported_when_asked_for_as_json() -> None:
    game = leduc()
    argument = {"config": READING, **two_decisions(game)[0]}
    assert "belief_states" not in session.choose(game, argument, random.Random(0))
    result = session.choose(game, argument | {"report_belief": True}, random.Random(0))
    assert json.loads(json.dumps(result)) == result
    assert sum(weight for weight, _ in result["belief_states"]) == pytest.approx(1.0)
    assert 1 <= len(result["belief_states"]) <= 20
    assert result["belief"]["effective"] == pytest.approx(20.0)


def test_games_between_planners_that_remember_are_the_same_however_many_follow() -> None:
    seats = [READING, READING]
    few, many = (
        session.play(leduc(), {"seats": seats, "games": games, "rotations": True}, random.Random(2))["games"]
        for games in (1, 3)
    )
    assert many[:2] == few
    assert all(record["fallbacks"] == [0, 0] and record["failure"] is None for record in many)


def test_payload_lists_every_module_after_those_it_imports() -> None:
    loaded: set[str] = set()
    for name in session.PAYLOAD:
        text = (ROOT / name.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8")
        for other in session.PAYLOAD:
            package, module = other.split(".")
            uses = f"from {other} import" in text or f"from {package} import {module}" in text
            assert not uses or other in loaded, f"{name} imports {other}"
        loaded.add(name)


PROGRAM = """
import importlib.util, json, random, sys
sys.path.insert(0, sys.argv[1])
spec = importlib.util.spec_from_file_location("written_games", sys.argv[2])
games = importlib.util.module_from_spec(spec)
sys.modules["written_games"] = games
spec.loader.exec_module(games)
from games import registry
from search import session
quick = {"algorithm": "ismcts", "simulations": 60, "rollouts": 2}
results = [
    session.play(games.pennies(), {"seats": [quick, quick], "games": 3}, random.Random(7)),
    session.play(games.TicTacToe(), {"seats": [{"simulations": 60}, "random"], "games": 3}, random.Random(7)),
]
print(json.dumps(results))
"""


def test_results_do_not_depend_on_the_hash_seed() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(ROOT), str(Path(__file__).with_name("conftest.py"))],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


def test_an_explained_choice_is_the_same_choice_and_says_what_it_believed(pennies_game: Any) -> None:
    argument = {"config": QUICK, "player": 1, "history": [[{"sees": "high"}, None]], "state": None}
    plain, told = (session.choose(pennies_game, argument | more, random.Random(0)) for more in ({}, {"explain": True}))
    believed = told.pop("belief_shares")
    assert {**told, "seconds": 0} == {**plain, "seconds": 0}
    assert all(0 < share <= 1 for _, values in believed for _, share in values)
