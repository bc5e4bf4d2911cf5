"""How likely a policy makes what the other players did, worked out once for all histories that the mover cannot tell
apart."""

import math

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
        self._known: dict[int, float | None] = {}

    def start(self) -> list[int]:
        """Returns each player's key before anything happened."""
        return [self.keys.start(player) for player in range(self._game.info.num_players)]

    def read(self, keys: list[int], mover: int, state: State, action: Action) -> float | None:
        """Returns the log-likelihood of one action, None if it is not legal.

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
        chance = self.prior(state, legal, mover)[legal.index(action)]
        chance = (1.0 - self._mix) * chance + self._mix / len(legal)
        return math.log(chance) if chance > 0.0 else -math.inf
