"""Bots play as their published namesakes do: mean points, kept after the last life is lost too."""

import random
from collections.abc import Sequence
from statistics import mean
from typing import Any

import pytest

from arena.agents.partner import partners
from games.api import CHANCE, Action, GameError, Observation, observe
from games.hanabi.config import VARIANTS, config, deal, discard, hint, play
from games.hanabi.game import Hanabi
from games.hanabi.hat import Hat
from games.hanabi.mind import sizes_of
from games.hanabi.partners import PARTNERS
from games.hanabi.reading import read
from games.hanabi.simple_bots import Simple, Valued


def game_of(game: Hanabi, name: str, seed: str, view: str = "default") -> dict[str, Any]:
    """Returns the outcome of one game of a bot with itself."""
    rng, state = random.Random(seed), game.initial_state()
    own: list[list[tuple[Observation, Action]]] = [[] for _ in range(game.info.num_players)]
    while legal := game.legal_actions(state):
        player = game.current_player(state)
        if player == CHANCE:
            outcomes = game.chance_outcomes(state)
            (action,) = rng.choices([card for card, _ in outcomes], [chance for _, chance in outcomes])
        else:
            shown = observe(game, state, player, view)
            action = PARTNERS[name]([*own[player], (shown, None)], legal, rng)
            assert action in legal
            own[player].append((shown, action))
        state = game.apply_action(state, action)
    return dict(game.outcome(state))


def points(name: str, players: int, games: int) -> tuple[float, float]:
    """Returns mean points and the share of games that lost all lives."""
    game = Hanabi(config(players))
    ends = [game_of(game, name, f"{name} {number}") for number in range(games)]
    return mean(end["points"] for end in ends), mean(end["bombed"] for end in ends)


PUBLISHED = {
    "simple": ({2: 16.92, 3: 18.48, 4: 19.32, 5: 18.50}, 0.25),
    "value": ({2: 19.79, 3: 19.43, 4: 19.39, 5: 17.76}, 0.30),
}


@pytest.mark.parametrize(("name", "players"), [("simple", 5), ("value", 4)])
def test_bots_come_near_their_published_points_and_lose_no_game(name: str, players: int) -> None:
    scored, bombed = points(name, players, 12)
    assert scored == pytest.approx(PUBLISHED[name][0][players], abs=1.5)
    assert bombed == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_bots_have_their_published_points_over_two_thousand_games(name: str) -> None:
    expected, within = PUBLISHED[name]
    for players, published in expected.items():
        scored, bombed = points(name, players, 2000)
        assert scored == pytest.approx(published, abs=within), players
        assert bombed == 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least", "most"), [("iggi", 15, 18), ("piers", 15, 18), ("flawed", 0, 2)])
def test_bots_without_a_convention_score_about_as_published(name: str, least: float, most: float) -> None:
    scored, bombed = points(name, 2, 300)
    assert least <= scored <= most
    assert (bombed > 0.9) == (name == "flawed")


@pytest.mark.slow
def test_blind_plays_until_the_lives_are_gone() -> None:
    scored, bombed = points("blind", 2, 2000)
    assert scored == pytest.approx(1.25, abs=0.1)
    assert bombed == 1


HAT_POINTS = {3: 24.26, 4: 24.86, 5: 24.89}
"""Of a published bot with the same strategy."""


@pytest.mark.parametrize("players", HAT_POINTS)
def test_hat_comes_near_all_points(players: int) -> None:
    scored, bombed = points("hat", players, 1)
    assert scored >= 23
    assert bombed == 0


@pytest.mark.slow
@pytest.mark.parametrize("players", HAT_POINTS)
def test_hat_has_the_points_of_the_published_bot(players: int) -> None:
    scored, bombed = points("hat", players, 200)
    assert scored >= HAT_POINTS[players] - 0.2
    assert bombed == 0


def test_all_players_read_the_same_out_of_a_hint_and_the_holder_what_the_others_see() -> None:
    game, rng = Hanabi(config(3)), random.Random(3)
    state, told = game.initial_state(), 0
    own: list[list[tuple[Observation, Action]]] = [[], [], []]
    while legal := game.legal_actions(state):
        player = game.current_player(state)
        action = rng.choice(legal)
        if player != CHANCE:
            shown = game.observations(state)
            minds = [Hat([*own[seat], (shown[seat], None)]) for seat in range(3)]
            assert minds[0].may_be == minds[1].may_be == minds[2].may_be
            cards = [slot.card for hand in read(str(state)).hands for slot in hand]
            numbers = [known.number for hand in minds[0].course.hands for known in hand]
            for number, card in zip(numbers, cards, strict=True):
                assert minds[0].may_be.get(number, minds[0].all_bits) & minds[0].bits[card]
            told += sum(mask.bit_count() < 10 for mask in minds[0].may_be.values())
            action = minds[player].choose(legal)
            assert action in legal
        state = game.apply_action(state, action)
        if player != CHANCE:
            own[player].append((shown[player], action))
    assert told > 100


def test_hat_plays_on_when_a_stranger_gives_hints_that_mean_nothing_to_it() -> None:
    game = Hanabi(config(3))
    for seed in range(5):
        rng, state = random.Random(seed), game.initial_state()
        own: list[list[tuple[Observation, Action]]] = [[], [], []]
        while legal := game.legal_actions(state):
            player = game.current_player(state)
            action = rng.choice(legal)
            if player != CHANCE:
                shown = observe(game, state, player, "default")
                if player:
                    action = PARTNERS["hat"]([*own[player], (shown, None)], legal, rng)
                assert action in legal
                own[player].append((shown, action))
            state = game.apply_action(state, action)


