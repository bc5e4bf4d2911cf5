"""What each card's colour should be believed to be, against the posterior over all assignments."""

import random

import numpy as np
import pytest

from cwm.trajectories.recorded import collect
from games.api import GameError
from games.yokai.game import make
from tests.oracles import exact_beliefs as belief


@pytest.mark.parametrize(("cards", "players"), [(9, 2), (9, 3), (8, 2)])
def test_marginals_are_those_of_the_posterior_over_all_assignments(cards: int, players: int) -> None:
    game = make(cards, players)
    colours = game.config.colours
    for trajectory in collect(game, 2, 8):
        points = [number for number, step in enumerate(trajectory.steps) if step.player >= 0]
        for number in random.Random(3).sample(points, 5):
            player = trajectory.steps[number].player
            found = game.marginals(trajectory.history(player, number), player)
            evidence = belief.from_state(trajectory.steps[number].state, player)
            exact = belief.marginals(belief.posterior(evidence))
            shares = [[marginal.get(colour, 0.0) for colour in colours] for marginal in found]
            np.testing.assert_allclose(shares, exact, atol=1e-5)


def test_a_history_says_what_each_card_is() -> None:
    game = make(16, 2)
    trajectory = collect(game, 1, 0)[0]
    actions = [step.action for step in trajectory.steps if step.action is not None]
    state = trajectory.steps[-1].state
    assert game.hidden_parts(actions) == game.hidden_parts_of(state) == state["colours"]


def test_marginals_of_an_empty_history_are_refused() -> None:
    with pytest.raises(GameError, match="empty"):
        make(9, 2).marginals([], 0)
