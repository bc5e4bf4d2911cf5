"""Whole games on one model, between planners: for tournaments on the model, and for the states that planners visit."""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from games.api import CHANCE, TERMINAL, Action, Game, Observation, State, state_to_json
from search.api import Planner, Position
from search.errors import describe
from search.selection import pick


@dataclass
class Episode:
    """What became of one game.

    Attributes:
        returns: sum of the rewards, shape [num_players].
        ended: True if the game came to its end.
        actions: number of players' actions.
        fallbacks: decisions in which a search gave up, by player.
        errors: exceptions of the model inside searches, by message.
        failure: None, or why the game could not be played on.
    """

    returns: list[float]
    ended: bool = False
    actions: int = 0
    fallbacks: list[int] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)
    failure: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Table:
    """One game under way.

    Args:
        game: the model.
        planners: one a player; None plays at random.
        seed: text from which every random choice derives.
        deal: text from which chance derives, equal for games that are to have the same deal.
    """

    def __init__(self, game: Game, planners: Sequence[Planner | None], seed: str, deal: str) -> None:
        self._game = game
        self._planners = planners
        players = game.info.num_players
        self._chance = random.Random(deal)
        self._rngs = [random.Random(f"{seed}/player {player}") for player in range(players)]
        self._histories: list[list[tuple[Observation, Action | None]]] = [[] for _ in range(players)]
        self.episode = Episode(returns=[0.0] * players, fallbacks=[0] * players)

    def play(self, max_actions: int, steps: list[dict[str, Any]] | None = None) -> Episode:
        """Plays to the end, or until players have acted `max_actions` times.

        Args:
            max_actions: see above.
            steps: if given, gets a record of every state.
        """
        try:
            self._play(max_actions, steps)
        except MemoryError:
            raise
        except Exception as error:
            self.episode.failure = describe(error)
        return self.episode

    def _play(self, max_actions: int, steps: list[dict[str, Any]] | None) -> None:
        game, episode = self._game, self.episode
        state = game.initial_state()
        while episode.actions <= max_actions:
            player = game.current_player(state)
            if player == TERMINAL:
                if steps is not None:
                    steps.append(step_record(game, state, player, None))
                episode.ended = True
                return
            if player == CHANCE:
                action = pick(game.chance_outcomes(state), self._chance.random())
            elif episode.actions == max_actions:
                return
            else:
                action = self._decide(state, player)
                episode.actions += 1
            if steps is not None:
                steps.append(step_record(game, state, player, action))
            state = game.apply_action(state, action)
            rewards = game.rewards(state)
            episode.returns = [paid + now for paid, now in zip(episode.returns, rewards, strict=True)]

    def _decide(self, state: State, player: int) -> Action:
        game, planner, rng = self._game, self._planners[player], self._rngs[player]
        if planner is None:
            action = rng.choice(game.legal_actions(state))
            self._histories[player].append((game.observations(state)[player], action))
            return action
        observation = game.observations(state)[player]
        history = [*self._histories[player], (observation, None)]
        known = state if game.info.perfect_information else None
        decision = planner.choose(Position(player, history, known), rng)
        self.episode.fallbacks[player] += decision.fallback is not None
        for message, count in decision.errors.items():
            self.episode.errors[message] = self.episode.errors.get(message, 0) + count
        self._histories[player].append((observation, decision.action))
        return decision.action


def step_record(game: Game, state: State, player: int, action: Action | None) -> dict[str, Any]:
    """Returns one step of a recorded game as JSON: the fields that trajectories have."""
    return {
        "player": player,
        "action": action,
        "state": state_to_json(game, state),
        "observations": list(game.observations(state)),
        "legal_actions": list(game.legal_actions(state)),
        "chance": [list(outcome) for outcome in game.chance_outcomes(state)],
        "rewards": list(game.rewards(state)),
    }
