"""A planner on the true game, in this process, where several agents act at once."""

import difflib
import hashlib
import importlib
import importlib.util
import random
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from arena.agents.api import AgentFailure, Move, Needs, Turn
from arena.agents.thought import Thought, of_search
from arena.checkpoints import for_planners, populations
from cwm.model.joint_model import JointWorldModel
from games import registry
from games.api import DEFAULT_VIEW, Game, GameInfo, UnknownGameError
from games.posg.api import InfersPosg, PolicyOnHistory, PosgError, PosgModel, ValuesStates, state_to_json
from games.posg.serialised import SerialisedPosg
from search.api import Decision, PlannerConfigError, Position
from search.marginals import shares
from search.posg.config import CHOICES, PosgPlannerConfig
from search.posg.others import OnHistory, OtherPolicy, Uniform
from search.posg.planner import PosgPlanner, make
from search.posg.types import SOFTENED

SHORT_NAMES: Final = {"sims": "simulations", "time": "seconds", "c": "exploration"}
"""Short names of settings, as the command line takes them."""
TIMED_SIMULATIONS: Final = 1_000_000
"""Of a planner that is given a time a move and no number of simulations."""
MOST_PLACES: Final = 200
"""Of a belief, in what a move tells of itself."""

_TYPES: Final = {field.name: type(getattr(PosgPlannerConfig(), field.name)) for field in fields(PosgPlannerConfig)}


