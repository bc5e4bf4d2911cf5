"""Games as environments of PettingZoo; needs the extra `interop`.

Games of simultaneous moves are parallel environments with agents `agent_0`, …; games of turns are AEC environments
with `player_0`, …. Which actions are legal is told in `infos[agent]["action_mask"]` (int8); of one that is not, the
legal one of the lowest number is played instead, and the next `infos[agent]["illegal"]` is True.
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from games.adapters.observed import Floats, ObservationEncoder, SeatVectors, legal_choice, mask_of, table_of
from games.adapters.seats import MOST_ACTIONS, MOST_CHANCE, PosgTable, chance_by, posg_in
from games.api import CHANCE, TERMINAL, Action, Game, GameError, RendersText
from games.extras import install
from games.posg.api import PosgModel

try:
    from gymnasium import spaces
    from gymnasium.utils import seeding
    from pettingzoo import AECEnv, ParallelEnv
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"games.adapters.pettingzoo needs {error.name}, which is not installed; run: {install('interop')}.",
        name=error.name,
    ) from error

ANSI: Final = "ansi"


class _Spaces:
    """Observations and actions of some agents.

    Attributes:
        tables: of actions, by name of the agent.
        vectors: of observations.
    """

    def __init__(
        self,
        game: Game | PosgModel,
        names: Sequence[str],
        encoder: ObservationEncoder | None,
        actions: Sequence[Action] | None = None,
    ) -> None:
        one = table_of(game, 0, actions) if posg_in(game) is None else None
        self.tables = {name: one or table_of(game, number, actions) for number, name in enumerate(names)}
        self.vectors = {name: SeatVectors(game, number, encoder) for number, name in enumerate(names)}
        self.observations = {
            name: spaces.Box(vectors.low, vectors.high, dtype=np.float32) for name, vectors in self.vectors.items()
        }
        self.actions = {name: spaces.Discrete(len(table.names)) for name, table in self.tables.items()}


class PosgParallelEnv(ParallelEnv[str, Floats, int]):
    """A game of simultaneous moves. Whose action does not count yet is masked to the action 0.

    Attributes:
        actions: the strings of the actions, by agent and number.
    """

    def __init__(
        self,
        game: Game | PosgModel,
        *,
        encoder: ObservationEncoder | None = None,
        most: int | None = None,
        render_mode: str | None = None,
        on_close: Callable[[], object] | None = None,
    ) -> None:
        """Makes the environment.

        Args:
            game: of simultaneous moves.
            encoder: of observations, the same for all agents; None for the game's own vectors.
            most: steps after which a game is cut; None for the game's own limit.
            render_mode: None, or `ansi`: `render` returns all agents' views as text.
            on_close: called when the environment is closed.

        Raises:
            GameError: the game is one of turns, or there is nothing to encode by.
        """
        model = posg_in(game)
        if model is None:
            raise GameError(f"{game.info.id} is a game of turns: make a GameAecEnv of it.")
        self.metadata = _metadata(model.info.id, model.info.agent_names, True)
        self.render_mode, self._on_close = _mode(model.info.id, render_mode), on_close
        self.possible_agents = [f"agent_{number}" for number in range(model.info.num_agents)]
        self.agents: list[str] = []
        self._number = {name: number for number, name in enumerate(self.possible_agents)}
        self._spaces = _Spaces(game, self.possible_agents, encoder)
        self.actions = {name: table.names for name, table in self._spaces.tables.items()}
        self._table = PosgTable(model, most)
        self._np_random, _ = seeding.np_random(None)

    def observation_space(self, agent: str) -> spaces.Box:
        return self._spaces.observations[_known(agent, self.possible_agents)]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self._spaces.actions[_known(agent, self.possible_agents)]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Floats], dict[str, dict[str, Any]]]:
        """Begins a game."""
        if seed is not None:
            self._np_random, _ = seeding.np_random(seed)
        self._table.begin(random.Random(int(self._np_random.integers(1 << 62))))
        self.agents = list(self.possible_agents)
        return self._told(self.agents), {name: self._info(name, True) for name in self.agents}

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, Floats], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Plays a step.

        Args:
            actions: numbers, by agent; that of one whose action counts may not be missing.

        Raises:
            GameError: an agent is not in the game, lacks an action, or its number is none of the list.
        """
        table, acting = self._table, self.agents
        if not acting:
            raise GameError(f"{table.model.info.id}: no game is under way; call reset() first.")
        strange = [name for name in actions if name not in acting]
        if strange:
            raise GameError(f"{table.model.info.id}: {strange[0]!r} is not in the game; in it are {', '.join(acting)}.")
        chosen, legal = {}, dict.fromkeys(acting, True)
        for agent in table.active:
            name = self.possible_agents[agent]
            if name not in actions:
                raise GameError(f"{table.model.info.id}: {name} is to act, and no action was given for it.")
            own = self._spaces.tables[name]
            chosen[agent], legal[name] = legal_choice(own, actions[name], mask_of(own, table.legal(agent)))
        rewards = table.play(chosen)
        ended = {name: table.over[self._number[name]] for name in acting}
        cut = {name: table.is_cut and not ended[name] for name in acting}
        self.agents = [name for name in acting if not ended[name] and not cut[name]]
        paid = {name: rewards[self._number[name]] for name in acting}
        return self._told(acting), paid, ended, cut, {name: self._info(name, legal[name]) for name in acting}

    def render(self) -> str | None:
        """Returns what every agent sees as text, None without a render mode."""
        if self.render_mode is None:
            return None
        texts = []
        for name, agent in self._number.items():
            drawn = self._table.drawn(agent) or json.dumps(self._table.seen(agent), ensure_ascii=False)
            texts.append(f"{name}\n{drawn}")
        return "\n\n".join(texts)

    def close(self) -> None:
        """Frees what the environment was given to free; may be called more than once."""
        if self._on_close is not None:
            self._on_close()
            self._on_close = None

    def _told(self, names: Sequence[str]) -> dict[str, Floats]:
        told = {}
        for name in names:
            agent, vectors = self._number[name], self._spaces.vectors[name]
            told[name] = vectors.write(self._table.told[agent], {} if vectors.own else self._table.seen(agent))
        return told

    def _info(self, name: str, is_legal: bool) -> dict[str, Any]:
        agent = self._number[name]
        legal = () if self._table.over[agent] else self._table.legal(agent)
        return {"action_mask": mask_of(self._spaces.tables[name], legal), "illegal": not is_legal}


