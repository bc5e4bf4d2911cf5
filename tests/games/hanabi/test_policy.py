"""The reference prior, the reference value, and the bots that make test data."""

import random

import pytest

from cwm.trajectories.recorded import play as trajectory
from games.api import CHANCE, TERMINAL, Action, EstimatesPolicy, EstimatesValue
from games.hanabi.config import VARIANTS, config, deal, discard, hint, play
from games.hanabi.game import Hanabi, HanabiState
from games.hanabi.open_hands import OpenHands
from games.hanabi.partners import PARTNERS
from games.hanabi.policy import POLICIES, ScriptedBot
from games.registry import make
from games.scripted import scripted
from search.api import PlannerConfig, Position
from search.planner import make as make_planner

TWO = Hanabi(config(2))
CARDS = "R4 R4 Y4 Y4 G4 W2 R1 Y3 G1 B3"


def after(game: Hanabi, *actions: Action) -> HanabiState:
    state = game.initial_state()
    for action in actions:
        state = game.apply_action(state, action)
    return state


def prior(game: Hanabi, state: HanabiState) -> dict[Action, float]:
    legal = game.legal_actions(state)
    return dict(zip(legal, game.policy(state, legal, game.current_player(state)), strict=True))


def test_prior_prefers_what_the_bot_does_and_leaves_no_legal_action_out() -> None:
    for moves in ((), (hint(1, "1"),), (hint(1, "1"), play(1), deal("B4"))):
        state = after(TWO, *map(deal, CARDS.split()), *moves)
        chances = prior(TWO, state)
        seen = TWO.observations(state)[TWO.current_player(state)]
        history = [(TWO.observations(after(TWO, *map(deal, CARDS.split())))[0], hint(1, "1")), (seen, None)]
        chosen = PARTNERS["value"](history[-1:] if len(moves) < 2 else history, [*chances], random.Random(0))
        assert max(chances, key=lambda action: chances[action]) == chosen
        assert min(chances.values()) > 0
        assert sum(chances.values()) == pytest.approx(1)


def test_prior_weighs_plays_by_chance_hints_by_what_fits_and_spares_last_copies() -> None:
    begun = prior(TWO, after(TWO, *map(deal, CARDS.split())))
    assert begun[hint(1, "1")] > begun[hint(1, "W")]
    told = after(TWO, *map(deal, CARDS.split()), hint(1, "1"))
    assert prior(TWO, told)[play(1)] > prior(TWO, told)[play(0)]
    # Slot 1 is known to be a five, of which there is one in each colour: it is kept although it is an old card.
    own = prior(TWO, after(TWO, *map(deal, CARDS.replace("R1", "W5").split()), hint(1, "5")))
    assert own[discard(1)] < own[discard(2)] < own[discard(0)]


@pytest.mark.parametrize("variant", ["hanabi-2p", "hanabi-mini-2p", "hanabi-5p"])
def test_prior_is_the_same_in_all_states_that_the_player_cannot_tell_apart(variant: str) -> None:
    game = Hanabi(VARIANTS[variant])
    rng, state = random.Random(variant), game.initial_state()
    own: list[list[tuple[dict[str, object], Action | None]]] = [[] for _ in range(game.config.players)]
    compared = 0
    while (player := game.current_player(state)) != TERMINAL:
        legal = game.legal_actions(state)
        action = rng.choice(legal)
        if player != CHANCE:
            seen = game.observations(state)[player]
            other = after(game, *game.resample_history([*own[player], (seen, None)], player, rng))
            assert game.observations(other)[player] == seen
            assert game.policy(other, legal, player) == game.policy(state, legal, player)
            compared += game.state_to_json(other) != game.state_to_json(state)
            own[player].append((seen, action))
        state = game.apply_action(state, action)
    assert compared > 3


