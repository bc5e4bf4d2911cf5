"""What a leaf is worth: random play to the end, or the game's value function."""

import math
import random
from collections.abc import Callable

from games.api import CHANCE, EstimatesValue, Game, PlaysOut, State
from search.api import Evaluator, PlannerConfig, PlannerConfigError
from search.errors import BrokenModelError
from search.selection import pick


def random_playout(game: Game, state: State, rng: random.Random, max_actions: int) -> list[float]:
    """Plays uniform random moves.

    Args:
        game: the game.
        state: where to start.
        rng: chooses moves and chance.
        max_actions: the game is cut after that many actions; what is still open counts as 0.

    Returns:
        The sum of the rewards paid after `state`, shape [num_players].
    """
    current_player, legal_actions = game.current_player, game.legal_actions
    apply_action, rewards, uniform = game.apply_action, game.rewards, rng.random
    nothing = [0.0] * game.info.num_players
    total = nothing
    for _ in range(max_actions):
        player = current_player(state)
        if player >= 0:
            actions = legal_actions(state)
            action = actions[int(uniform() * len(actions))]
        elif player == CHANCE:
            action = pick(game.chance_outcomes(state), uniform())
        else:
            break
        state = apply_action(state, action)
        reward = rewards(state)
        if reward != nothing:
            total = [paid + more for paid, more in zip(total, reward, strict=True)]
    return total


class Rollouts:
    """The mean of several random rollouts."""

    def __init__(self, game: Game, rollouts: int, max_actions: int) -> None:
        self._rollouts = rollouts
        self._max_actions = max_actions
        self._playout: Callable[[State, random.Random, int], list[float]] | None = (
            game.playout if isinstance(game, PlaysOut) else None
        )

    def __call__(self, game: Game, state: State, rng: random.Random) -> list[float]:
        """Returns each player's mean sum of rewards paid after `state`, shape [num_players].

        Raises:
            BrokenModelError: the sum is not finite.
        """
        total = self._once(game, state, rng)
        for _ in range(self._rollouts - 1):
            total = [mean + more for mean, more in zip(total, self._once(game, state, rng), strict=True)]
        if not math.isfinite(sum(total)):
            raise BrokenModelError(f"the rewards of a random game sum to {total}, expected finite numbers")
        return total if self._rollouts == 1 else [value / self._rollouts for value in total]

    def _once(self, game: Game, state: State, rng: random.Random) -> list[float]:
        if self._playout is not None:
            return self._playout(state, rng, self._max_actions)
        return random_playout(game, state, rng, self._max_actions)


class ValueFunction:
    """The game's value function.

    Where one player's return fixes the others' (identical interest, two players with opposed interests) it is asked
    once, for the player who searches; else once for each player.
    """

    def __init__(self, game: EstimatesValue, viewpoint: int) -> None:
        self._value = game.value
        self._viewpoint = viewpoint

    def __call__(self, game: Game, state: State, rng: random.Random) -> list[float]:
        """Returns each player's estimated sum of rewards paid after `state`, shape [num_players].

        Raises:
            BrokenModelError: the value function returned something that is not a finite number.
        """
        info, value, viewpoint = game.info, self._value, self._viewpoint
        players = info.num_players
        if info.utility == "identical":
            values = [value(state, viewpoint)] * players
        elif players == 2 and info.utility in ("win_loss_draw", "zero_sum"):
            own = value(state, viewpoint)
            values = [own, -own] if viewpoint == 0 else [-own, own]
        else:
            values = [value(state, player) for player in range(players)]
        if not math.isfinite(sum(values)):
            raise BrokenModelError(f"the value function returned {values}, expected finite numbers")
        # The tree has already counted what was paid on reaching the leaf, and `value` holds it too.
        paid = game.rewards(state)
        if any(paid):
            values = [total - already for total, already in zip(values, paid, strict=True)]
        return values


def checked_reward(reward: list[float], players: int) -> list[float]:
    """Returns `reward` if it is one finite number a player.

    Raises:
        BrokenModelError: it is not.
    """
    if len(reward) != players or not math.isfinite(sum(reward)):
        raise BrokenModelError(f"the model paid {reward}, expected {players} finite numbers")
    return reward


def make(game: Game, config: PlannerConfig, viewpoint: int) -> Evaluator:
    """Returns the evaluator that `config` asks for.

    Args:
        game: the game that is searched.
        config: its `leaf`, `rollouts` and `max_rollout_actions` count.
        viewpoint: the player who searches.

    Raises:
        PlannerConfigError: `leaf` is `value` and the game has no value function, or `leaf` is unknown.
    """
    if config.leaf == "rollout":
        return Rollouts(game, config.rollouts, config.max_rollout_actions)
    if config.leaf != "value":
        raise PlannerConfigError(f"leaf is {config.leaf!r}, expected 'rollout' or 'value'.")
    if not isinstance(game, EstimatesValue):
        raise PlannerConfigError(f"leaf='value' needs a value function, and {game.info.id} has none: use 'rollout'.")
    return ValueFunction(game, viewpoint)
