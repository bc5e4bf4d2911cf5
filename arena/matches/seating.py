"""Builds agents from their descriptions."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from arena.agents.api import Agent, RandomAgent
from arena.agents.model import LearningAgent, ModelAgent
from arena.agents.partner import PartnerAgent, partners
from arena.agents.planner import PlannerAgent
from arena.agents.specs import TRAINED, AgentSpec, AgentSpecError
from arena.language_players.agent import LlmAgent
from arena.language_players.models import PlayerModels, check
from arena.language_players.prompts import GamePrompts
from arena.machine import accelerated
from arena.machine.runtime import Runtime
from cwm.model.bundle import ModelBundle
from games import registry
from games.api import Game, GameError
from search import planner
from search.api import PlannerConfigError

LEARNED: Final = "arena.agents.learned_policy"
ON_MODEL: Final = "arena.agents.model_policy"
"""Both need optional packages, so they are imported when a trained policy plays."""


def resolve(spec: AgentSpec, game: Game) -> AgentSpec:
    """Returns `spec` with all settings written out and the model's hash, after checking that it fits the game.

    Raises:
        AgentSpecError: it does not fit, or its model cannot be read; the message says why.
        GameError: it is a trained policy, and what it needs is not installed.
    """
    info = game.info
    if spec.kind == "ippo":
        spec = accelerated.load(LEARNED).resolve(spec, info.id)
    if spec.kind == "learned":
        spec = accelerated.load(ON_MODEL).resolve(spec, info)
    if spec.view not in info.views:
        raise AgentSpecError(
            f"agent {spec.name!r}: {info.id} has the views {', '.join(info.views)}, not {spec.view!r}."
        )
    if spec.kind in ("random", "human", *TRAINED):
        return spec
    if spec.kind == "partner":
        _check_partner(spec, game)
        return spec
    if spec.kind == "llm":
        _check_player(spec, game)
        return replace(spec, llm=spec.llm_config().to_json())
    bundle = load_bundle(spec) if spec.kind == "cwm" else None
    if bundle is not None:
        spec = _as_it_plays_best(spec, bundle)
    config = spec.planner_config(info.perfect_information)
    resolved = replace(spec, planner=config.to_json())
    try:
        if bundle is None:
            planner.make(game, config)
            return resolved
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
    return replace(resolved, model_hash=bundle.hash)


def _as_it_plays_best(spec: AgentSpec, bundle: ModelBundle) -> AgentSpec:
    """Returns a `cwm` agent with the settings that were found best for its model, unless it says how to search."""
    if "selection" in spec.planner or spec.model_hash is not None:
        # Its settings are written out already; a search without priors then names none of theirs.
        return spec
    return replace(spec, planner={**bundle.plays_with, **spec.planner})


def build(
    spec: AgentSpec, game: Game, runtime: Runtime, models: PlayerModels | None = None, worker_seeds: bool = False
) -> Agent:
    """Builds a resolved agent.

    Args:
        spec: as `resolve` returned it.
        game: the true game.
        runtime: limits of programs that are not trusted.
        models: language models of the players; None for one of its own, without caps, whose calls nobody keeps.
        worker_seeds: whether a planner on the true game draws what one in a model's worker would.

    Raises:
        ConfigurationError: a language model cannot be reached by what is known of it.
        AgentSpecError: a person cannot be built from data, or the model changed since it was resolved.
    """
    if spec.kind == "random":
        return RandomAgent(spec.name, spec.view)
    if spec.kind == "human":
        raise AgentSpecError("A person plays one game at a time in the terminal, not in a tournament: use `cwm play`.")
    if spec.kind == "partner":
        return PartnerAgent(partners(game.info.id)[spec.model or ""], spec.name, spec.view)
    if spec.kind == "ippo":
        learned: Agent = accelerated.load(LEARNED).build(spec, game.info.id)
        return learned
    if spec.kind == "learned":
        pupil: Agent = accelerated.load(ON_MODEL).build(spec, game.info, runtime)
        return pupil
    if spec.kind == "llm":
        model = (models or PlayerModels([spec])).model(spec)
        options = spec.llm_config()
        return LlmAgent(GamePrompts(game, options, spec.view), model, options, spec.name, spec.view)
    config = spec.planner_config(game.info.perfect_information)
    if spec.kind != "cwm":
        return PlannerAgent(game, config, spec.name, spec.view, worker_seeds)
    bundle = load_bundle(spec)
    if spec.model_hash not in (None, bundle.hash):
        raise AgentSpecError(f"agent {spec.name!r}: the model in {spec.model} changed while the tournament ran.")
    if spec.learn is not None:
        return LearningAgent(bundle, config, runtime, spec.name, spec.view, spec.workers)
    return ModelAgent(bundle.program(), config, runtime, spec.name, spec.view, spec.workers)


def _check_partner(spec: AgentSpec, game: Game) -> None:
    known = partners(game.info.id)
    if spec.model not in known:
        names = ", ".join(known) or "none"
        raise AgentSpecError(f"agent {spec.name!r}: {game.info.id} has the partners {names}, not {spec.model!r}.")
    if spec.view != game.info.views[0]:
        raise AgentSpecError(f"agent {spec.name!r}: partners see the view {game.info.views[0]!r}, not {spec.view!r}.")


def _check_player(spec: AgentSpec, game: Game) -> None:
    check(spec)
    try:
        registry.rules(game.info.id)
    except GameError as error:
        raise AgentSpecError(f"agent {spec.name!r}: a language model plays by a rules text, but {error}") from error


def load_bundle(spec: AgentSpec) -> ModelBundle:
    """Reads the bundle that a `cwm` agent names.

    Raises:
        AgentSpecError: there is none, or it cannot be read.
    """
    try:
        return ModelBundle.load(Path(spec.model or ""))
    except (OSError, ValueError, KeyError) as error:
        raise AgentSpecError(f"agent {spec.name!r}: no model can be read from {spec.model!r} ({error}).") from error
