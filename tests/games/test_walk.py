"""Walking along a history gives the very states that the pure functions give, and refuses what they refuse."""

import pytest

from cwm.trajectories.recorded import collect
from games import registry
from games.api import IllegalActionError, WalksHistories, state_to_json


@pytest.mark.parametrize(
    "game_id", ["kuhn_poker", "leduc_poker", "bargaining", "gin_rummy", "backgammon", "tic_tac_toe", "mnk"]
)
def test_states_along_a_walk_are_those_of_the_pure_functions(game_id: str) -> None:
    game = registry.make(game_id)
    assert isinstance(game, WalksHistories)
    for trajectory in collect(game, 2, 5):
        actions = [str(step.action) for step in trajectory.steps[:-1]]
        seen = []
        for state in game.walk(actions):
            seen.append((state_to_json(game, state), game.current_player(state), game.observations(state)))
        assert [(step.state, step.player, list(step.observations)) for step in trajectory.steps] == seen


def test_an_illegal_action_on_the_way_is_refused_where_it_is_taken() -> None:
    game = registry.make("tic_tac_toe")
    assert isinstance(game, WalksHistories)
    steps = game.walk(["x(0,0)", "o(0,0)"])
    assert [next(steps) is not None for _ in range(2)] == [True, True]
    with pytest.raises(IllegalActionError, match=r"'o\(0,0\)' is not legal here"):
        next(steps)


def test_two_walks_share_nothing() -> None:
    game = registry.make("gin_rummy")
    assert isinstance(game, WalksHistories)
    first, other = collect(game, 2, 2)
    assert [step.action for step in first.steps[:25]] != [step.action for step in other.steps[:25]]
    walks = [game.walk([str(step.action) for step in played.steps[:-1]]) for played in (first, other)]
    # Each takes a step in turn, so that whatever they shared would show in the other's states.
    compared = 0
    for steps in zip(zip(first.steps, walks[0], strict=True), zip(other.steps, walks[1], strict=True), strict=False):
        states = [state for _, state in steps]
        assert [state_to_json(game, state) for state in states] == [step.state for step, _ in steps]
        compared += 1
    assert compared > 25