def test_value_is_what_was_paid_at_the_end_and_falls_with_lives_and_turns() -> None:
    tiny = Hanabi(VARIANTS["hanabi-tiny-2p"])
    lost = after(tiny, *map(deal, ["R1", "R3", "R4", "R4"]), play(0), deal("R1"), play(0))
    assert (tiny.current_player(lost), tiny.value(lost, 0)) == (TERMINAL, -1.0)
    begun = after(TWO, *map(deal, CARDS.split()))
    wrong = after(TWO, *map(deal, CARDS.split()), play(0), deal("B4"))
    right = after(TWO, *map(deal, CARDS.replace("R4", "R1", 1).split()), play(0), deal("B4"))
    assert 15 < TWO.value(begun, 0) == TWO.value(begun, 1) < 22
    assert TWO.value(wrong, 0) < TWO.value(begun, 0)
    # A card on its firework has been paid: what is still to come is less, the sum is more than after an error.
    assert TWO.value(wrong, 0) < TWO.value(right, 0)
    played = after(tiny, *map(deal, ["R1", "R2", "R3", "R4"]), play(0), deal("R1"))
    assert 1 < tiny.value(played, 0) <= 5


def test_planners_find_prior_and_value_and_follow_them_at_the_table() -> None:
    assert isinstance(TWO, EstimatesPolicy)
    assert isinstance(TWO, EstimatesValue)
    wishes = PlannerConfig(algorithm="ismcts", simulations=40, selection="puct", prior="policy", leaf="value")
    state = after(TWO, *map(deal, CARDS.split()), hint(1, "1"))
    planner = make_planner(TWO, wishes)
    decision = planner.choose(Position(1, ((TWO.observations(state)[1], None),), None), random.Random(0))
    assert decision.action in (play(1), play(3))
    assert decision.fallback is None
    assert not decision.errors


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "least"), [("hanabi-tiny-2p", 2.5), ("hanabi-mini-2p", 7.0)])
def test_planner_with_prior_and_value_plays_far_better_than_chance(variant: str, least: float) -> None:
    game = Hanabi(VARIANTS[variant])
    wishes = PlannerConfig(algorithm="ismcts", simulations=100, selection="puct", prior="policy", leaf="value")
    points = 0
    for number in range(4):
        rng, state = random.Random(f"planner {number}"), game.initial_state()
        own: list[list[tuple[dict[str, object], Action | None]]] = [[], []]
        planners = [make_planner(game, wishes) for _ in range(2)]
        while (player := game.current_player(state)) != TERMINAL:
            if player == CHANCE:
                outcomes = game.chance_outcomes(state)
                (action,) = rng.choices([card for card, _ in outcomes], [chance for _, chance in outcomes])
            else:
                own[player].append((game.observations(state)[player], None))
                action = planners[player].choose(Position(player, tuple(own[player]), None), rng).action
                own[player][-1] = (own[player][-1][0], action)
            state = game.apply_action(state, action)
        points += int(game.outcome(state)["points"])
    # Random play: 0.25 and 2.45 points a game.
    assert points / 4 >= least


@pytest.mark.parametrize(("variant", "least"), [("hanabi-mini-2p", 9), ("hanabi-tiny-2p", 5), ("hanabi-2p", 1)])
def test_a_player_that_sees_its_own_hand_plays_perfect_games(variant: str, least: int) -> None:
    game = make(variant)
    assert isinstance(game, Hanabi)
    ends = []
    for seed in range(10 if game.config.perfect < 25 else 5):
        played = trajectory(game, [OpenHands()] * 2, seed, 0)
        *_, state = game.walk([step.action for step in played.steps if step.action is not None])
        ends.append(game.end(state))
    assert ends.count("perfect") >= least
    assert "bombed out" not in ends


def test_bots_are_policies_for_test_data_and_slip_as_often_as_they_are_told() -> None:
    assert scripted("hanabi-3p") == POLICIES
    assert {found.bot for found in POLICIES.values() if isinstance(found, ScriptedBot)} <= set(PARTNERS)
    game, state = make("hanabi-2p"), after(TWO, *map(deal, CARDS.split()))
    seen = game.observations(state)[0]
    always = {POLICIES["value"](game, state, [(seen, None)], 0, random.Random(seed)) for seed in range(20)}
    slips = {
        POLICIES["iggi, half the moves random"](game, state, [(seen, None)], 0, random.Random(seed))
        for seed in range(20)
    }
    assert len(always) == 1 < len(slips)