def test_hat_needs_three_players() -> None:
    assert ["hat" in partners(f"hanabi-{players}p") for players in (2, 3, 4, 5)] == [False, True, True, True]
    assert [*partners("hanabi-2p")] == [name for name in PARTNERS if name != "hat"]
    two = seen_after(Hanabi(config(2)), "R4 R4 Y4 Y4 R1 W2 W3 W5 G3 G1")
    with pytest.raises(GameError, match=r"hat plays with 3 players or more, not with 2: .* choose hanabi-3p"):
        PARTNERS["hat"](two, [], random.Random(0))


@pytest.mark.parametrize("name", [name for name in PARTNERS if name != "hat"])
@pytest.mark.parametrize("variant", ["hanabi-mini-2p", "hanabi-tiny-2p", "hanabi-3p"])
def test_every_bot_plays_every_size_in_every_view(name: str, variant: str) -> None:
    game = Hanabi(VARIANTS[variant])
    ends = [game_of(game, name, str(number), view) for number, view in enumerate(("default", "possible", "bare"))]
    assert all(0 <= end["points"] <= game.config.perfect for end in ends)


def seen_after(game: Hanabi, cards: str, *actions: Action) -> list[tuple[Observation, Action | None]]:
    """Returns the decision points of whoever is to move after a deal and some moves."""
    state = game.initial_state()
    for action in (*map(deal, cards.split()), *actions):
        state = game.apply_action(state, action)
    return [(game.observations(state)[game.current_player(state)], None)]


def chosen(name: str, cards: str, *actions: Action, players: int = 2) -> Action:
    game = Hanabi(config(players))
    history = seen_after(game, cards, *actions)
    legal: Sequence[Action] = [*map(play, range(5)), *map(discard, range(5))] if actions else [*map(play, range(5))]
    return PARTNERS[name](history, legal, random.Random(0))


def test_simple_hints_what_names_most_cards_that_can_be_played() -> None:
    assert chosen("simple", "R4 R4 Y4 Y4 G4 W2 R1 Y1 G1 B3") == hint(1, "1")
    # With all tokens there, a rank that names the oldest card of the player to the right says nothing.
    assert chosen("simple", "R4 R4 Y4 Y4 G4 R1 Y1 G1 W2 B3") == hint(1, "R")


def test_simple_plays_what_was_named_and_discards_its_oldest_card() -> None:
    assert chosen("simple", "R4 R4 Y4 Y4 G4 G3 R1 G4 W2 B3", hint(1, "R")) == play(1)
    history = seen_after(Hanabi(config(2)), "R4 R4 Y4 Y4 G4 G3 R1 G4 W2 B3", hint(1, "R"), play(1), deal("W3"))
    assert Simple(history).choose([discard(0)]) == discard(0)


def test_a_played_card_takes_the_flag_from_those_that_may_be_the_same() -> None:
    game = Hanabi(config(3))
    moves = [hint(1, "1"), play(0), deal("B4")]
    mind = Simple(seen_after(game, "R4 R4 Y4 Y4 G4 R1 R1 G1 W2 B3 Y2 Y3 Y2 G5 B5", *moves))
    assert mind.flags == {}
    moves = [hint(1, "R"), play(0), deal("B4")]
    mind = Simple(seen_after(game, "R4 R4 Y4 Y4 G4 R1 G1 W3 W2 B3 Y2 Y3 Y2 G5 B5", *moves))
    assert (mind.flags, mind.piles["R"]) == ({}, 1)


def test_iggi_tells_what_can_be_played_and_plays_what_is_certain() -> None:
    assert chosen("iggi", "R4 R4 Y4 Y4 G4 W2 R1 Y3 G1 B3") == hint(1, "1")
    assert chosen("iggi", "R4 R4 Y4 Y4 G4 W2 R1 Y3 G1 B3", hint(1, "1")) == play(1)


def test_value_warns_of_a_last_copy_and_the_warned_player_keeps_it() -> None:
    game = Hanabi(config(3))
    cards = "R4 R4 Y4 Y4 G4 G5 R3 G4 W2 B3 R3 Y3 G3 W3 B4"
    assert chosen("value", cards, players=3) == hint(1, "5")
    mind = Valued(seen_after(game, cards, hint(1, "5")))
    assert (mind.flags, len(mind.kept)) == ({}, 1)
    assert mind.choose([*map(discard, range(5))]) == discard(1)


def test_with_two_players_a_hint_at_full_tokens_that_names_the_oldest_card_warns_of_nothing() -> None:
    cards = "R4 R4 Y4 Y4 G4 G5 R3 G4 W2 B3"
    mind = Valued(seen_after(Hanabi(config(2)), cards, hint(1, "5")))
    assert (mind.flags, mind.kept) == ({}, set())
    # Who gives it does not notice: one that tells of cards that fit is given all the same, and nobody heeds it.
    assert chosen("value", "R4 R4 Y4 Y4 G4 R1 Y1 G1 W2 B3") == hint(1, "1")
    assert chosen("simple", "R4 R4 Y4 Y4 G4 R1 Y1 G1 W2 B3") == hint(1, "R")


def test_sizes_are_told_from_the_first_decision_point() -> None:
    for name, sizes in VARIANTS.items():
        rng, game, own = random.Random(name), Hanabi(sizes), dict[int, Observation]()
        state = game.initial_state()
        while len(own) < sizes.players and (legal := game.legal_actions(state)):
            player = game.current_player(state)
            if player >= 0:
                own[player] = game.observations(state)[player]
            state = game.apply_action(state, rng.choice(legal))
        assert all(sizes_of([(shown, None)]) == sizes for shown in own.values())
