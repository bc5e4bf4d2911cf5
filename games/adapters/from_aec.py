"""AEC environments of PettingZoo as games of turns: states are handles of copies, as in `from_pettingzoo` beside it.

Chance nodes draw a seed, digit by digit: before the start, and after an action that draws from the environment's
generators.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from games.adapters.copies import DRAWS, SIDES, OpaqueState, copied, seed_of, stepped, tried
from games.adapters.from_pettingzoo import (
    Bounds,
    agents_of,
    as_json,
    check_agents,
    check_bounds,
    legal_of,
    name_of_env,
    numbers_of,
)
from games.api import CHANCE, TERMINAL, Action, GameInfo, IllegalActionError, Json, Observation, Utility

FACES = tuple(str(side) for side in range(SIDES))


class _Place(NamedTuple):
    """What is known of a position.

    Attributes:
        player: to move.
        legal: its actions.
        seen: by player.
        paid: by the last action, by player.
        out: players for whom the game was over before.
        digits: of the seed that is being drawn.
        chosen: the action that waits for the seed; None at the start.
        length: actions of players so far.
    """

    player: int
    legal: tuple[Action, ...]
    seen: tuple[Observation, ...]
    paid: tuple[float, ...]
    out: frozenset[str] = frozenset()
    digits: tuple[int, ...] = ()
    chosen: Action | None = None
    length: int = 0


class FromAec:
    """An AEC environment of PettingZoo as a `Game`. Observations: `seen`, what the environment tells the player."""

    def __init__(
        self,
        env: Any,
        *,
        return_bounds: Bounds,
        max_length: int,
        game_id: str = "",
        utility: Utility = "general_sum",
    ) -> None:
        """Wraps an environment, of which copies are played.

        Args:
            env: an `AECEnv` with discrete actions, made without a window.
            return_bounds: the least and the largest sum of a player's rewards in a game.
            max_length: actions of players after which a game is over at the latest.
            game_id: what the game is called; "" for the environment's own name.
            utility: how returns of the players hang together.

        Raises:
            PosgError: it cannot be copied, or an action space is not discrete.
        """
        check_bounds(return_bounds, max_length)
        self._env, self._id = env, game_id or name_of_env(env)
        self._names = agents_of(env, self._id)
        self._spaces = {name: env.action_space(name) for name in self._names}
        self._actions = {name: numbers_of(self._id, name, space) for name, space in self._spaces.items()}
        self._most = max_length
        copied(env, self._id)
        self.info = GameInfo(
            id=self._id,
            num_players=len(self._names),
            utility=utility,
            min_utility=return_bounds[0],
            max_utility=return_bounds[1],
            perfect_information=False,  # what a handle hides cannot be shown
            has_chance=True,
            player_names=tuple(map(str, self._names)),
            max_length=max_length,
        )

    def initial_state(self) -> OpaqueState:
        players = len(self._names)
        blank = _Place(CHANCE, FACES, ({"seen": None},) * players, (0.0,) * players)
        return OpaqueState(None, (), blank)

    def current_player(self, state: OpaqueState) -> int:
        return place_of(state).player

    def legal_actions(self, state: OpaqueState) -> list[Action]:
        return list(place_of(state).legal)

    def all_actions(self) -> list[Action]:
        """Returns the numbers of all actions of all players."""
        return max(map(list, self._actions.values()), key=len)

    def chance_outcomes(self, state: OpaqueState) -> list[tuple[Action, float]]:
        return [(face, 1.0 / SIDES) for face in FACES] if place_of(state).player == CHANCE else []

    def apply_action(self, state: OpaqueState, action: Action) -> OpaqueState:
        place, log = place_of(state), (*state.log, (action,))
        if action not in place.legal:
            legal = ", ".join(place.legal) or "none, the game is over"
            raise IllegalActionError(f"{self._id}: {action!r} is not legal here; legal are: {legal}.")
        if place.player != CHANCE:
            env, _, is_drawn = tried(state.env, self._id, lambda own: own.step(int(action)))
            if not is_drawn:
                return self._arrived(env, log, place._replace(length=place.length + 1))
            waits = place._replace(player=CHANCE, legal=FACES, chosen=action, digits=(), paid=(0.0,) * len(self._names))
            return OpaqueState(state.env, log, waits)
        digits = (*place.digits, int(action))
        if len(digits) < DRAWS:
            return OpaqueState(state.env, log, place._replace(digits=digits))
        seed = seed_of(digits)
        if place.chosen is None:
            env = copied(self._env, self._id)
            env.reset(seed=seed)
            return self._arrived(env, log, place)
        chosen = int(place.chosen)
        env, _ = stepped(state.env, self._id, lambda own: own.step(chosen), seed)
        return self._arrived(env, log, place._replace(length=place.length + 1))

    def rewards(self, state: OpaqueState) -> list[float]:
        return list(place_of(state).paid)

    def observations(self, state: OpaqueState) -> list[Observation]:
        return list(place_of(state).seen)

    def state_to_json(self, state: OpaqueState) -> Json:
        return [action for (action,) in state.log]

    def _arrived(self, env: Any, log: tuple[tuple[Json, ...], ...], before: _Place) -> OpaqueState:
        """Returns the position after the environment was stepped: those who are done have left it."""
        rewards = env.rewards
        paid = tuple(float(rewards.get(name, 0.0)) for name in self._names)
        self._check_agents(env, before)
        seen, out = self._seen(env, before.seen), before.out
        while env.agents and (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
            out |= {env.agent_selection}
            env.step(None)
            self._check_agents(env, before._replace(out=out))
        place = before._replace(paid=paid, out=out, digits=(), chosen=None)
        if not env.agents or before.length >= self._most:
            return OpaqueState(env, log, place._replace(player=TERMINAL, legal=(), seen=seen))
        name = env.agent_selection
        told = env.observe(name)
        legal = legal_of(self._actions[name], told, env.infos.get(name))
        place = place._replace(player=self._names.index(name), legal=legal, seen=self._seen(env, seen))
        return OpaqueState(env, log, place)

    def _seen(self, env: Any, before: tuple[Observation, ...]) -> tuple[Observation, ...]:
        return tuple(
            _told(env.observe(name)) if name in env.agents else before[player]
            for player, name in enumerate(self._names)
        )

    def _check_agents(self, env: Any, before: _Place) -> None:
        check_agents(self._id, env, self._spaces, before.out, f"after action {before.length}")


def place_of(state: OpaqueState) -> _Place:
    """Returns what is known of a position."""
    place: _Place = state.facts
    return place


def _told(told: Any) -> Observation:
    """Returns what a player was told as an observation: with several parts, these; else it stands alone."""
    found = as_json(told)
    return found if isinstance(told, Mapping) else {"seen": found}
