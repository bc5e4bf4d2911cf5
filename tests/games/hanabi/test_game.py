"""Hanabi: what OpenSpiel plays, what nobody may see, events, ends and what the end is worth."""

import json
import random
from collections.abc import Iterator

import pyspiel
import pytest

from games.api import CHANCE, TERMINAL, GameError, IllegalActionError, observe
from games.contract import game as contract
from games.hanabi.config import VARIANTS, HanabiSizes, config, deal, discard, hint, play
from games.hanabi.game import VIEWS, Hanabi, HanabiState
from games.hanabi.reading import Slot, read
from games.viewed import with_view

GAMES = {name: Hanabi(sizes) for name, sizes in VARIANTS.items()}
TWO = GAMES["hanabi-2p"]
TINY = GAMES["hanabi-tiny-2p"]


def after(game: Hanabi, *actions: str, state: HanabiState | None = None) -> HanabiState:
    state = game.initial_state() if state is None else state
    for action in actions:
        state = game.apply_action(state, action)
    return state


def careful(game: Hanabi, state: HanabiState, rng: random.Random) -> str:
    """Returns a random action that mostly loses no life, so that games last to the end of the deck."""
    legal = game.legal_actions(state)
    if game.current_player(state) != CHANCE and rng.random() < 0.95:
        table = read(str(state))
        hand = table.hands[table.mover or 0]
        fitting = [play(n) for n, slot in enumerate(hand) if table.fireworks[slot.card[0]] + 1 == int(slot.card[1])]
        return rng.choice(fitting or [action for action in legal if "Play" not in action] or legal)
    return rng.choice(legal)


def games(game: Hanabi, count: int, seed: int = 0) -> Iterator[HanabiState]:
    """Yields every state of some games, half of them careful."""
    for number in range(count):
        rng = random.Random(f"{game.info.id} {seed} {number}")
        state = game.initial_state()
        while True:
            yield state
            legal = game.legal_actions(state)
            if not legal:
                break
            state = game.apply_action(state, careful(game, state, rng) if number % 2 else rng.choice(legal))


@pytest.mark.parametrize("name", ["hanabi-mini-2p", "hanabi-tiny-2p"])
def test_game_fulfils_the_contract_and_leaks_in_no_view(name: str) -> None:
    assert contract.check(GAMES[name], games=1) == []
    assert contract.check_leaks(GAMES[name], games=1, resamples=1) == []


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", VARIANTS)
def test_game_with_any_view_as_its_default_leaks_nothing_over_many_games(name: str, view: str) -> None:
    contract.assert_game(with_view(GAMES[name], view), games=8)


@pytest.mark.parametrize("name", ["hanabi-2p", "hanabi-5p", "hanabi-small-2p"])
def test_games_agree_with_open_spiel_at_every_step(name: str) -> None:
    game, rng = GAMES[name], random.Random(name)
    for number in range(2):
        ours, native = game.initial_state(), pyspiel.load_game(VARIANTS[name].engine).new_initial_state()
        total = 0.0
        while True:
            player = int(native.current_player())
            assert game.current_player(ours) == player
            names = [native.action_to_string(player, action) for action in native.legal_actions()]
            assert game.legal_actions(ours) == names
            if player == CHANCE:
                assert [chance for _, chance in game.chance_outcomes(ours)] == [p for _, p in native.chance_outcomes()]
            assert str(ours) == str(native)
            total += game.rewards(ours)[0]
            assert total == native.returns()[0]
            if player == TERMINAL:
                break
            action = careful(game, ours, rng) if number % 2 else rng.choice(names)
            ours = game.apply_action(ours, action)
            native.apply_action(native.legal_actions()[names.index(action)])


def test_info_is_that_of_a_cooperative_game() -> None:
    for name, sizes in VARIANTS.items():
        info = GAMES[name].info
        assert (info.id, info.num_players, info.utility, info.views) == (name, sizes.players, "identical", VIEWS)
        assert (info.min_utility, info.max_utility) == (0.0, float(sizes.colours * sizes.ranks))
        assert (info.perfect_information, info.has_chance) == (False, True)


