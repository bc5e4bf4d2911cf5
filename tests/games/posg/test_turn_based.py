"""Games of turns as games of simultaneous moves: one agent is active at a time, chance is drawn in the steps."""

import math
import random
from collections.abc import Sequence

import pytest

from games import registry
from games.api import Action
from games.posg import registry as simultaneous
from games.posg import turn_based
from games.posg.api import PosgError, PosgHistory
from games.posg.best_response import AtRandom, BestResponse, OnHistory
from games.posg.chance import replaying
from games.posg.contract import assert_posg
from games.posg.exact import ExactModel
from games.posg.turn_based import NOOP, Turn, TurnBased, model_of


@pytest.fixture(scope="module")
def kuhn() -> TurnBased:
    return TurnBased(registry.make("kuhn_poker"))


def other_card(state: Turn, agent: int, rng: random.Random) -> Turn:
    """Returns the same betting with another card in the other's hand."""
    own = state.actions[agent]
    other = rng.choice([card for card in ("Deal:0", "Deal:1", "Deal:2") if card != own])
    cards = (own, other) if agent == 0 else (other, own)
    game = registry.make("kuhn_poker")
    actions = (*cards, *state.actions[2:])
    reached = game.initial_state()
    for action in actions:
        reached = game.apply_action(reached, action)
    return Turn(actions, reached)


def test_kuhn_poker_keeps_the_contract(kuhn: TurnBased) -> None:
    assert_posg(kuhn, games=5, samples=400, hidden=other_card)


@pytest.mark.slow
def test_leduc_poker_keeps_the_contract() -> None:
    assert_posg(TurnBased(registry.make("leduc_poker")), games=10, samples=2_000)


def test_one_agent_is_active_and_the_others_place_is_held(kuhn: TurnBased) -> None:
    assert kuhn.info.actions == ((NOOP, "Pass", "Bet"),) * 2
    assert (kuhn.info.min_step, kuhn.info.max_step, kuhn.info.step_limit) == (-2.0, 2.0, 3)
    state = kuhn.initial_state(replaying({"chance 0": "Deal:2", "chance 1": "Deal:0"}))
    assert (kuhn.active(state), kuhn.legal_actions(state, 0), kuhn.legal_actions(state, 1)) == (
        (0,),
        ["Pass", "Bet"],
        (),
    )
    first, second = kuhn.observe(state, None, replaying({}))
    assert (first["private_card"], second) == (2, {})
    state, rewards, over = kuhn.move(state, ("Bet", NOOP), replaying({}))
    assert (kuhn.active(state), rewards, over) == ((1,), [0.0, 0.0], (False, False))
    state, rewards, over = kuhn.move(state, (NOOP, "Pass"), replaying({}))
    assert (kuhn.active(state), rewards, over) == ((), [1.0, -1.0], (True, True))
    assert kuhn.state_from_json(kuhn.state_to_json(state)) == state


def test_leduc_deals_its_public_card_within_a_step() -> None:
    leduc = TurnBased(registry.make("leduc_poker"), actions=[["Fold", "Call", "Raise"]] * 2)
    state = leduc.initial_state(replaying({"chance 0": "Chance outcome:0", "chance 1": "Chance outcome:5"}))
    state, _, _ = leduc.move(state, ("Call", NOOP), replaying({}))
    exact = ExactModel(leduc)
    steps = exact.steps(state, (NOOP, "Call"))
    assert [step.probability for step in steps] == [0.25] * 4
    assert {step.observations[0]["public_card"] for step in steps} == {1, 2, 3, 4}


def equilibrium(history: PosgHistory, legal: Sequence[Action], agent: int) -> Sequence[float]:
    """Player 1's play in every equilibrium of Kuhn poker."""
    shown = history[-1][0]
    card, is_bet = shown["private_card"], "Bet" in shown["betting"]
    bets = (0.0, 1 / 3, 1.0)[card] if is_bet else (1 / 3, 0.0, 1.0)[card]
    return [1.0 - bets, bets]


def test_the_best_response_to_an_equilibrium_of_kuhn_poker_gets_its_value(kuhn: TurnBased) -> None:
    assert BestResponse(kuhn, 0, (None, OnHistory(equilibrium)), 3).value() == pytest.approx(-1 / 18)
    assert BestResponse(kuhn, 0, (None, AtRandom()), 3).value() > 0.4


def test_a_game_of_too_many_histories_has_its_actions_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_based, "MOST_STATES", 2_000)
    with pytest.raises(PosgError, match="tic_tac_toe has more than 2,000 histories, too many to look for its actions"):
        TurnBased(registry.make("tic_tac_toe"))


def test_an_action_that_was_not_told_is_refused() -> None:
    game = TurnBased(registry.make("kuhn_poker"), actions=[["Pass"], ["Pass"]])
    state = game.initial_state(replaying({"chance 0": "Deal:2", "chance 1": "Deal:0"}))
    with pytest.raises(PosgError, match="agent 0 may do Bet, which `actions` does not list"):
        game.legal_actions(state, 0)


def test_bounds_are_wide_where_no_state_was_looked_at() -> None:
    game = TurnBased(registry.make("kuhn_poker"), actions=[["Pass", "Bet"]] * 2)
    assert (game.info.min_step, game.info.max_step) == (-4.0, 4.0)
    assert math.isclose(game.info.discount, 1.0)


def test_every_game_has_a_model() -> None:
    assert isinstance(model_of(registry.make("kuhn_poker")), TurnBased)
    game = registry.make("mabc")
    assert type(model_of(game)) is type(simultaneous.make("mabc"))
