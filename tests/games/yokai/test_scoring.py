import pytest

from games.yokai import game as yokai_game
from games.yokai.game import make


def finished(game, state, statuses, cards=(), early=False):
    """A finished position made by hand: hint statuses by letter (d, u, p) and the cards under the placed ones."""
    cards = list(cards)
    words = {"d": "face down", "u": "face up", "p": "placed"}
    hints = [
        {**hint, "status": words[status], "card": cards.pop(0) if status == "p" else None}
        for hint, status in zip(state["hints"], statuses, strict=True)
    ]
    log = ["end"] if early else ["place 0 at 3,3"]
    return {**state, "phase": "over", "player": None, "sub_step": None, "hints": hints, "log": log}


def test_ending_a_won_start_at_once_pays_five_a_hint(game, deal, play):
    letters = "".join(colour[0] * game.config.cards_per_colour for colour in game.config.colours)
    state = play(game, deal(game, letters), "end")
    assert game.rewards(state) == [5.0 * game.config.hints] * game.config.players
    assert game.outcome(state)["won"] is True


def test_ending_a_start_with_no_colour_grouped_pays_minus_one_and_minus_the_colours(small, deal, play):
    state = play(small, deal(small, "rgbgbrbrg"), "end")
    assert small.rewards(state) == [-4.0, -4.0]


def test_only_the_last_action_pays(small, deal, play):
    state = play(small, deal(small), "observe 0", "observe 1", "move 0 to 3,6", "reveal 0")
    assert small.rewards(state) == [0.0, 0.0]
    assert small.rewards(small.initial_state()) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("statuses", "cards", "score"),
    [
        ("dddd", (), 20),
        ("uddd", (), 17),
        ("uuuu", (), 8),
        ("pddd", (0,), 16),
        ("pddd", (3,), 14),
        ("pudd", (0,), 13),
        ("pppp", (0, 1, 3, 6), 4),
        ("pppp", (3, 6, 0, 1), -1 - 1 - 1 + 1),
    ],
)
def test_a_win_scores_five_down_two_up_and_one_for_true_less_one_for_false(small, deal, statuses, cards, score):
    state = deal(small, "rrrgggbbb", "r rg gb rb")
    over = finished(small, state, statuses, cards, early=statuses != "pppp")
    assert small.outcome(over)["score"] == score
    assert small.rewards(over) == [float(score)] * 2


@pytest.mark.parametrize(
    ("colours", "statuses", "cards", "early", "reward"),
    [
        ("rgbgbrbrg", "dddd", (), True, -1 - 3),
        ("rrrgbgbgb", "dddd", (), True, -1 - 2),
        ("rrrgbgbgb", "pppd", (0, 1, 2), True, -1 - 2 - 1),
        ("rrrgbgbgb", "pppp", (0, 1, 3, 2), False, -2),
        ("rgbgbrbrg", "pppp", (1, 2, 0, 3), False, -3 - 4),
    ],
)
def test_a_loss_pays_for_ending_early_missing_colours_and_false_hints(
    small, deal, colours, statuses, cards, early, reward
):
    state = finished(small, deal(small, colours, "r rg gb rb"), statuses, cards, early)
    assert small.rewards(state) == [float(reward)] * 2
    assert small.outcome(state)["return"] == reward
    assert small.outcome(state)["ended_early"] is early
    assert small.outcome(state)["won"] is False


def test_locked_cards_count_for_their_colours_group(small, deal):
    state = deal(small, "rrrgggbbb", "r rg gb rb")
    over = finished(small, {**state, "locked": [True] * 4 + [False] * 5}, "pppp", (0, 1, 3, 6))
    assert small.outcome(over)["won"] is True


def test_a_won_game_may_still_pay_less_than_nothing(small, deal):
    over = finished(small, deal(small, "rrrgggbbb", "r rg gb rb"), "pppp", (3, 6, 0, 4))
    assert small.outcome(over)["won"] is True
    assert small.rewards(over) == [-4.0, -4.0]


def test_outcome_of_a_finished_game_needs_its_state_alone(deal, play):
    game = make(16, 3)
    state = play(game, deal(game), "end")
    assert yokai_game.outcome(state) == game.outcome(state)
    assert game.outcome(state)["length"] == 1
    assert game.outcome(state)["face_down"] == 9


def test_returns_stay_within_the_bounds(game, random_states):
    for state in random_states(game, 6, seed=31):
        reward = game.rewards(state)[0]
        assert game.info.min_utility <= reward <= game.info.max_utility