@pytest.mark.parametrize("name", VARIANTS)
def test_deck_is_that_of_open_spiel(name: str) -> None:
    outcomes = dict(GAMES[name].chance_outcomes(GAMES[name].initial_state()))
    deck = VARIANTS[name].deck()
    assert outcomes == pytest.approx({deal(card): copies / sum(deck.values()) for card, copies in deck.items()})


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"players": 6}, "players=6: players is a whole number from 2 to 5"),
        ({"players": 1}, "players=1"),
        ({"players": 2, "colours": 6}, "colours=6: colours is a whole number from 1 to 5"),
        ({"players": 2, "ranks": 0}, "ranks=0"),
        ({"players": 2, "hand": 0}, "hand=0"),
        ({"players": 2, "info": 0}, "info=0"),
        ({"players": 2, "lives": True}, "lives=True"),
        ({"players": 5, "colours": 1, "hand": 3}, "deals 15 cards, but the deck has 10"),
    ],
)
def test_sizes_that_would_end_the_process_are_refused(sizes: dict[str, int], said: str) -> None:
    with pytest.raises(GameError, match=said):
        config(**sizes)


@pytest.mark.parametrize(
    "sizes", [HanabiSizes(2, 1, 1, 1, 1, 1), HanabiSizes(5, 2, 3, 2, 8, 3), HanabiSizes(2, 1, 5, 5, 3, 1)]
)
def test_odd_sizes_that_are_allowed_can_be_played(sizes: HanabiSizes) -> None:
    assert config(sizes.players, sizes.colours, sizes.ranks, sizes.hand, sizes.info, sizes.lives) == sizes
    contract.assert_game(Hanabi(sizes), games=2)


DEAL = [deal(card) for card in ["R1", "R2", "Y1", "Y1", "B5", "G1", "R3", "W4", "W1", "B1"]]


def test_state_tells_cards_and_what_hints_said() -> None:
    state = after(TWO, *DEAL, hint(1, "1"), play(0), deal("R2"))
    shown = TWO.state_to_json(state)
    assert shown["hands"][1][0] == {
        "card": "R3", "told_colour": None, "told_rank": None, "colours": list("RYGWB"), "ranks": [2, 3, 4, 5]
    }  # fmt: skip
    assert [slot["card"] for slot in shown["hands"][1]] == ["R3", "W4", "W1", "B1", "R2"]
    assert shown["hands"][1][2]["told_rank"] == 1
    assert (shown["phase"], shown["current_player"], shown["deck_size"]) == ("play", 0, 39)
    assert (shown["fireworks"]["G"], shown["info_tokens"], shown["life_tokens"]) == (1, 7, 3)
    piles = {"R": 0, "Y": 0, "G": 0, "W": 0, "B": 0}
    assert shown["recent"] == [
        {"player": 0, "action": "(Reveal player +1 rank 1)", "card": None, "result": "hinted", "to": 1,
         "slots": [0, 3, 4], "lives": 3, "info": 7, "fireworks": piles},
        {"player": 1, "action": "(Play 0)", "card": "G1", "result": "played", "to": None, "slots": [0], "lives": 3,
         "info": 7, "fireworks": piles | {"G": 1}},
    ]  # fmt: skip


def test_views_show_as_much_as_they_say() -> None:
    state = after(TWO, *DEAL, hint(1, "1"), play(0), deal("R2"), hint(1, "R"), hint(1, "R"))
    own = {view: TWO.observation(state, 0, view)["hands"][0][0] for view in VIEWS}
    others = {view: TWO.observation(state, 0, view)["hands"][1][4] for view in VIEWS}
    told = {"card": None, "told_colour": "R", "told_rank": None}
    possible = {"colours": ["R"], "ranks": [1, 2, 3, 4, 5]}
    # Of ten red cards it sees R2 and R3 in the other's hand.
    chances = {"R1": "3/8", "R2": "1/8", "R3": "1/8", "R4": "1/4", "R5": "1/8"}
    assert own == {
        "default": told, "bare": told, "possible": told | possible, "counted": told | possible | {"chances": chances}
    }  # fmt: skip
    seen = {"card": "R2", "told_colour": "R", "told_rank": None}
    assert others == {"default": seen, "bare": {"card": "R2"}, "possible": seen | possible, "counted": seen | possible}
    assert [event["player"] for event in TWO.observations(state)[0]["recent"]] == [0, 1]
    assert [event["player"] for event in TWO.observations(state)[1]["recent"]] == [1]
    with pytest.raises(GameError, match="has the views default, possible, counted, bare, not 'all'"):
        TWO.observation(state, 0, "all")