class GameAecEnv(AECEnv[str, Floats, int]):
    """A game of turns, or one of simultaneous moves played one after the other.

    Attributes:
        actions: the strings of the actions, by agent and number.
    """

    def __init__(
        self,
        game: Game,
        *,
        encoder: ObservationEncoder,
        actions: Sequence[Action] | None = None,
        most: int | None = None,
        render_mode: str | None = None,
        on_close: Callable[[], object] | None = None,
    ) -> None:
        """Makes the environment.

        Args:
            game: which.
            encoder: of observations, the same for all players.
            actions: by number; None for those that the game states or a search finds.
            most: actions of players after which a game is cut; None for the game's own limit.
            render_mode: None, or `ansi`: `render` returns the view of the player to move as text.
            on_close: called when the environment is closed.

        Raises:
            GameError: there is nothing to encode, or the list of actions is none.
        """
        super().__init__()
        self.metadata = _metadata(game.info.id, game.info.player_names, False)
        self.render_mode, self._on_close = _mode(game.info.id, render_mode), on_close
        self.possible_agents = [f"player_{number}" for number in range(game.info.num_players)]
        self.agents: list[str] = []
        self._game = game
        self._number = {name: number for number, name in enumerate(self.possible_agents)}
        self._spaces = _Spaces(game, self.possible_agents, encoder, actions)
        self.actions = {name: table.names for name, table in self._spaces.tables.items()}
        self._most = most or game.info.max_length or MOST_ACTIONS
        self._np_random, _ = seeding.np_random(None)
        self._rng = random.Random(0)
        self._state: Any = None
        self._count = 0

    def observation_space(self, agent: str) -> spaces.Box:
        return self._spaces.observations[_known(agent, self.possible_agents)]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self._spaces.actions[_known(agent, self.possible_agents)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a game."""
        if seed is not None:
            self._np_random, _ = seeding.np_random(seed)
        self._rng = random.Random(int(self._np_random.integers(1 << 62)))
        self.agents = list(self.possible_agents)
        self._state, self._count = self._game.initial_state(), 0
        first = [float(paid) for paid in self._game.rewards(self._state)]
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in self.agents}
        self._skip_agent_selection = None
        # Nobody reads rewards before the first action: they are paid with it.
        self._early = self._to_turn(first)
        self._tell(dict.fromkeys(self.agents, True))

    def observe(self, agent: str) -> Floats:
        """Returns what an agent sees now, float32 [width]."""
        seen = self._game.observations(self._state)[self._number[_known(agent, self.possible_agents)]]
        return self._spaces.vectors[agent].write(seen, seen)

    def step(self, action: int | None) -> None:
        """Plays an action of the agent whose turn it is; None for one for whom the game is over.

        Raises:
            GameError: no game is under way, or the number is none of the list.
        """
        if not self.agents:
            raise GameError(f"{self._game.info.id}: no game is under way; call reset() first.")
        name = self.agent_selection
        if self.terminations[name] or self.truncations[name]:
            self._was_dead_step(action)
            return
        table, mask = self._spaces.tables[name], self.infos[name]["action_mask"]
        chosen, is_legal = legal_choice(table, action, mask)
        self._cumulative_rewards[name] = 0.0
        self._state = self._game.apply_action(self._state, chosen)
        self._count += 1
        now = zip(self._early, self._game.rewards(self._state), strict=True)
        paid = self._to_turn([early + float(more) for early, more in now])
        self._early = [0.0] * len(paid)
        self.rewards = {agent: paid[self._number[agent]] for agent in self.agents}
        self._accumulate_rewards()
        self._tell(dict.fromkeys(self.agents, True) | {name: is_legal})

    def render(self) -> str | None:
        """Returns what the player to move sees as text, None without a render mode."""
        if self.render_mode is None:
            return None
        player = self._number[self.agent_selection]
        if isinstance(self._game, RendersText):
            return self._game.render(self._state, player)
        return json.dumps(self._game.observations(self._state)[player], ensure_ascii=False)

    def close(self) -> None:
        """Frees what the environment was given to free; may be called more than once."""
        if self._on_close is not None:
            self._on_close()
            self._on_close = None

    def _to_turn(self, paid: list[float]) -> list[float]:
        """Lets chance act until it is somebody's turn; returns what was paid, with what was before."""
        for _ in range(MOST_CHANCE):
            if self._game.current_player(self._state) != CHANCE:
                return paid
            action = chance_by(self._game, self._state, self._rng)
            self._state = self._game.apply_action(self._state, action)
            paid = [one + float(more) for one, more in zip(paid, self._game.rewards(self._state), strict=True)]
        raise GameError(f"{self._game.info.id}: more than {MOST_CHANCE:,} chance nodes follow one another.")

    def _tell(self, legal: Mapping[str, bool]) -> None:
        """Says whose turn it is, what he may do, and who is done."""
        player = self._game.current_player(self._state)
        is_over = player == TERMINAL
        is_cut = not is_over and self._count >= self._most
        self.terminations = dict.fromkeys(self.agents, is_over)
        self.truncations = dict.fromkeys(self.agents, is_cut)
        if not is_over:
            self.agent_selection = self.possible_agents[player]
        elif not hasattr(self, "agent_selection"):
            self.agent_selection = self.possible_agents[0]
        may = self._game.legal_actions(self._state) if not is_over and not is_cut else []
        for name in self.agents:
            own = may if name == self.agent_selection else []
            self.infos[name] = {"action_mask": mask_of(self._spaces.tables[name], own), "illegal": not legal[name]}


def _metadata(game_id: str, names: Sequence[str], is_parallel: bool) -> dict[str, Any]:
    """Returns what PettingZoo tells of an environment, with the game's own names of those who play."""
    told = {"render_modes": [ANSI], "name": game_id, "is_parallelizable": is_parallel, "render_fps": 1}
    return told | {"names": tuple(names)}


def _mode(game_id: str, render_mode: str | None) -> str | None:
    if render_mode not in (None, ANSI):
        raise GameError(f"{game_id} can be rendered as {ANSI!r}, not as {render_mode!r}.")
    return render_mode


def _known(agent: str, names: Sequence[str]) -> str:
    if agent not in names:
        raise GameError(f"There is no agent {agent!r}; there are {', '.join(names)}.")
    return agent