def settings(method: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Returns the full settings of a planner, as JSON.

    Args:
        method: what stands after `posg:`.
        given: settings by full name, as they were written.

    Raises:
        PlannerConfigError: there is no such setting, or its value is none.
    """
    read = {name: _value(name, text) for name, text in given.items()}
    if "seconds" in read:
        read.setdefault("simulations", TIMED_SIMULATIONS)
    return PosgPlannerConfig.from_json({**read, "method": method}).to_json()


def _value(name: str, text: str) -> Any:
    if name == "types":
        return text.split("+")
    if name not in _TYPES or name == "method":
        known = [*sorted(_TYPES.keys() - {"method"}), *SHORT_NAMES, "name"]
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}."
        raise PlannerConfigError(f"there is no setting {name!r}; {hint}")
    if name in CHOICES:
        return text
    kind = float if name == "seconds" else _TYPES[name]
    try:
        return kind(text)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise PlannerConfigError(f"{name} must be {wanted}, not {text!r}.") from None


def model_of(game: Game) -> PosgModel:
    """Returns the rules of a game of simultaneous moves.

    Raises:
        PlannerConfigError: the game is none.
    """
    if not isinstance(game, SerialisedPosg):
        raise PlannerConfigError(
            f"posg plans in games of simultaneous moves, and {game.info.id} is none: use mcts or ismcts here, or "
            "another game of `cwm games list`."
        )
    if isinstance(game.model, JointWorldModel):
        raise PlannerConfigError(
            f"posg plans on true rules, and a model decides this game of {game.info.id}: plan on the model by "
            "cwm:PLACE,method=pomcp."
        )
    return game.model


def policies(model: PosgModel) -> dict[str, Sequence[OtherPolicy]]:
    """Returns the policies that types may name, each for every agent: `uniform`, those that ship in the game's folder
    (`partners.policies`), and `prior`, the model's own, where it has one."""
    count = model.info.num_agents
    found: dict[str, Sequence[OtherPolicy]] = {"uniform": [Uniform()] * count}
    if isinstance(model, PolicyOnHistory):
        found["prior"] = [OnHistory(model)] * count
    try:
        package = registry.describe(model.info.id).package
    except UnknownGameError:  # a game of the user's own
        return found
    if not package or importlib.util.find_spec(f"{package}.partners") is None:
        return found
    module = importlib.import_module(f"{package}.partners")
    named: Mapping[str, OtherPolicy] = module.policies(model) if hasattr(module, "policies") else {}
    return found | {name: [policy] * count for name, policy in named.items()}


def named(model: PosgModel, config: PosgPlannerConfig) -> dict[str, Sequence[OtherPolicy]]:
    """Returns the policies that a planner's settings name: those of `policies`, and trained ones by their folders.

    Raises:
        PlannerConfigError: there is none of a name, or it was trained on another game.
    """
    known = policies(model)
    found: dict[str, Sequence[OtherPolicy]] = {}
    for setting, name in _names(config):
        if name not in known and not for_planners.is_checkpoint(name):
            raise PlannerConfigError(
                f"{model.info.id} has no policy {name!r}; {setting} may name {', '.join(known)}, or the folder of one "
                "that was trained by `cwm train posg`."
            )
        found[name] = known[name] if name in known else for_planners.load(Path(name), model)
    return found


def _names(config: PosgPlannerConfig) -> list[tuple[str, str]]:
    """Returns the policies that settings name, without what softens them, each with the setting."""
    found = [("types", name) for name in config.types]
    found += [("search", config.search)] if config.search else []
    found += [("unknown_as", config.unknown_as)] if config.unknown else []
    return [(setting, name.removeprefix(SOFTENED)) for setting, name in found]


def written_out(config: PosgPlannerConfig, game: Game) -> PosgPlannerConfig:
    """Returns settings with the policies of every population that `types` names in its place.

    Raises:
        PlannerConfigError: the game is none of simultaneous moves, or a population cannot be had.
    """
    types = populations.expanded(model_of(game).info.id, config.types)
    return config if types == config.types else replace(config, types=types)


def check(config: PosgPlannerConfig, game: Game) -> str | None:
    """Checks that a planner with these settings can play a game.

    Returns:
        A hash of the trained policies that the settings name; None: they name none.

    Raises:
        PlannerConfigError: it cannot.
    """
    model = model_of(game)
    named(model, config)
    known = policies(model)
    if config.belief == "inferred" and not isinstance(model, InfersPosg):
        raise PlannerConfigError(f"{model.info.id} infers nothing: use belief=adapted.")
    if config.leaf == "value" and not isinstance(model, ValuesStates):
        raise PlannerConfigError(f"{model.info.id} has no value function on states: use leaf=rollout.")
    trained = [name for name in sorted({name for _, name in _names(config)}) if name not in known]
    if not trained:
        return None
    return hashlib.sha256("".join(for_planners.content_hash(Path(name)) for name in trained).encode()).hexdigest()


class PosgAgent:
    """Searches the true rules of a game of simultaneous moves, from what its seat is told; one planner a seat."""

    def __init__(self, game: Game, config: PosgPlannerConfig, name: str, view: str = DEFAULT_VIEW) -> None:
        """Args:
        game: the true game.
        config: of the planner.
        name: label in tables.
        view: which of the game's views it is shown.
        """
        self.name = name
        self.view = view
        self.needs = Needs(legal_actions=True)
        self._model = model_of(game)
        self._config = config
        self._planners: dict[int, PosgPlanner] = {}

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        pass

    def act(self, turn: Turn) -> Move:
        planner = self._planners.get(turn.player)
        if planner is None:
            try:
                planner = make(self._model, turn.player, self._config, named(self._model, self._config))
            except PosgError as error:  # a trained policy that is not for this seat, say
                raise AgentFailure("empty", f"the search cannot begin: {str(error)[:200]}") from error
            self._planners[turn.player] = planner
        position = Position(turn.player, turn.history, as_searched=turn.explain)
        decision = planner.choose(position, random.Random(turn.seed), turn.legal_actions)
        thought = self._thought(decision) if turn.explain else None
        return Move(decision.action, decision.fallback, decision.errors, thought)

    def close(self) -> None:
        self._planners.clear()

    def _thought(self, decision: Decision) -> Thought | None:
        ranked = sorted(decision.belief_states or (), key=lambda item: -item[0])[:MOST_PLACES]
        believed = [(weight, state_to_json(self._model, state)) for weight, state in ranked]
        return of_search(decision.visits, decision.values, decision.simulations, shares(believed))
