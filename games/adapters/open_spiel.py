"""Any OpenSpiel game as a `Game`: the state is the native `pyspiel.State`, cloned, never rebuilt from JSON."""

import importlib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import pyspiel

from games.adapters.tried import complaint
from games.api import (
    CHANCE,
    DEFAULT_VIEW,
    TERMINAL,
    Action,
    GameError,
    GameInfo,
    IllegalActionError,
    Json,
    Observation,
    State,
    Utility,
)

PREFIX: Final = "open_spiel:"
"""Ids of games that have no folder here: `open_spiel:` and the name that `pyspiel.load_game` takes."""

_UTILITIES: Final[Mapping[object, Utility]] = {
    pyspiel.GameType.Utility.ZERO_SUM: "zero_sum",
    pyspiel.GameType.Utility.IDENTICAL: "identical",
}
_DYNAMICS = pyspiel.GameType.Dynamics
_CHANCE_MODES = pyspiel.GameType.ChanceMode


def load(name: str) -> pyspiel.Game:
    """Loads an OpenSpiel game; simultaneous moves are serialised.

    Args:
        name: what `pyspiel.load_game` takes, e.g. `goofspiel(num_cards=4)`.

    Raises:
        GameError: OpenSpiel has no such game, its parameters would end or stall this process, or the game samples
            chance inside itself or is a mean field game, so that its states are not pure values.
    """
    short_name = name.split("(", 1)[0]
    if short_name.startswith("python_") and short_name not in pyspiel.registered_names():
        importlib.import_module("open_spiel.python.games")
    if short_name not in pyspiel.registered_names():
        raise GameError(f"OpenSpiel has no game {short_name!r}; `pyspiel.registered_names()` lists what it has.")
    wrong = complaint(name) if "(" in name else ""
    if wrong:
        (kind,) = [kind for kind in pyspiel.registered_games() if kind.short_name == short_name]
        taken = ", ".join(sorted(kind.parameter_specification))
        raise GameError(f"OpenSpiel cannot play {name!r}: with these parameters {wrong}. Change one of {taken}.")
    try:
        game = pyspiel.load_game(name)
    except pyspiel.SpielError as error:
        raise GameError(f"OpenSpiel refused {name!r}: {error}") from error
    kind = game.get_type()
    if kind.dynamics == _DYNAMICS.MEAN_FIELD or kind.chance_mode == _CHANCE_MODES.SAMPLED_STOCHASTIC:
        raise GameError(f"{name!r} draws chance inside its states or is a mean field game; choose a game without.")
    if kind.action_structs_only:
        raise GameError(f"{name!r} has no numbered actions, only structs; choose another game.")
    return pyspiel.convert_to_turn_based(game) if kind.dynamics == _DYNAMICS.SIMULTANEOUS else game


