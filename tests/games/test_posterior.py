"""The exact posterior by listing all histories, against values worked out by hand and the games' own samplers."""

import random
from collections import Counter

import pytest

from games import posterior, registry
from games.api import CHANCE, TERMINAL
from games.posterior import Belief, StatesMarginals, TooLargeError


class Peek:
    """Player 0 is dealt `a` (2/3) or `b` (1/3) and says `high` or `low`, but on `b` only `high`; player 1 ends it."""

    info = registry.make("kuhn_poker").info

    def initial_state(self):
        return []

    def current_player(self, state):
        return {0: CHANCE, 1: 0, 2: 1}.get(len(state), TERMINAL)

    def legal_actions(self, state):
        if len(state) == 1 and state[0] == "b":
            return ["high"]
        return {0: ["a", "b"], 1: ["high", "low"], 2: ["done"]}.get(len(state), [])

    def chance_outcomes(self, state):
        return [("a", 2 / 3), ("b", 1 / 3)] if not state else []

    def apply_action(self, state, action):
        return [*state, action]

    def rewards(self, state):
        return [0.0, 0.0]

    def observations(self, state):
        return [{"card": state[0] if state else None}, {"said": state[1:]}]


def by_observation(beliefs: list[Belief], player: int) -> dict[str, Belief]:
    return {str(belief.history[-1][0]): belief for belief in beliefs if belief.player == player}


def test_what_another_player_does_says_what_it_could_have_done():
    found = by_observation(posterior.beliefs(Peek()), 1)
    high, low = found["{'said': ['high']}"], found["{'said': ['low']}"]
    # By Bayes: 2/3 times 1/2 against 1/3 times 1.
    assert high.probabilities == pytest.approx({("a", "high"): 0.5, ("b", "high"): 0.5})
    assert low.probabilities == {("a", "low"): 1.0}
    assert (high.reach, low.reach) == pytest.approx((2 / 3, 1 / 3))


def test_a_players_own_choice_says_nothing_to_it():
    beliefs = posterior.beliefs(registry.make("kuhn_poker"))
    after_its_pass = [belief for belief in beliefs if len(belief.history) == 2]
    assert len(after_its_pass) == 3
    for belief in after_its_pass:
        assert list(belief.probabilities.values()) == [0.5, 0.5]


def test_kuhn_has_twelve_decision_points_and_leduc_nine_hundred_and_thirty_six():
    kuhn = posterior.beliefs(registry.make("kuhn_poker"))
    leduc = posterior.beliefs(registry.make("leduc_poker"))
    # Leduc's usual 288 information sets know ranks alone; here cards have their own numbers.
    assert (len(kuhn), len(leduc)) == (12, 936)
    for belief in [*kuhn, *leduc]:
        assert sum(belief.probabilities.values()) == pytest.approx(1)
    first = [belief for belief in leduc if belief.player == 0 and len(belief.history[0][0]["round_1_betting"]) == 0]
    assert sum(belief.reach for belief in first if len(belief.history) == 1) == pytest.approx(1)


def test_the_reference_sampler_of_leduc_draws_from_the_posterior():
    game, rng = registry.make("leduc_poker"), random.Random(5)
    for belief in random.Random(6).sample(posterior.beliefs(game), 8):
        counts = Counter(tuple(game.resample_history(belief.history, belief.player, rng)) for _ in range(400))
        assert set(counts) == set(belief.probabilities)
        for actions, probability in belief.probabilities.items():
            spread = (400 * probability * (1 - probability)) ** 0.5
            assert abs(counts[actions] - 400 * probability) <= 5 * spread


def test_a_large_game_is_refused():
    with pytest.raises(TooLargeError, match="more than 1,000 nodes"):
        posterior.beliefs(registry.make("leduc_poker"), max_nodes=1000)


def test_only_games_that_state_them_have_marginals():
    assert isinstance(registry.make("yokai-9c-2p"), StatesMarginals)
    assert not isinstance(registry.make("leduc_poker"), StatesMarginals)
