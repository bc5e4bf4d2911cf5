"""One game of a model for an agent that learns at one seat: all other seats and chance play at random.

Loaded into workers: standard library alone.
"""

import random
from typing import Any, Final

from cwm.sandbox.wire.failures import describe
from cwm.sandbox.wire.plain_json import normalise
from games.api import CHANCE, TERMINAL, Action, Json, Observation, State

MOST_MESSAGE: Final = 200
MOST_MESSAGES: Final = 20
LARGEST: Final = 1e30
"""Larger numbers, and sums of them, do not fit where single precision is enough for learning."""


class WalkError(Exception):
    """A game of the model cannot go on; the message says what broke the contract."""


class EndlessWalkError(WalkError):
    """A game was cut."""


def chosen(outcomes: Any, point: float) -> Action:
    """Returns the outcome of a chance node at a uniform random point from 0 to 1."""
    total = sum(probability for _, probability in outcomes)
    left = point * total
    for action, probability in outcomes:
        left -= probability
        if left < 0:
            return str(action)
    return str(outcomes[-1][0])


class Walk:
    """One game under way, played by chance at all seats but one.

    Attributes:
        legal: the learner's legal actions, where it is to decide.
        returns: sum of the rewards, shape [num_players].
        paid: what the learner was paid since it was asked last.
        actions: of all players and of chance.
    """

    def __init__(self, game: Any, seat: int, rng: random.Random, max_actions: int) -> None:
        """Args:
        game: the model.
        seat: of the learner.
        rng: chooses for all others and for chance.
        max_actions: of all players and of chance; then the game is cut.
        """
        self._game = game
        self._seat = seat
        self._rng = rng
        self._most = max_actions
        self._state: State = game.initial_state()
        self.legal: list[Action] = []
        self.returns = [0.0] * game.info.num_players
        self.paid = 0.0
        self.actions = 0

    def advance(self) -> bool:
        """Plays on until the learner is to decide; returns False at the end of the game.

        Raises:
            WalkError: the model broke its contract in a way that shows.
            EndlessWalkError: the game is too long.
            Exception: whatever the model raises.
        """
        game, rng = self._game, self._rng
        while True:
            player = game.current_player(self._state)
            if player == TERMINAL:
                return False
            if self.actions >= self._most:
                raise EndlessWalkError(f"the game was cut after {self._most} actions")
            if player == CHANCE:
                self._apply(chosen(game.chance_outcomes(self._state), rng.random()))
                continue
            if type(player) is not int or not 0 <= player < game.info.num_players:
                raise WalkError(f"get_current_player returned {player!r:.40}")
            legal = game.legal_actions(self._state)
            if not isinstance(legal, list | tuple) or not legal:
                raise WalkError("get_legal_actions returned no actions before the end of the game")
            if player == self._seat:
                self.legal = list(legal)
                return True
            self._apply(rng.choice(legal))

    def observation(self) -> Observation:
        """Returns what the learner sees."""
        seen: Observation = self._game.observations(self._state)[self._seat]
        return seen

    def act(self, action: Action) -> None:
        """Plays the learner's action."""
        self.paid = 0.0
        self._apply(action)

    def act_by_chance(self) -> Action:
        """Plays a random legal action for the learner and returns it; what it pays is added to what was paid."""
        action = self._rng.choice(self.legal)
        self._apply(action)
        return action

    def _apply(self, action: Action) -> None:
        self.actions += 1
        self._state = self._game.apply_action(self._state, action)
        rewards = self._game.rewards(self._state)
        if not all(abs(reward) <= LARGEST for reward in rewards):
            raise WalkError(f"get_rewards returned {rewards!r:.80}, expected numbers of at most {LARGEST:g}")
        self.returns = [total + float(now) for total, now in zip(self.returns, rewards, strict=True)]
        self.paid += float(rewards[self._seat])


def explore(game: Any, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Plays games by chance and returns what the learner may meet: every second one prefers actions not yet played.

    Args:
        game: the model.
        argument: `seat`; `games`; `observations`, after how many to stop; `max_actions` of one game.
        rng: chooses for all.

    Returns:
        `observations` of the seat's decisions; its `actions`, sorted; `games` that ended; `failures` with counts.
    """
    seat, most = argument["seat"], argument["observations"]
    found: list[Json] = []
    listed: set[Action] = set()
    played: set[Action] = set()
    failures: dict[str, int] = {}
    ended = 0
    for number in range(argument["games"]):
        if len(found) >= most:
            break
        try:
            walk = Walk(game, seat, rng, argument["max_actions"])
            while walk.advance():
                found.append(normalise(walk.observation()))
                listed.update(walk.legal)
                fresh = [action for action in walk.legal if action not in played] if number % 2 else []
                action = rng.choice(fresh or walk.legal)
                played.add(action)
                walk.act(action)
            ended += 1
        except MemoryError:
            raise
        except BaseException as error:
            count(failures, message_of(error))
    return {"observations": found[:most], "actions": sorted(map(str, listed)), "games": ended, "failures": failures}


def message_of(error: BaseException) -> str:
    """Returns in one line what went wrong in a game."""
    if isinstance(error, WalkError):
        return str(error)[:MOST_MESSAGE]
    found = describe(error, {})
    return f"{found['type']}: {found['message']}"[:MOST_MESSAGE]


def count(counts: dict[str, int], message: str) -> None:
    """Adds 1 to the count of a message; of too many different ones the later are counted together."""
    # A model may word each failure anew.
    key = message if message in counts or len(counts) < MOST_MESSAGES else "others"
    counts[key] = counts.get(key, 0) + 1
