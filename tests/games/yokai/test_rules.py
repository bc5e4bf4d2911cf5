import json
import random
from collections import Counter

import pytest

from games.api import CHANCE, TERMINAL, GameError, IllegalActionError
from games.yokai.config import config
from games.yokai.game import make
from games.yokai.policy import POLICIES

SIZES = {
    (9, 2): ((1, 3, 0), 32, 20),
    (9, 3): ((2, 3, 0), 40, 25),
    (9, 4): ((3, 3, 0), 48, 30),
    (16, 2): ((2, 3, 2), 56, 35),
    (16, 3): ((2, 4, 3), 72, 45),
    (16, 4): ((3, 4, 3), 80, 50),
    (8, 2): ((2, 1, 0), 24, 15),
}


@pytest.mark.parametrize("which", SIZES, ids=str)
def test_every_configuration_has_the_hints_length_and_best_score_of_the_design(which):
    hints, length, best = SIZES[which]
    game = make(*which)
    assert game.config.hints_by_size == hints
    assert game.info.max_length == length
    assert (game.info.min_utility, game.info.max_utility) == (-(len(game.config.colours) + sum(hints)), best)
    assert (game.info.id, game.info.num_players) == (f"yokai-{which[0]}c-{which[1]}p", which[1])
    assert (game.info.utility, game.info.has_chance, game.info.perfect_information) == ("identical", True, False)


@pytest.mark.parametrize("which", [(8, 3), (9, 1), (9, 5), (16, 6)])
def test_other_numbers_of_cards_and_players_are_refused_with_the_known_ones(which):
    with pytest.raises(GameError, match="9 or 16 cards and 2, 3 or 4 players, or 8 cards and 2 players"):
        make(*which)


