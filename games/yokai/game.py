"""Yōkai behind `games.api.Game`."""

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from games.api import Action, GameError, GameInfo, ObsActionHistory, Observation
from games.yokai import marginals, observe, playout, render, resample, rules_text, scoring, value
from games.yokai.config import Config, config
from games.yokai.rules import Rules, YokaiState, rules_of

DEAL: Final = "deal "


class YokaiGame:
    """Yōkai for two to four players with 9 or 16 cards, or for two with 8 (a reduced setting, not in the paper).

    A cooperative game of imperfect information: identical interest, chance only in the deal, one move at a time.
    States are JSON dicts (`rules.py`), views are JSON dicts (`observe.py`).

    Attributes:
        config: the configuration.
        rules: its rules.
        memory: serve the view `memory` as the default of `observations`.
    """

    def __init__(self, configuration: Config, memory: bool = False) -> None:
        self.config = configuration
        self.memory = memory
        self.rules: Rules = rules_of(configuration)
        self._rewards_not_over = [scoring.NOT_OVER_REWARD] * configuration.players
        self._info = GameInfo(
            id=configuration.id,
            num_players=configuration.players,
            utility="identical",
            min_utility=-float(len(configuration.colours) + configuration.hints),
            max_utility=5.0 * configuration.hints,
            perfect_information=False,
            has_chance=True,
            player_names=tuple(f"player_{player}" for player in range(configuration.players)),
            max_length=configuration.max_length,
            views=observe.VIEWS[::-1] if memory else observe.VIEWS,
        )
        self._all_actions = configuration.player_actions()
        self._index = {action: index for index, action in enumerate(self._all_actions)}

    @property
    def info(self) -> GameInfo:
        return self._info

    def initial_state(self) -> YokaiState:
        return self.rules.initial_state()

    def current_player(self, state: YokaiState) -> int:
        return self.rules.current_player(state)

    def legal_actions(self, state: YokaiState) -> list[Action]:
        """Returns the legal actions in index order (see `all_actions`)."""
        return self.rules.legal_actions(state)

    def chance_outcomes(self, state: YokaiState) -> list[tuple[Action, float]]:
        return self.rules.chance_outcomes(state)

    def apply_action(self, state: YokaiState, action: Action) -> YokaiState:
        """Returns the next state.

        Raises:
            IllegalActionError: the action is not legal in `state`.
        """
        return self.rules.apply_action(state, action)

    def rewards(self, state: YokaiState) -> list[float]:
        if state["phase"] != "over":
            return list(self._rewards_not_over)
        return [scoring.final_reward(self.rules.grid, state, len(self.config.colours))] * self.config.players

    def observations(self, state: YokaiState) -> list[Observation]:
        return observe.observations(state, self.config.players, self.memory)

    def observation(self, state: YokaiState, player: int, view: str) -> Observation:
        """Returns what `player` sees in `view`, `default` or `memory`.

        Raises:
            GameError: there is no such view.
        """
        if view not in observe.VIEWS:
            raise GameError(f"{self.info.id} has the views {', '.join(self.info.views)}, not {view!r}.")
        return observe.observation(state, player, self.config.players, view == "memory")

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns a history drawn from the exact posterior; see `resample.resample_history`."""
        return resample.resample_history(self.config, history, player, rng)

    def hidden_parts(self, actions: Sequence[Action]) -> list[str]:
        """Returns the colours that a history deals, by card id."""
        return [action.removeprefix(DEAL) for action in actions if action.startswith(DEAL)]

    def hidden_parts_of(self, state: YokaiState) -> list[str]:
        """Returns the true colours, by card id; what lies on face-down hints is no part of it."""
        return list(state["colours"])

    def marginals(self, history: ObsActionHistory, player: int) -> list[Mapping[str, float]]:
        """Returns the exact probability of each colour, by card id; see `marginals.marginals`."""
        return marginals.marginals(self.config, history)

    def playout(self, state: YokaiState, rng: random.Random, max_actions: int) -> list[float]:
        """Plays uniform random actions to the end; see `playout.playout`."""
        return playout.playout(self.rules, state, rng, max_actions)

    def outcome(self, state: YokaiState) -> Mapping[str, Any]:
        """Returns `won`, `ended_early`, `score` and more; see `scoring.outcome`."""
        return scoring.outcome(self.rules.grid, state, len(self.config.colours))

    def value(self, state: YokaiState, player: int) -> float:
        """Returns a hand-written estimate of the return; see `value.py`."""
        return value.value(self.rules, state)

    def render(self, state: YokaiState, player: int | None = None) -> str:
        """Returns a drawing of the whole state, or of what `player` sees in the default view."""
        return render.render(self.config, state, player, self.memory)

    def all_actions(self) -> list[Action]:
        """Returns every action of a player; its place in the list is its index."""
        return list(self._all_actions)

    def all_chance_actions(self) -> list[Action]:
        """Returns every outcome of chance; its place in the list is its index."""
        return self.config.chance_actions()

    def action_index(self, action: Action) -> int:
        """Returns the index of a player's action.

        Raises:
            GameError: no player's action has that name.
        """
        if action not in self._index:
            raise GameError(f"{self.info.id} has no player's action {action!r}; e.g. 'observe 4' or 'move 4 to 2,5'.")
        return self._index[action]

    def action_string(self, index: int) -> Action:
        """Returns the player's action with that index.

        Raises:
            GameError: there is no such index.
        """
        if not 0 <= index < len(self._all_actions):
            raise GameError(f"{self.info.id} has the action indices 0 to {len(self._all_actions) - 1}, not {index}.")
        return self._all_actions[index]


def make(cards: int, players: int, memory: bool = False) -> YokaiGame:
    """Returns the game with that many cards and players.

    Args:
        cards: 9 or 16, or 8 (a reduced setting, not in the paper).
        players: 2, 3 or 4; with 8 cards 2.
        memory: make `memory` (all colours ever observed) the default view.

    Raises:
        GameError: there is no such configuration.
    """
    return YokaiGame(config(cards, players), memory)


def rules(cards: int, players: int, memory: bool = False) -> str:
    """Returns the rules of one configuration as text, precise enough to implement them."""
    return rules_text.rules_text(config(cards, players), memory)


def outcome(state: YokaiState) -> Mapping[str, Any]:
    """Returns the figures of a finished game from its state alone (the configuration follows from its sizes)."""
    return make(len(state["colours"]), len(state["observed"])).outcome(state)