class OpenSpielGame:
    """Serves an OpenSpiel game through the `Game` protocol.

    State: a `pyspiel.State`. As JSON it is OpenSpiel's own struct where the game has one, else
    `{"history": [action, ...], "text": str}`.
    Observation: OpenSpiel's own struct where the game has one, else `{"text": str}` with the information state string,
    or the observation string where there is none; `{"text": null}` at chance nodes where OpenSpiel shows nothing.
    What OpenSpiel's observation of a game leaks (its gin_rummy shows a hand after a knock), this one leaks too.
    Actions: OpenSpiel's strings; where two legal ones read the same, `#` and the number are appended.

    Subclasses give a game JSON of its own by overriding `state_to_json`, `observe` and `render`.
    """

    def __init__(
        self,
        game: pyspiel.Game | str,
        *,
        game_id: str | None = None,
        utility: Utility | None = None,
        player_names: Sequence[str] | None = None,
        static_actions: bool = False,
        uniform_chance: bool = False,
        rename: Callable[[Action], Action] = str,
        views: tuple[str, ...] = (DEFAULT_VIEW,),
    ) -> None:
        """Wraps a game.

        Args:
            game: a sequential OpenSpiel game, or its name.
            game_id: id for `info`; by default `open_spiel:` and the game's own string.
            utility: if it is known better than OpenSpiel says, e.g. `win_loss_draw`.
            player_names: one a player; by default `player_0`, …
            static_actions: True if an action's string depends on the player and its number alone.
            uniform_chance: True if all outcomes of each chance node are equally likely.
            rename: gives OpenSpiel's string of an action a shorter one; asked with `static_actions` alone.
            views: those of a subclass that shows states in several.

        Raises:
            GameError: OpenSpiel cannot serve this game as pure states.
        """
        self.native: Final = load(game) if isinstance(game, str) else game
        kind = self.native.get_type()
        players = self.native.num_players()
        self.info: Final = GameInfo(
            id=game_id or f"{PREFIX}{game if isinstance(game, str) else game.to_string()}",
            num_players=players,
            utility=utility or _UTILITIES.get(kind.utility, "general_sum"),
            min_utility=self.native.min_utility(),
            max_utility=self.native.max_utility(),
            perfect_information=kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION,
            has_chance=kind.chance_mode != _CHANCE_MODES.DETERMINISTIC,
            player_names=tuple(player_names or (f"player_{player}" for player in range(players))),
            max_length=self.native.max_game_length(),
            simultaneous=kind.short_name == "turn_based_simultaneous_game",
            views=views,
        )
        self._pays_at_end = kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL
        self._plain_chance = uniform_chance or not self.info.has_chance
        self._text_is_information_state = kind.provides_information_state_string
        self._has_struct, self._has_observation_struct = _structs(kind.short_name)
        self._names: dict[int, list[Action]] = _static_names(self.native, rename) if static_actions else {}
        self._numbers = {player: {name: i for i, name in enumerate(row)} for player, row in self._names.items()}

    def initial_state(self) -> State:
        return self.native.new_initial_state()

    def current_player(self, state: State) -> int:
        return int(state.current_player())

    def legal_actions(self, state: State) -> list[Action]:
        names = self._names.get(state.current_player())
        if names is None:
            return list(self._labels(state))
        return [names[number] for number in state.legal_actions()]

    def chance_outcomes(self, state: State) -> list[tuple[Action, float]]:
        if not state.is_chance_node():
            return []
        return list(zip(self.legal_actions(state), self._chances(state), strict=True))

    def apply_action(self, state: State, action: Action) -> State:
        """Returns the next state and leaves `state` as it was.

        Raises:
            IllegalActionError: `action` is not legal in `state`.
        """
        return state.child(self._number(state, action))

    def walk(self, actions: Sequence[Action]) -> Iterator[State]:
        """Yields the states along a history, see `WalksHistories`: one native state, changed from step to step."""
        state = self.initial_state()
        yield state
        for action in actions:
            state.apply_action(self._number(state, action))
            yield state

    def rewards(self, state: State) -> list[float]:
        """Returns what the last action paid; a return is their sum."""
        paid: list[float] = state.rewards()
        if self._pays_at_end or not any(paid):
            return paid
        # OpenSpiel repeats a reward after the chance nodes and half moves that follow it, so the returns tell.
        before = self.native.new_initial_state()
        for action in state.history()[:-1]:
            before.apply_action(action)
        return [now - then for now, then in zip(state.returns(), before.returns(), strict=True)]

    def observations(self, state: State) -> list[Observation]:
        return [self.observe(state, player) for player in range(self.info.num_players)]

    def observe(self, state: State, player: int) -> Observation:
        """Returns what `player` sees of `state`."""
        if self._has_observation_struct:
            shown: Observation = state.to_observation_struct(player).to_dict()
            return shown
        try:
            if self._text_is_information_state:
                return {"text": state.information_state_string(player)}
            return {"text": state.observation_string(player)}
        except pyspiel.SpielError:
            if state.is_chance_node():
                return {"text": None}
            raise

    def state_to_json(self, state: State) -> Json:
        if self._has_struct:
            return state.to_dict()
        return {"history": self._history(state), "text": str(state)}

    def render(self, state: State, player: int | None = None) -> str:
        """Returns OpenSpiel's text of the state, or of what `player` sees."""
        if player is None:
            return str(state)
        shown = self.observe(state, player)
        return str(shown["text"]) if set(shown) == {"text"} else json.dumps(shown, indent=2, ensure_ascii=False)

    def playout(self, state: State, rng: random.Random, max_actions: int) -> list[float]:
        """Plays uniform random moves on one clone and returns the sum of the rewards paid after `state`.

        Args:
            state: where to start; it stays as it is.
            rng: source of the moves; one number an action.
            max_actions: after so many actions, chance's too, the rest of the game counts as 0.

        Returns:
            One sum a player, shape [num_players].
        """
        end = state.clone()
        legal, apply, draw = end.legal_actions, end.apply_action, rng.random
        plain = self._plain_chance
        for _ in range(max_actions):
            actions = legal()
            if not actions:
                break
            if plain or not end.is_chance_node():
                apply(actions[int(draw() * len(actions))])
            else:
                apply(_pick(actions, self._chances(end), draw()))
        return self._paid_between(state, end)

    def all_actions(self) -> list[Action]:
        """Returns the strings of all players' actions, player by player, each by number; [] if they vary by state."""
        return list(dict.fromkeys(name for player, row in self._names.items() if player >= 0 for name in row))

    def all_chance_actions(self) -> list[Action]:
        """Returns the strings of all chance outcomes by number; [] if they vary by state or chance never acts."""
        return list(self._names.get(CHANCE, []))

    def _paid_between(self, start: State, end: State) -> list[float]:
        if not self._pays_at_end:
            return [after - before for after, before in zip(end.returns(), start.returns(), strict=True)]
        if start.is_terminal() or not end.is_terminal():
            return [0.0] * self.info.num_players
        return [float(paid) for paid in end.returns()]  # games written in Python return integers

    @staticmethod
    def _chances(state: State) -> list[float]:
        """Returns the probabilities of a chance node's outcomes in the order of its legal actions."""
        chances: dict[int, float] = dict(state.chance_outcomes())
        return [chances[number] for number in state.legal_actions()]

    @staticmethod
    def _labels(state: State) -> dict[Action, int]:
        """Returns the legal actions' distinct strings with their numbers, in OpenSpiel's order."""
        player = int(state.current_player())
        if player == TERMINAL:
            return {}
        texts = [(state.action_to_string(player, number), number) for number in state.legal_actions()]
        labels: dict[Action, int] = dict(texts)
        if len(labels) == len(texts):
            return labels
        seen = [text for text, _ in texts]
        return {text if seen.count(text) == 1 else f"{text} #{number}": number for text, number in texts}

    def _number(self, state: State, action: Action) -> int:
        """Returns OpenSpiel's number of an action.

        Raises:
            IllegalActionError: it is not legal in `state`.
        """
        numbers = self._numbers.get(state.current_player())
        if numbers is None:
            numbers = self._labels(state)
        number = numbers.get(action)
        if number is None or number not in state.legal_actions():
            raise IllegalActionError(
                f"{self.info.id}: {action!r} is not legal here; choose one of {self.legal_actions(state)}."
            )
        return number

    def _history(self, state: State) -> list[Action]:
        """Returns the actions from the initial state to `state`, chance's too."""
        steps = [(int(step.player), step.action) for step in state.full_history()]
        if self._names:
            return [self._names[player][number] for player, number in steps]
        replay, actions = self.native.new_initial_state(), []
        for _, number in steps:
            names = {value: label for label, value in self._labels(replay).items()}
            actions.append(names[number])
            replay.apply_action(number)
        return actions


def _structs(short_name: str) -> tuple[bool, bool]:
    """Returns whether OpenSpiel has a state struct and an observation struct for the game.

    Asking a state that has none prints to the standard error stream, so the module's names are asked instead.
    """
    names = dir(getattr(pyspiel, short_name, None))
    return (
        any(name.endswith("StateStruct") for name in names),
        any(name.endswith("ObservationStruct") for name in names),
    )


def _static_names(game: pyspiel.Game, rename: Callable[[Action], Action]) -> dict[int, list[Action]]:
    """Returns by player the strings of all actions, by number; none for TERMINAL."""
    state = game.new_initial_state()
    actions = range(game.num_distinct_actions())
    names = {
        player: [rename(state.action_to_string(player, a)) for a in actions] for player in range(game.num_players())
    }
    names[CHANCE] = [rename(state.action_to_string(CHANCE, outcome)) for outcome in range(game.max_chance_outcomes())]
    names[TERMINAL] = []
    return names


def _pick(actions: Sequence[int], chances: Sequence[float], point: float) -> int:
    """Returns the action in whose share of the unit interval `point` lies."""
    for action, chance in zip(actions, chances, strict=True):
        point -= chance
        if point < 0:
            return action
    return actions[-1]
