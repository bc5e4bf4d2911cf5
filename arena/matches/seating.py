"""Builds agents from their descriptions: one row a kind says how."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from arena.agents import posg
from arena.agents.api import Agent, RandomAgent
from arena.agents.llm_settings import PLAIN, LlmConfigError
from arena.agents.model import JointModelAgent, LearningAgent, ModelAgent, leaf_of
from arena.agents.partner import PartnerAgent, partners
from arena.agents.planner import PlannerAgent
from arena.agents.specs import AgentSpec, AgentSpecError
from arena.language_players.agent import LlmAgent
from arena.language_players.models import PlayerModels, check, in_order
from arena.language_players.prompts import GamePrompts
from arena.language_players.scaffolds import found, trial
from arena.language_players.scaffolds.agent import ScaffoldAgent
from arena.language_players.scaffolds.prompts import ScaffoldPrompts
from arena.language_players.scaffolds.searching import searcher
from arena.machine import accelerated
from arena.machine.runtime import Runtime
from arena.matches.game_source import bundle_of
from arena.own_agents import own_class, program
from cwm.model.bundle import ModelBundle
from games import registry
from games.api import Game, GameError
from search import planner
from search.api import PlannerConfigError
from search.posg.config import PosgPlannerConfig
from search.posg.session import check_types


@dataclass(frozen=True)
class TableSetup:
    """What agents are given beside their descriptions.

    Attributes:
        game: the true game.
        runtime: limits of programs that are not trusted.
        models: language models of the players; None for one of its own, without caps, whose calls nobody keeps.
        worker_seeds: whether a planner on the true game draws what one in a model's worker would.
    """

    game: Game
    runtime: Runtime
    models: PlayerModels | None = None
    worker_seeds: bool = False


@dataclass(frozen=True)
class Seat:
    """How agents of one kind take their seats.

    Attributes:
        resolve: see `resolve`.
        build: builds an agent that `resolve` returned.
    """

    resolve: Callable[[AgentSpec, Game], AgentSpec]
    build: Callable[[AgentSpec, TableSetup], Agent]


def resolve(spec: AgentSpec, game: Game) -> AgentSpec:
    """Returns `spec` with all settings written out and the model's hash, after checking that it fits the game.

    Raises:
        AgentSpecError: it does not fit, or its model cannot be read; the message says why.
        GameError: it is a trained policy, and what it needs is not installed.
    """
    return _seat(spec).resolve(spec, game)


def build(
    spec: AgentSpec, game: Game, runtime: Runtime, models: PlayerModels | None = None, worker_seeds: bool = False
) -> Agent:
    """Builds a resolved agent; for the arguments see `TableSetup`.

    Raises:
        ConfigurationError: a language model cannot be reached by what is known of it.
        AgentSpecError: a person cannot be built from data, or the model changed since it was resolved.
    """
    return _seat(spec).build(spec, TableSetup(game, runtime, models, worker_seeds))


def _seat(spec: AgentSpec) -> Seat:
    return SEATS["python" if spec.traits.own else spec.traits.name]


def _in_view(spec: AgentSpec, game: Game) -> AgentSpec:
    info = game.info
    if spec.view not in info.views:
        raise AgentSpecError(
            f"agent {spec.name!r}: {info.id} has the views {', '.join(info.views)}, not {spec.view!r}."
        )
    return spec


def _random(spec: AgentSpec, table: TableSetup) -> Agent:
    return RandomAgent(spec.name, spec.view)


def _no_person(spec: AgentSpec, table: TableSetup) -> Agent:
    raise AgentSpecError("A person plays one game at a time in the terminal, not in a tournament: use `cwm play`.")


def _resolve_planner(spec: AgentSpec, game: Game) -> AgentSpec:
    config = _in_view(spec, game).planner_config(game.info.perfect_information)
    try:
        planner.make(game, config)
    except PlannerConfigError as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error
    return replace(spec, planner=config.to_json())


def _planner_on_game(spec: AgentSpec, table: TableSetup) -> Agent:
    config = spec.planner_config(table.game.info.perfect_information)
    return PlannerAgent(table.game, config, spec.name, spec.view, table.worker_seeds)


def _resolve_simultaneous(spec: AgentSpec, game: Game) -> AgentSpec:
    try:
        given = PosgPlannerConfig.from_json(_in_view(spec, game).planner)
        config = posg.written_out(given, game)
        trained = posg.check(config, game)
    except PlannerConfigError as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error
    return replace(spec, planner=spec.planner if config == given else config.to_json(), model_hash=trained)


def _simultaneous(spec: AgentSpec, table: TableSetup) -> Agent:
    config = PosgPlannerConfig.from_json(spec.planner)
    if spec.model_hash is not None:
        spec.check_unchanged(posg.check(config, table.game) or "", "a trained policy that it names")
    return posg.PosgAgent(table.game, config, spec.name, spec.view)


def _resolve_model(spec: AgentSpec, game: Game) -> AgentSpec:
    info = game.info
    bundle = bundle_of(_in_view(spec, game))
    if bundle.joint or "method" in spec.planner:
        return _resolve_joint_model(spec, game, bundle)
    if "selection" not in spec.planner and spec.model_hash is None:
        # One that says how to search, or whose settings are written out already, keeps to its own.
        spec = replace(spec, planner={**bundle.plays_with, **spec.planner})
    config = spec.planner_config(info.perfect_information)
    try:
        planner.check(config)
    except PlannerConfigError as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error
    if bundle.info["id"] != info.id:
        raise AgentSpecError(f"agent {spec.name!r}: its model is of {bundle.info['id']}, the game is {info.id}.")
    if bundle.game_info.views[0] != spec.view:
        view = bundle.game_info.views[0]
        raise AgentSpecError(f"agent {spec.name!r}: its model is of the view {view!r}: add view={view}.")
    if config.leaf == "value" and bundle.value_source is None:
        raise AgentSpecError(f"agent {spec.name!r}: its model has no value function: use leaf=rollout.")
    if planner.needs_policy(config) and bundle.prior_source is None:
        raise AgentSpecError(
            f"agent {spec.name!r}: its model has no policy prior: leave out prior=policy and belief_temper."
        )
    return replace(spec, planner=config.to_json(), model_hash=bundle.hash)


JOINT_SETTINGS: Final = ("simulations", "seconds", "exploration")
"""Settings that every planner on a model takes, whichever its method."""


def _resolve_joint_model(spec: AgentSpec, game: Game, bundle: ModelBundle) -> AgentSpec:
    """Resolves a planner on a program with a joint step; POMCP where no method is named."""
    if not bundle.joint:
        raise AgentSpecError(f"agent {spec.name!r}: the players of its model take turns: leave out method=.")
    if bundle.info["id"] != game.info.id:
        raise AgentSpecError(f"agent {spec.name!r}: its model is of {bundle.info['id']}, the game is {game.info.id}.")
    if spec.learn is not None or spec.workers > 1:
        raise AgentSpecError(
            f"agent {spec.name!r}: its model has a joint step, whose planners have one worker and learn nothing: leave "
            "out workers= and learn=."
        )
    given = dict(spec.planner)
    others = [name for name in given if name not in JOINT_SETTINGS]
    if "method" not in given:
        given = {"leaf": leaf_of(bundle), **bundle.plays_with, **given}
    if "method" not in spec.planner and others:
        raise AgentSpecError(
            f"agent {spec.name!r}: its model has a joint step, whose planners have no {others[0]!r} of this kind: name "
            "their method, e.g. method=pomcp, and its settings."
        )
    try:
        config = PosgPlannerConfig.from_json({"method": "pomcp", **given})
        check_types(config, bundle.beside)
    except PlannerConfigError as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error
    return replace(spec, planner=config.to_json(), model_hash=bundle.hash)


def _planner_on_model(spec: AgentSpec, table: TableSetup) -> Agent:
    bundle = bundle_of(spec)
    spec.check_unchanged(bundle.hash, f"the model in {spec.model}")
    if bundle.joint:
        joint = PosgPlannerConfig.from_json(spec.planner)
        return JointModelAgent(bundle.program(), joint, table.runtime, spec.name, spec.view)
    config = spec.planner_config(table.game.info.perfect_information)
    if spec.learn is not None:
        return LearningAgent(bundle, config, table.runtime, spec.name, spec.view, spec.workers)
    return ModelAgent(bundle.program(), config, table.runtime, spec.name, spec.view, spec.workers)


def _resolve_partner(spec: AgentSpec, game: Game) -> AgentSpec:
    info = game.info
    known = partners(info.id)
    _in_view(spec, game)
    if spec.model not in known:
        names = ", ".join(known) or "none"
        raise AgentSpecError(f"agent {spec.name!r}: {info.id} has the partners {names}, not {spec.model!r}.")
    if spec.view != info.views[0]:
        raise AgentSpecError(f"agent {spec.name!r}: partners see the view {info.views[0]!r}, not {spec.view!r}.")
    return spec


def _partner(spec: AgentSpec, table: TableSetup) -> Agent:
    return PartnerAgent(partners(table.game.info.id)[spec.model or ""], spec.name, spec.view)


def _resolve_player(spec: AgentSpec, game: Game) -> AgentSpec:
    check(_in_view(spec, game))
    try:
        registry.book_of(game)
    except GameError as error:
        raise AgentSpecError(f"agent {spec.name!r}: a language model plays by a rules text, but {error}") from error
    try:
        view = found.check(spec.llm_config(), game, spec.view)
        trial.check(spec.llm_config(), game, view)
    except LlmConfigError as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error
    return replace(spec, view=view, llm=spec.llm_config().to_json())


def _player(spec: AgentSpec, table: TableSetup) -> Agent:
    model = (table.models or PlayerModels([spec])).model(spec)
    options = spec.llm_config()
    if options.scaffold != PLAIN:
        offered = found.offered(options, table.game, spec.view)
        prompts = ScaffoldPrompts(table.game.info, offered)
        search = searcher(table.game, spec.view) if options.choose == "search" else None
        return ScaffoldAgent(prompts, model, options, spec.name, spec.view, not in_order([spec]), search)
    return LlmAgent(GamePrompts(table.game, options, spec.view), model, options, spec.name, spec.view)


def _resolve_own(spec: AgentSpec, game: Game) -> AgentSpec:
    return own_class.resolve(_in_view(spec, game))


def _own(spec: AgentSpec, table: TableSetup) -> Agent:
    return own_class.build(spec)


def _resolve_program(spec: AgentSpec, game: Game) -> AgentSpec:
    return program.resolve(_in_view(spec, game))


def _program(spec: AgentSpec, table: TableSetup) -> Agent:
    return program.build(spec, table.game)


def _trained(module: str) -> Seat:
    """Returns how the trained policies of a module take their seats; the module is loaded when one does."""

    def resolve(spec: AgentSpec, game: Game) -> AgentSpec:
        resolved: AgentSpec = accelerated.load(module).resolve(spec, game.info)
        return _in_view(resolved, game)

    def build(spec: AgentSpec, table: TableSetup) -> Agent:
        agent: Agent = accelerated.load(module).build(spec, table.game.info, table.runtime)
        return agent

    return Seat(resolve, build)


def _guided(module: str) -> Seat:
    """Returns the same of policies that may guide a search of the true game."""
    plain = _trained(module)

    def resolve(spec: AgentSpec, game: Game) -> AgentSpec:
        resolved = plain.resolve(spec, game)
        if resolved.planner:
            accelerated.load(module).searching(resolved, game, None)
        return resolved

    def build(spec: AgentSpec, table: TableSetup) -> Agent:
        if not spec.planner:
            return plain.build(spec, table)
        agent: Agent = accelerated.load(module).searching(spec, table.game, table.runtime)
        return agent

    return Seat(resolve, build)


SEATS: Final[Mapping[str, Seat]] = {
    "random": Seat(_in_view, _random),
    "mcts": Seat(_resolve_planner, _planner_on_game),
    "ismcts": Seat(_resolve_planner, _planner_on_game),
    "blueprint": Seat(_resolve_planner, _planner_on_game),
    "posg": Seat(_resolve_simultaneous, _simultaneous),
    "cwm": Seat(_resolve_model, _planner_on_model),
    "partner": Seat(_resolve_partner, _partner),
    "llm": Seat(_resolve_player, _player),
    "human": Seat(_in_view, _no_person),
    "ippo": _trained("arena.agents.learned_policy"),
    "learned": _guided("arena.agents.model_policy"),
    "python": Seat(_resolve_own, _own),
    "exec": Seat(_resolve_program, _program),
}
"""By kind (`arena.agents.kinds.KINDS`); `python` is the row of classes of other distributions, too. Trained policies
need optional packages: their modules are named, and imported when one plays."""