def test_own_cards_are_hidden_in_every_view_of_every_state() -> None:
    for state in games(GAMES["hanabi-mini-2p"], 6):
        for view in VIEWS:
            for player in range(2):
                shown = observe(GAMES["hanabi-mini-2p"], state, player, view)
                assert all(slot["card"] is None for slot in shown["hands"][player])
                assert "legal" not in json.dumps(shown)


def test_lost_last_life_takes_the_points_away_but_they_can_still_be_read() -> None:
    lost = after(TINY, *map(deal, ["R1", "R3", "R4", "R4"]), play(0), deal("R1"), play(0))
    assert TINY.current_player(lost) == TERMINAL
    assert TINY.rewards(lost) == [-1.0, -1.0]
    assert TINY.outcome(lost) == {
        "won": False, "ended_early": True, "score": 0.0, "points": 1, "bombed": True, "perfect": False, "lives": 0,
        "strict": 0, "figures": ["points", "strict", "perfect", "bombed", "lives"]
    }  # fmt: skip
    assert (TINY.state_to_json(lost)["discards"], TINY.state_to_json(lost)["deck_size"]) == (["R4"], 5)


def test_after_the_last_card_everybody_has_one_more_turn() -> None:
    small = Hanabi(config(2, 1, 2, 2, 3, 3))  # R1 R1 R1 R2
    state = after(small, *map(deal, ["R1", "R1", "R1", "R2"][:4]))
    assert small.state_to_json(state)["final_turns"] == 2
    state = after(small, play(0), state=state)
    assert (small.state_to_json(state)["final_turns"], small.current_player(state)) == (1, 1)
    done = after(small, play(1), state=state)
    assert small.outcome(done)["perfect"]
    done = after(small, hint(1, "1"), state=state)
    assert small.current_player(done) == TERMINAL
    assert (small.state_to_json(done)["final_turns"], small.outcome(done)["score"]) == (0, 1.0)


def test_illegal_and_unknown_actions_are_refused() -> None:
    state = after(TWO, *DEAL)
    for action in (discard(0), hint(1, "5"), deal("R1"), "no such action"):
        with pytest.raises(IllegalActionError, match="is not legal here"):
            TWO.apply_action(state, action)


def test_walk_and_playout_agree_with_single_steps() -> None:
    game, rng = GAMES["hanabi-mini-2p"], random.Random(3)
    state, actions = game.initial_state(), list[str]()
    while legal := game.legal_actions(state):
        actions.append(careful(game, state, rng))
        assert actions[-1] in legal
        state = game.apply_action(state, actions[-1])
    assert [game.state_to_json(one) for one in game.walk(actions)][-1] == game.state_to_json(state)
    assert game.playout(state, rng, 100) == [0.0, 0.0]
    start = after(game, *actions[:-1])
    assert min(game.playout(start, rng, 100)) >= -9.0


def test_text_of_a_state_that_is_not_known_is_an_error() -> None:
    text = str(after(TWO, *DEAL, hint(1, "1")))
    table = read(text)
    assert table.hands[1][0] == Slot("G1", None, 1, "RYGWB", "1")
    assert (table.mover, table.deck_size, table.discards) == (1, 40, ())
    wrong = {"Life": "Lives", "R1 ||": "R1 |", "Deck size: 40": "Deck: 40", "Hands:": "Hands", "R0": "Z0"}
    wrong |= {"Discards:": "Discards: Z9", "Cur player": "Current player"}
    for old, new in wrong.items():
        with pytest.raises(GameError, match="OpenSpiel's text of a Hanabi state has changed"):
            read(text.replace(old, new))


def test_drawing_hides_the_own_cards() -> None:
    state = after(TWO, *DEAL, hint(1, "1"))
    assert TWO.render(state) == (
        "fireworks R0 Y0 G0 W0 B0, points 0\ninformation 7, lives 3, deck 40\nplayer_0: R1  R2  Y1  Y1  B5\n"
        "player_1 *: G1(1)  R3  W4  W1(1)  B1(1)\ndiscards -"
    )
    assert "player_1 *: ??(1)  ??  ??  ??(1)  ??(1)" in TWO.render(state, 1)
    assert "player_0: R1  R2  Y1  Y1  B5" in TWO.render(state, 1)
