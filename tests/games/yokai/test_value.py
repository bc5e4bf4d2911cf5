import pytest


def test_value_of_a_finished_game_is_what_the_last_action_paid(game, random_states, deal, play):
    ends = [state for state in random_states(game, 2, seed=95) if state["phase"] == "over"]
    for state in [*ends, play(game, deal(game), "end")]:
        assert game.value(state, 0) == game.rewards(state)[0]


def test_values_stay_within_the_bounds_of_the_return(game, random_states):
    assert game.value(game.initial_state(), 0) == 0.0
    for state in random_states(game, 3, seed=96):
        for player in range(game.config.players):
            value = game.value(state, player)
            assert isinstance(value, float)
            assert game.info.min_utility <= value <= game.info.max_utility


def test_a_grouped_start_is_worth_more_than_a_scattered_one(small, deal):
    values = [small.value(deal(small, colours, "r rg gb rb"), 0) for colours in ("rrrgggbbb", "rrggrgbbb", "rgbgbrbrg")]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 3


@pytest.mark.parametrize("colours", ["rrggrgbbb", "rgbgbrbrg"])
def test_playing_on_is_worth_more_than_giving_up_at_once(small, deal, play, colours):
    state = deal(small, colours, "r rg gb rb")
    assert small.value(state, 0) > small.rewards(play(small, state, "end"))[0]


def test_a_false_hint_costs(small, deal, play):
    state = play(small, deal(small, "rgbrgbrgb", "r rg gb rb"), "observe 0", "observe 1", "move 8 to 2,3", "reveal 0")
    state = play(small, state, "observe 0", "observe 1", "move 8 to 5,5")
    true, false = (small.apply_action(state, f"place 0 at {cell}") for cell in ("3,3", "3,4"))
    assert small.value(true, 0) > small.value(false, 0)
