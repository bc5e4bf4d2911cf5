"""One lane of batched Yōkai as a `Game`: every rule is the batched environment's, states and views are JSON."""

import random
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from games.api import Action, GameInfo, IllegalActionError, ObsActionHistory, Observation
from games.batched.api import lane
from games.batched.yokai import json
from games.batched.yokai.environment import YokaiEnv
from games.batched.yokai.state import State
from games.yokai import observe
from games.yokai.game import make as make_reference
from games.yokai.rules import YokaiState


class _Compiled:
    """A configuration's environment with compiled functions for one lane."""

    def __init__(self, cards: int, players: int) -> None:
        self.env = YokaiEnv(cards, players)
        self.step = jax.jit(self.env.step)
        self.mask = jax.jit(self.env.legal_mask)
        self.outcome = jax.jit(self.env.outcome)


@cache
def _compiled(cards: int, players: int) -> _Compiled:
    return _Compiled(cards, players)


class LaneGame:
    """Yōkai whose players' moves are played by one lane of the batched environment.

    The deal's chance nodes, the sizes and the JSON of the views are those of the reference; legal actions, following
    states and rewards come from the arrays.
    """

    def __init__(self, cards: int, players: int, memory: bool = False) -> None:
        """Sets up a configuration.

        Args:
            cards: 9 or 16, or 8 (a reduced setting, not in the paper).
            players: 2, 3 or 4; with 8 cards 2.
            memory: make `memory` the default view.

        Raises:
            GameError: there is no such configuration.
        """
        self._reference = make_reference(cards, players, memory)
        self._lane = _compiled(cards, players)
        self._known = frozenset(self._reference.all_actions())
        self._memory = memory

    @property
    def info(self) -> GameInfo:
        return self._reference.info

    def initial_state(self) -> YokaiState:
        return self._reference.initial_state()

    def current_player(self, state: YokaiState) -> int:
        return self._reference.current_player(state)

    def chance_outcomes(self, state: YokaiState) -> list[tuple[Action, float]]:
        return self._reference.chance_outcomes(state)

    def legal_actions(self, state: YokaiState) -> list[Action]:
        """Returns the legal actions in index order, chance's outcomes while the game is dealt, [] at the end."""
        if state["phase"] != "play":
            return [action for action, _ in self.chance_outcomes(state)]
        mask = np.asarray(self._lane.mask(self._arrays(state)))[0, state["player"]]
        return [self._reference.action_string(int(index)) for index in np.flatnonzero(mask)]

    def apply_action(self, state: YokaiState, action: Action) -> YokaiState:
        """Returns the next state.

        Raises:
            IllegalActionError: the action is not legal in `state`.
        """
        if state["phase"] == "deal":
            return self._reference.apply_action(state, action)
        if state["phase"] != "play" or action not in self._known:
            raise self._illegal(state, action)
        actions = np.zeros((1, self.info.num_players), np.int32)
        actions[0, state["player"]] = self._reference.action_index(action)
        following, transition = self._lane.step(self._arrays(state), jnp.asarray(actions))
        if transition.info["illegal"].any():
            raise self._illegal(state, action)
        arrays: State = jax.tree.map(np.asarray, following)
        return json.to_json(self._lane.env.sizes, lane(arrays, 0), [*state["log"], action])

    def _illegal(self, state: YokaiState, action: Action) -> IllegalActionError:
        shown = ", ".join(self.legal_actions(state)[:8]) or "nothing, the game is over"
        return IllegalActionError(f"{action!r} is not legal in {self.info.id}; legal: {shown}.")

    def rewards(self, state: YokaiState) -> list[float]:
        if state["phase"] != "over":
            return [0.0] * self.info.num_players
        return [float(self._lane.outcome(self._arrays(state)).total[0])] * self.info.num_players

    def observations(self, state: YokaiState) -> list[Observation]:
        return observe.observations(state, self.info.num_players, self._memory)

    def observation(self, state: YokaiState, player: int, view: str) -> Observation:
        """Returns what `player` sees in `view`.

        Raises:
            GameError: there is no such view.
        """
        return self._reference.observation(state, player, view)

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns a history drawn from the exact posterior, as the reference does."""
        return self._reference.resample_history(history, player, rng)

    def _arrays(self, state: YokaiState) -> State:
        return json.from_json(self._lane.env, [state])
