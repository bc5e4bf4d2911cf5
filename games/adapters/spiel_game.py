"""Any `Game`, a synthesised one too, as a registered OpenSpiel game.

The game runs under OpenSpiel's own Python algorithms: MCTS, ISMCTS, CFR, exploitability and their kin. **Never hand it
to the bots written in C++** (`pyspiel.MCTSBot`, `pyspiel.ISMCTSBot`, …): they crash the process on any Python game.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
import pyspiel

from games.adapters.action_table import MAX_ACTIONS
from games.adapters.spiel_history import Export, Node, Parameter, RewardModel, Tables, add_export, tables
from games.api import TERMINAL, Action, Game, GameError, ResamplesHistory, State

RESAMPLE_TRIES: Final = 10
"""Tries to draw a history that ends in the same information state (the CWM paper, G.6)."""


@runtime_checkable
class ObservesTensor(Protocol):
    """A game that shows its states as numbers too."""

    def observation_shape(self) -> tuple[int, ...]: ...

    def observation_tensor(self, state: State, player: int) -> Sequence[float]:
        """Returns the flat tensor in C order, length prod(observation_shape())."""
        ...


def register(
    factory: Callable[..., Game],
    short_name: str,
    *,
    long_name: str | None = None,
    parameters: Mapping[str, Parameter] | None = None,
    players: tuple[int, int] | None = None,
    reward_model: RewardModel = "terminal",
    all_actions: Iterable[Action] | None = None,
    all_chance_actions: Iterable[Action] | None = None,
) -> pyspiel.Game:
    """Registers a game with OpenSpiel and loads it with its default parameters.

    Actions are numbered by their place in `all_actions`, else in what the game's own `all_actions()` returns, else in
    the sorted list of what a bounded search and seeded games meet; an action outside the list is an error when
    it turns up. Chance's outcomes are numbered apart, in the same way.

    An information state is the player's own observations and actions at its decision points, and what it sees now:
    perfect recall; a game may offer its own `information_state_string(state, player)`. A state as a string is the whole
    state and the actions that led there: OpenSpiel's minimax and value iteration take it for a key. Its CFR, best
    responses and MCTS bot take information states and histories. `resample_from_infostate`, which OpenSpiel's ISMCTS
    calls, works where the game offers `resample_history`. Never hand the game to a C++ bot: that crashes the process.

    Args:
        factory: builds the game; called with the parameters as keyword arguments.
        short_name: name for `pyspiel.load_game`.
        long_name: name for people; by default the short one.
        parameters: the parameters with their default values.
        players: fewest and most players over all parameters.
        reward_model: see `Export`.
        all_actions: see above.
        all_chance_actions: see above.

    Raises:
        GameError: OpenSpiel has a game of this name already.
    """
    if short_name in pyspiel.registered_names():
        raise GameError(f"OpenSpiel has a game {short_name!r} already; choose another name.")
    export = Export(
        factory,
        short_name,
        dict(parameters or {}),
        players,
        reward_model,
        None if all_actions is None else tuple(all_actions),
        None if all_chance_actions is None else tuple(all_chance_actions),
    )
    add_export(export)
    kind = _game_type(export, tables(short_name, export.parameters), long_name or short_name)
    # OpenSpiel keeps the creator beyond the end of the interpreter: freeing a plain function then crashes, a class
    # outlives it.
    pyspiel.register_game(kind, type("RegisteredGame", (SpielGame,), {"kind": kind, "short_name": short_name}))
    return pyspiel.load_game(short_name)


def resampler(rng: random.Random) -> Callable[["SpielState", int], "SpielState"]:
    """Returns a seeded resampler for `ISMCTSBot.set_resampler`; the bot's own is not seeded."""

    def resample(state: "SpielState", player: int) -> "SpielState":
        return state.resample(player, rng)

    return resample


def _game_type(export: Export, shared: Tables, long_name: str) -> pyspiel.GameType:
    info, kinds = shared.info, pyspiel.GameType
    fewest, most = export.players or (info.num_players, info.num_players)
    utility = {
        "win_loss_draw": kinds.Utility.ZERO_SUM,
        "zero_sum": kinds.Utility.ZERO_SUM,
        "general_sum": kinds.Utility.GENERAL_SUM,
        "identical": kinds.Utility.IDENTICAL,
    }[info.utility]
    return kinds(
        short_name=export.short_name,
        long_name=long_name,
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC if info.has_chance else kinds.ChanceMode.DETERMINISTIC,
        information=kinds.Information.PERFECT_INFORMATION
        if info.perfect_information
        else kinds.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=kinds.RewardModel.TERMINAL if shared.pays_at_end else kinds.RewardModel.REWARDS,
        max_num_players=most,
        min_num_players=fewest,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=isinstance(shared.game, ObservesTensor),
        parameter_specification=dict(export.parameters),
    )


