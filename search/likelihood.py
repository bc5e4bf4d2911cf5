"""How likely a policy makes what the other players did, worked out once for all histories that the mover cannot tell
apart."""

import math
from collections.abc import Sequence

from games.api import Action, Game, State
from search.api import ActionPrior, PlannerConfig
from search.particles import HistoryKeys


class Reader:
    """Reads the other players' actions; it may live as long as a game.

    Attributes:
        keys: of the players' histories.
        prior: the policy that the others are taken to have.
    """

    def __init__(self, game: Game, config: PlannerConfig, prior: ActionPrior) -> None:
        self.keys = HistoryKeys()
        self.prior = prior
        self._game = game
        self._mix = config.belief_mix
        self._temper = config.belief_temper
        self._known: dict[int, float | None] = {}

    def start(self) -> list[int]:
        """Returns each player's key before anything happened."""
        return [self.keys.start(player) for player in range(self._game.info.num_players)]

    def read(self, keys: list[int], mover: int, state: State, action: Action) -> float | None:
        """Returns the log-likelihood of one action under the mixed and tempered policy, None if it is not legal.

        Args:
            keys: each player's history up to its last own action; the mover's is brought up to this one.
            mover: who acts.
            state: the state in which it does.
            action: what it does.
        """
        seen = self.keys.seen(keys[mover], self._game.observations(state)[mover])
        # What the mover did belongs to this key, so that it says which action of which decision is meant.
        after = keys[mover] = self.keys.done(seen, action)
        if after in self._known:
            return self._known[after]
        found = self._known[after] = self._log_likelihood(state, mover, action)
        return found

    def _log_likelihood(self, state: State, mover: int, action: Action) -> float | None:
        legal = self._game.legal_actions(state)
        if action not in legal:
            return None
        return log_forecast(self.prior(state, legal, mover), legal.index(action), self._temper, self._mix)


def log_forecast(chances: Sequence[float], taken: int, temper: float, mix: float) -> float:
    """Returns the log-probability, in nats, that a mixed and tempered policy gives to an action.

    Args:
        chances: the policy's probability of every legal action, summing to 1.
        taken: index of the action.
        temper: the mixed probabilities are raised to this and divided by their sum: above 1 the policy is taken to be
            surer of itself than it says, below 1 less sure. Without the sum, a history in which the policy is sure of
            anything at all would gain weight by a temper above 1, whatever was done.
        mix: share of the uniform policy.
    """
    even = mix / len(chances)
    chance = (1.0 - mix) * chances[taken] + even
    if chance <= 0.0:
        # What cannot have happened stays so, however weak the evidence is made.
        return -math.inf
    if temper == 1.0:
        return math.log(chance)
    total = math.fsum(((1.0 - mix) * other + even) ** temper for other in chances)
    return temper * math.log(chance) - math.log(total)
