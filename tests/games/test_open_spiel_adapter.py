"""Games served by OpenSpiel agree with OpenSpiel in every state."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pyspiel
import pytest

from games import registry
from games.adapters.open_spiel import OpenSpielGame
from games.api import CHANCE, TERMINAL, IllegalActionError, state_to_json

STATES = {"tic_tac_toe": 5478, "kuhn_poker": 58, "leduc_poker": 9457}


def walk(game: OpenSpielGame) -> Iterator[tuple[Any, Any]]:
    """Yields (our state, OpenSpiel's own state, led there by its own numbers) for every distinct position."""
    seen = set()
    stack = [(game.initial_state(), pyspiel.load_game(game.info.id).new_initial_state())]
    while stack:
        ours, native = stack.pop()
        key = json.dumps(game.state_to_json(ours))
        if key in seen:
            continue
        seen.add(key)
        yield ours, native
        for number in native.legal_actions():
            name = native.action_to_string(native.current_player(), number)
            stack.append((game.apply_action(ours, name), native.child(number)))


@pytest.mark.parametrize("game_id", list(STATES))
def test_every_state_agrees_with_open_spiel(game_id: str) -> None:
    game, count = registry.make(game_id), 0
    for ours, native in walk(game):
        count += 1
        player = int(native.current_player())
        assert game.current_player(ours) == player
        names = [native.action_to_string(player, number) for number in native.legal_actions()]
        assert game.legal_actions(ours) == names
        chance = dict(native.chance_outcomes()) if native.is_chance_node() else {}
        assert game.chance_outcomes(ours) == [(native.action_to_string(player, a), p) for a, p in chance.items()]
        assert game.rewards(ours) == native.rewards()
        assert str(ours) == str(native)
    assert count == STATES[game_id]


@pytest.mark.parametrize("game_id", ["tic_tac_toe", "connect_four"])
def test_state_and_observations_are_open_spiels_own_structs(game_id: str) -> None:
    game, rng = registry.make(game_id), random.Random(3)
    state = game.initial_state()
    while True:
        assert state_to_json(game, state) == json.loads(state.to_json())
        assert game.observations(state) == [json.loads(state.to_observation_struct(p).to_json()) for p in (0, 1)]
        if game.current_player(state) == TERMINAL:
            break
        state = game.apply_action(state, rng.choice(game.legal_actions(state)))


@pytest.mark.parametrize("game_id", ["kuhn_poker", "leduc_poker"])
def test_own_history_tells_apart_exactly_what_open_spiels_information_state_does(game_id: str) -> None:
    game = registry.make(game_id)
    pairs: dict[str, set[str]] = {}
    for ours, native in walk(game):
        player = game.current_player(ours)
        if player >= 0:
            shown = json.dumps(game.observations(ours)[player])
            pairs.setdefault(shown, set()).add(native.information_state_string(player))
    assert all(len(texts) == 1 for texts in pairs.values())
    assert len({text for texts in pairs.values() for text in texts}) == len(pairs)
    assert len(pairs) == {"kuhn_poker": 12, "leduc_poker": 936}[game_id]


def test_illegal_action_names_the_legal_ones_and_leaves_the_state() -> None:
    game = registry.make("leduc_poker")
    state = game.initial_state()
    for action in ("Chance outcome:0", "Chance outcome:3"):
        state = game.apply_action(state, action)
    with pytest.raises(IllegalActionError, match=r"leduc_poker: 'Fold' is not legal here; .*\['Call', 'Raise'\]"):
        game.apply_action(state, "Fold")
    assert game.legal_actions(state) == ["Call", "Raise"]


def test_simultaneous_moves_are_serialised_and_stay_hidden() -> None:
    game = registry.make("open_spiel:matrix_rps")
    first, second = (game.apply_action(game.initial_state(), action) for action in ("Rock", "Paper"))
    assert game.info.simultaneous
    assert game.current_player(first) == 1
    assert game.observations(first)[1] == game.observations(second)[1]
    assert game.rewards(game.apply_action(first, "Paper")) == [-1.0, 1.0]


def test_game_without_a_struct_shows_its_history_and_text() -> None:
    game = registry.make("open_spiel:mnk(m=3,n=3,k=3)")
    state = game.apply_action(game.initial_state(), game.legal_actions(game.initial_state())[4])
    facts = game.state_to_json(state)
    assert set(facts) == {"history", "text"}
    assert facts["text"] == str(state)
    assert len(facts["history"]) == 1


def test_actions_that_read_the_same_are_told_apart_by_their_number() -> None:
    class Twins:
        """A state whose two actions have one string."""

        def current_player(self) -> int:
            return 0

        def legal_actions(self) -> list[int]:
            return [3, 5, 7]

        def action_to_string(self, player: int, action: int) -> str:
            return "other" if action == 5 else "same"

    assert OpenSpielGame._labels(Twins()) == {"same #3": 3, "other": 5, "same #7": 7}


def test_rewards_on_the_way_add_up_to_the_return_although_open_spiel_repeats_them() -> None:
    game = registry.make("open_spiel:hanabi(players=2,colors=2,ranks=2,hand_size=2,max_life_tokens=1)")
    rng = random.Random(5)
    for _ in range(20):
        state, total = game.initial_state(), 0.0
        while game.current_player(state) != TERMINAL:
            state = game.apply_action(state, rng.choice(game.legal_actions(state)))
            total += game.rewards(state)[0]
        assert total == state.returns()[0]


def test_playout_starts_where_it_is_told_and_pays_nothing_after_the_end() -> None:
    game = registry.make("tic_tac_toe")
    state = game.initial_state()
    for action in ("x(0,0)", "o(1,0)", "x(0,1)", "o(1,1)"):
        state = game.apply_action(state, action)
    results = [tuple(game.playout(state, random.Random(seed), 100)) for seed in range(50)]
    assert set(results) == {(1.0, -1.0), (-1.0, 1.0), (0.0, 0.0)}
    won = game.apply_action(state, "x(0,2)")
    assert game.rewards(won) == [1.0, -1.0]
    assert game.playout(won, random.Random(0), 100) == [0.0, 0.0]
    assert game.playout(state, random.Random(0), 1) in ([0.0, 0.0], [1.0, -1.0])


def test_a_playout_pays_floats_where_openspiels_game_is_written_in_python() -> None:
    game = registry.make("open_spiel:python_block_dominoes")
    paid = [game.playout(game.initial_state(), random.Random(seed), 100) for seed in range(5)]  # type: ignore[attr-defined]
    assert {type(amount) for pair in paid for amount in pair} == {float}


def test_playout_draws_chance_by_its_probabilities() -> None:
    game = registry.make("open_spiel:pig(players=2,winscore=4,horizon=6)")
    assert game.info.has_chance
    means = [game.playout(game.initial_state(), random.Random(seed), 1000)[0] for seed in range(500)]
    assert set(means) <= {-1.0, 0.0, 1.0}
    assert len(set(means)) > 1


@pytest.mark.parametrize("game_id", ["kuhn_poker", "leduc_poker"])
def test_resampled_opponent_cards_are_uniform_over_the_unseen_ones(game_id: str) -> None:
    game, rng = registry.make(game_id), random.Random(11)
    state = game.initial_state()
    deals = game.legal_actions(state)
    for action in (deals[1], deals[2]):
        state = game.apply_action(state, action)
    history = [(game.observations(state)[0], None)]
    draws = [game.resample_history(history, 0, rng) for _ in range(4000)]
    assert all(draw[0] == deals[1] for draw in draws)
    unseen = [deal for deal in deals if deal != deals[1]]
    shares = [sum(draw[1] == deal for draw in draws) / len(draws) for deal in unseen]
    assert sum(shares) == pytest.approx(1.0)
    assert all(share == pytest.approx(1 / len(unseen), abs=0.03) for share in shares)


def test_leduc_resampling_never_deals_the_public_card_twice() -> None:
    game, rng = registry.make("leduc_poker"), random.Random(2)
    state = game.initial_state()
    for action in ("Chance outcome:5", "Chance outcome:0", "Call", "Call", "Chance outcome:3", "Raise"):
        state = game.apply_action(state, action)
    history = [(game.observations(state)[1], None)]
    draws = {tuple(game.resample_history(history, 1, rng)) for _ in range(200)}
    rest = ("Chance outcome:0", "Call", "Call", "Chance outcome:3", "Raise")
    assert draws == {(f"Chance outcome:{card}", *rest) for card in (1, 2, 4, 5)}


@pytest.mark.parametrize("game_id", ["kuhn_poker", "leduc_poker"])
def test_hidden_card_is_in_no_view_and_no_drawing_of_the_other_player(game_id: str) -> None:
    game = registry.make(game_id)
    start = game.initial_state()
    deals = game.legal_actions(start)
    dealt = [game.apply_action(game.apply_action(start, deals[0]), other) for other in deals[1:]]
    assert all(game.current_player(state) != CHANCE for state in dealt)
    for states in (dealt, [game.apply_action(state, game.legal_actions(state)[0]) for state in dealt]):
        assert len({json.dumps(game.observations(state)[0]) for state in states}) == 1
        assert len({game.render(state, 0) for state in states}) == 1
        assert len({game.render(state) for state in states}) == len(states)


@pytest.mark.parametrize("game_id", list(STATES))
def test_action_lists_are_numbered_as_open_spiel_does(game_id: str) -> None:
    game = registry.make(game_id)
    native = pyspiel.load_game(game_id).new_initial_state()
    first = [native.action_to_string(0, number) for number in range(native.num_distinct_actions())]
    assert game.all_actions()[: len(first)] == first
    assert len(game.all_chance_actions()) == pyspiel.load_game(game_id).max_chance_outcomes()


def test_board_is_drawn_the_way_up_people_expect() -> None:
    game = registry.make("connect_four")
    state = game.apply_action(game.apply_action(game.initial_state(), "x3"), "o3")
    assert game.render(state).splitlines()[-3:] == [". . . o . . .", ". . . x . . .", "0 1 2 3 4 5 6"]
    game = registry.make("tic_tac_toe")
    assert game.render(game.apply_action(game.initial_state(), "x(0,2)")).splitlines() == [
        "  0 1 2",
        "0 . . x",
        "1 . . .",
        "2 . . .",
    ]