class SpielGame(pyspiel.Game):  # type: ignore[misc]
    """An exported game; each registered one is a subclass with its own name."""

    kind: pyspiel.GameType
    short_name: str

    def __init__(self, params: Mapping[str, Parameter] | None = None) -> None:
        parameters = dict(params or {})
        self.tables = tables(self.short_name, parameters)
        info = self.tables.info
        size = pyspiel.GameInfo(
            num_distinct_actions=len(self.tables.actions.names),
            max_chance_outcomes=len(self.tables.chance.names),
            num_players=info.num_players,
            min_utility=info.min_utility,
            max_utility=info.max_utility,
            utility_sum=0.0 if info.utility in ("win_loss_draw", "zero_sum") else None,
            max_game_length=info.max_length or MAX_ACTIONS,
        )
        super().__init__(self.kind, size, parameters)

    def new_initial_state(self) -> "SpielState":
        return SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Returns an upper bound; a `Game` does not tell a close one."""
        return MAX_ACTIONS if self.tables.info.has_chance else 0

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "SpielObserver":
        return SpielObserver(self.tables, iig_obs_type, params)


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A state of an exported game; all it holds in Python is its node."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.node: Node = game.tables.root

    def current_player(self) -> int:
        return self.node.player

    def is_terminal(self) -> bool:
        return self.node.player == TERMINAL

    def _legal_actions(self, player: int) -> list[int]:
        return self.node.legal()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        node = self.node
        outcomes = node.tables.game.chance_outcomes(node.state)
        return sorted((node.tables.chance.number(action), chance) for action, chance in outcomes)

    def _apply_action(self, action: int) -> None:
        node = self.node
        self.node = node.child(node.tables.table(node.player).names[action])

    def _action_to_string(self, player: int, action: int) -> str:
        return self.node.tables.table(player).names[action]

    def returns(self) -> list[float]:
        node = self.node
        open_game = node.tables.pays_at_end and node.player != TERMINAL
        return [0.0] * len(node.totals) if open_game else list(node.totals)

    def rewards(self) -> list[float]:
        return self.returns() if self.node.tables.pays_at_end else list(self.node.rewards)

    def information_state_string(self, player: int | None = None) -> str:
        return self.node.information_text(self.node.player if player is None else player)

    def observation_string(self, player: int | None = None) -> str:
        return self.node.observation_text(self.node.player if player is None else player)

    def __str__(self) -> str:
        return self.node.text()

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> "SpielState":
        """Returns a state that `player` cannot tell from this one; what OpenSpiel's ISMCTS calls."""
        return self.resample(player, random.Random(int(sampler() * 2**53)))

    def resample(self, player: int, rng: random.Random) -> "SpielState":
        """Returns a state that `player` cannot tell from this one, drawn by the game's `resample_history`.

        Raises:
            GameError: the game offers no `resample_history`, or ten draws ended in other information states.
        """
        game, info = self.node.tables.game, self.node.tables.info
        if info.perfect_information:
            return self.clone()  # type: ignore[no-any-return]
        if not isinstance(game, ResamplesHistory):
            raise GameError(f"{info.id} offers no resample_history, so ISMCTS cannot run on it.")
        wanted = self.node.information_text(player)
        for _ in range(RESAMPLE_TRIES):
            other = self.get_game().new_initial_state()
            for action in game.resample_history(self.node.decisions(player), player, rng):
                other.apply_action(other.node.tables.table(other.node.player).number(action))
            if other.node.player == self.node.player and other.node.information_text(player) == wanted:
                return other  # type: ignore[no-any-return]
        raise GameError(
            f"{info.id}: {RESAMPLE_TRIES} histories from resample_history ended in other information states than the "
            f"one of player {player}; correct resample_history."
        )


class SpielObserver:
    """What OpenSpiel asks for strings and tensors of a player's view."""

    def __init__(self, shared: Tables, iig_obs_type: Any, params: Any) -> None:
        if params:
            raise GameError(f"{shared.short_name} takes no observation parameters; got {params}.")
        self._perfect_recall = bool(iig_obs_type and iig_obs_type.perfect_recall)
        self._game = shared.game
        self.tensor: Any = None
        self.dict: dict[str, Any] = {}
        if isinstance(self._game, ObservesTensor) and not self._perfect_recall:
            shape = self._game.observation_shape()
            self.tensor = np.zeros(int(np.prod(shape)), np.float32)
            self.dict = {"observation": self.tensor.reshape(shape)}

    def set_from(self, state: SpielState, player: int) -> None:
        if self.tensor is not None and isinstance(self._game, ObservesTensor):
            self.tensor[:] = self._game.observation_tensor(state.node.state, player)

    def string_from(self, state: SpielState, player: int) -> str:
        node = state.node
        return node.information_text(player) if self._perfect_recall else node.observation_text(player)