@pytest.mark.parametrize(("cards", "side"), [(9, 3), (16, 4)])
def test_cards_start_in_a_square_from_cell_3_3_on_in_the_order_of_their_ids(cards, side):
    positions = make(cards, 2).initial_state()["positions"]
    assert positions == [[3 + i // side, 3 + i % side] for i in range(cards)]


def test_eight_cards_start_in_a_ring_in_the_middle_of_the_grid_row_by_row(ring):
    positions = ring.initial_state()["positions"]
    assert positions == [[2, 2], [2, 3], [2, 4], [3, 2], [3, 4], [4, 2], [4, 3], [4, 4]]
    assert ring.config.grid == 7


def test_eight_cards_have_two_colours_and_every_hint_of_them(ring, deal):
    assert ring.config.colours == ("red", "green")
    assert ring.all_chance_actions() == ["deal red", "deal green", "hint red", "hint green", "hint red-green"]
    hints = Counter(tuple(str(hint["colours"]) for hint in deal(ring, seed=seed)["hints"]) for seed in range(60))
    assert len(hints) == 6


def test_the_action_layout_is_the_papers_for_nine_cards_and_holds_2325_actions_for_sixteen():
    assert len(make(9, 2).all_actions()) == 1068
    assert len(make(16, 2).all_actions()) == 2325
    assert len(make(8, 2).all_actions()) == 1 + 8 + 8 * 49 + 3 + 3 * 49 + 1


def test_action_indices_follow_the_layout(small):
    assert small.action_index("no-op") == 0
    assert small.action_index("observe 4") == 1 + 4
    assert small.action_index("move 4 to 2,5") == 1 + 9 + 4 * 81 + 2 * 9 + 5
    assert small.action_index("reveal 1") == 1 + 9 + 9 * 81 + 1
    assert small.action_index("place 1 at 4,4") == 1 + 9 + 9 * 81 + 4 + 1 * 81 + 4 * 9 + 4
    assert small.action_index("end") == 1067


def test_action_strings_and_indices_are_inverse(game):
    actions = game.all_actions()
    assert len(set(actions)) == len(actions)
    assert [game.action_index(action) for action in actions] == list(range(len(actions)))
    assert [game.action_string(index) for index in range(len(actions))] == actions


def test_unknown_actions_and_indices_are_refused(small):
    with pytest.raises(GameError, match="observe 9"):
        small.action_index("observe 9")
    with pytest.raises(GameError, match="0 to 1067"):
        small.action_string(1068)


def test_legal_actions_come_in_index_order(game, random_states):
    for state in random_states(game, 2, seed=1):
        indices = [game.action_index(action) for action in game.legal_actions(state)]
        assert indices == sorted(indices)


def test_first_card_is_dealt_any_colour_alike_and_the_last_is_forced(small):
    state = small.initial_state()
    assert small.current_player(state) == CHANCE
    assert small.chance_outcomes(state) == [("deal red", 1 / 3), ("deal green", 1 / 3), ("deal blue", 1 / 3)]
    for action in ["deal red", "deal red", "deal green", "deal red"]:
        state = small.apply_action(state, action)
    assert small.chance_outcomes(state) == [("deal green", 2 / 5), ("deal blue", 3 / 5)]
    for action in ["deal green", "deal green", "deal blue", "deal blue"]:
        state = small.apply_action(state, action)
    assert small.chance_outcomes(state) == [("deal blue", 1.0)]


def test_hints_are_dealt_by_sizes_left_and_then_by_subsets_not_yet_dealt(small, play):
    state = play(small, small.initial_state(), *["deal red", "deal green", "deal blue"] * 3)
    one, two = 1 / 4 / 3, 3 / 4 / 3
    assert dict(small.chance_outcomes(state)) == pytest.approx(
        {"hint red": one, "hint green": one, "hint blue": one}
        | {"hint red-green": two, "hint red-blue": two, "hint green-blue": two}
    )
    state = play(small, state, "hint green", "hint red-blue")
    assert dict(small.chance_outcomes(state)) == pytest.approx({"hint red-green": 1 / 2, "hint green-blue": 1 / 2})
    state = small.apply_action(state, "hint green-blue")
    assert small.chance_outcomes(state) == [("hint red-green", 1.0)]
    assert small.current_player(small.apply_action(state, "hint red-green")) == 0


def test_hint_sequences_of_one_configuration_are_all_equally_likely():
    game = make(9, 3)
    state = game.initial_state()
    for colour in ["red", "green", "blue"] * 3:
        state = game.apply_action(state, f"deal {colour}")
    frontier = [(state, 1.0)]
    for _ in range(game.config.hints):
        frontier = [(game.apply_action(s, action), p * q) for s, p in frontier for action, q in game.chance_outcomes(s)]
    assert len(frontier) == 3 * 2 * 6 * 10  # ordered single colours, ordered pairs, places of the sizes
    assert [p for _, p in frontier] == pytest.approx([1 / 360] * 360)


def test_a_turn_has_four_sub_steps_of_one_player_and_then_the_next_player_is_to_act(game, deal, play):
    state = deal(game)
    below = f"{game.config.offset + game.config.start},{game.config.offset}"
    seen = [(state["player"], state["sub_step"], state["turn"])]
    for action in ["observe 0", "observe 1", f"move 0 to {below}", "reveal 0", "observe 0"]:
        state = game.apply_action(state, action)
        seen.append((state["player"], state["sub_step"], state["turn"]))
    assert seen == [(0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 0), (1, 1, 1), (1, 2, 1)]
    assert state["observed"][:2] == [[0, 1], [0]]
    assert state["log"] == ["observe 0", "observe 1", f"move 0 to {below}", "reveal 0", "observe 0"]


def test_end_is_legal_at_every_first_sub_step_and_nowhere_else(small, random_states):
    for state in random_states(small, 5, seed=2):
        assert ("end" in small.legal_actions(state)) == (state["sub_step"] == 1)


def test_the_same_card_cannot_be_observed_twice_in_a_turn_but_again_in_a_later_one(small, deal, play):
    state = play(small, deal(small), "observe 3")
    assert small.legal_actions(state) == [f"observe {i}" for i in range(9) if i != 3]
    state = play(small, state, "observe 4", "move 8 to 2,3", "reveal 0", "observe 3", "observe 1")
    state = play(small, state, "move 8 to 5,5", "reveal 1")
    assert "observe 3" in small.legal_actions(state)


def test_a_placed_hint_locks_its_card_for_good(small, deal, play):
    state = play(small, deal(small), "observe 0", "observe 1", "move 8 to 2,3", "reveal 2")
    state = play(small, state, "observe 0", "observe 1", "move 8 to 5,5")
    assert "place 2 at 3,4" in small.legal_actions(state)
    assert "place 0 at 3,4" not in small.legal_actions(state)
    state = small.apply_action(state, "place 2 at 3,4")
    assert state["locked"] == [False, True] + [False] * 7
    assert state["hints"][2]["card"] == 1
    assert "observe 1" not in small.legal_actions(state)
    state = play(small, state, "observe 0", "observe 2")
    assert not [action for action in small.legal_actions(state) if action.startswith("move 1 ")]
    state = play(small, state, "move 8 to 2,3")
    assert not [action for action in small.legal_actions(state) if action.startswith("place")]


def test_illegal_actions_are_refused_with_the_legal_ones_named(small, deal, play):
    start = deal(small)
    with pytest.raises(IllegalActionError, match="'deal red' is not legal"):
        small.apply_action(start, "deal red")
    with pytest.raises(IllegalActionError, match="legal: observe 0"):
        small.apply_action(start, "observe 9")
    moving = play(small, start, "observe 0", "observe 1")
    for action in ["observe 2", "end", "no-op", "reveal 0", "move 0 to 3,3", "move 0 to 3,4", "move 0 to 0,0"]:
        with pytest.raises(IllegalActionError):
            small.apply_action(moving, action)
    hinting = play(small, moving, "move 0 to 3,6")
    for action in ["place 0 at 4,4", "no-op", "move 0 to 3,3"]:
        with pytest.raises(IllegalActionError):
            small.apply_action(hinting, action)
    over = play(small, start, "end")
    for action in ["end", "observe 0"]:
        with pytest.raises(IllegalActionError, match="legal: nothing"):
            small.apply_action(over, action)


def test_exactly_the_legal_actions_are_accepted(small, random_states):
    rng = random.Random(7)
    for state in rng.sample(random_states(small, 4, seed=3), 30):
        legal = set(small.legal_actions(state))
        for action in rng.sample(small.all_actions(), 150) + sorted(legal)[:20]:
            if action in legal:
                small.apply_action(state, action)
            else:
                with pytest.raises(IllegalActionError):
                    small.apply_action(state, action)


def test_placing_the_last_hint_ends_the_game(game, random_states):
    final = [state for state in random_states(game, 3, seed=4) if state["phase"] == "over"]
    for state in final:
        assert all(hint["status"] == "placed" for hint in state["hints"])
        assert (state["player"], state["sub_step"], state["turn"]) == (None, None, 2 * game.config.hints)
        assert game.current_player(state) == TERMINAL
        assert game.legal_actions(state) == []


def test_a_game_that_nobody_ends_has_exactly_eight_actions_a_hint(game, random_states):
    final = [state for state in random_states(game, 4, seed=5) if state["phase"] == "over"]
    assert [len(state["log"]) for state in final] == [8 * game.config.hints] * 4


def test_sub_step_four_always_has_a_hint_and_enough_cards_stay_unlocked(game, random_states):
    for state in random_states(game, 4, seed=6):
        if state["phase"] == "play":
            assert state["locked"].count(False) >= game.config.cards - game.config.hints + 1 >= 4
            assert game.legal_actions(state)


def test_locked_cards_never_move(game, random_states):
    before = None
    for state in random_states(game, 4, seed=8):
        if before is not None and before["log"] == state["log"][:-1]:
            for old, new, locked in zip(before["positions"], state["positions"], before["locked"], strict=True):
                assert old == new or not locked
        before = state


def test_where_nothing_can_be_moved_only_no_op_is_legal_and_changes_nothing_but_the_sub_step(game):
    rng = random.Random(11)
    state = game.initial_state()
    forced = 0
    while game.current_player(state) != TERMINAL:
        if state["phase"] == "deal":
            state = game.apply_action(state, rng.choice(game.legal_actions(state)))
            continue
        legal = game.legal_actions(state)
        assert ("no-op" in legal) == (legal == ["no-op"])
        after = game.apply_action(state, POLICIES["freeze"](game, state, [], state["player"], rng))
        if legal == ["no-op"]:
            forced += 1
            assert state["sub_step"] == 3
            assert after == {**state, "sub_step": 4, "log": [*state["log"], "no-op"]}
        state = after
    assert (forced == 0) == game.config.is_ring
    assert len(state["log"]) == 8 * game.config.hints


def test_states_survive_json_and_are_not_changed_by_later_actions(game, random_states):
    states = random_states(game, 2, seed=9)
    kept = [json.dumps(state) for state in states]
    for state in states:
        for action in game.legal_actions(state)[:5]:
            game.apply_action(state, action)
    assert [json.dumps(state) for state in states] == kept
    assert all(json.loads(text) == state for text, state in zip(kept, states, strict=True))


def test_there_are_1680_colour_assignments_of_nine_cards_and_60_are_won_at_the_start(small, deal):
    won = Counter()
    frontier = [small.initial_state()]
    for _ in range(9):
        frontier = [small.apply_action(s, action) for s in frontier for action in small.legal_actions(s)]
    for state in frontier:
        won[small.outcome(state)["won"]] += 1
    assert won == {False: 1620, True: 60}


def test_there_are_70_colour_assignments_of_eight_cards_and_8_are_won_at_the_start(ring):
    frontier = [ring.initial_state()]
    for _ in range(8):
        frontier = [ring.apply_action(s, action) for s in frontier for action in ring.legal_actions(s)]
    assert Counter(ring.outcome(state)["won"] for state in frontier) == {False: 62, True: 8}
    assert Counter(ring.outcome(state)["grouped_colours"] for state in frontier) == {0: 62, 2: 8}


def test_configurations_are_values():
    assert config(9, 2) == config(9, 2)
    assert make(9, 2).rules is make(9, 2, memory=True).rules
