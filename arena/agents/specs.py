"""What an agent is, as plain data: parsed from the command line, sent to worker processes, hashed into keys."""

import difflib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from arena.agents import posg
from arena.agents.kinds import KINDS, AgentKind
from arena.agents.llm_settings import OF_THE_LINE, LlmConfig, LlmConfigError, value_of
from arena.agents.own_settings import (
    OURS,
    TIME_NAMES,
    OwnSettingsError,
    ProgramConfig,
    literal,
    seconds,
    split_command,
)
from cwm.llm.provider_table import provider_of
from games import plugins
from games.api import DEFAULT_VIEW
from games.own_code import OwnCodeError, place_of
from search import planner
from search.api import PlannerConfig, PlannerConfigError

SHORT_NAMES = {
    "sims": "simulations",
    "time": "seconds",
    "c": "exploration",
    "depth": "max_depth",
    "widening": "widening_coefficient",
    "belief": "belief_size",
    "tries": "resample_tries",
    "reduction": "first_play_reduction",
    "noise": "root_noise",
    "temper": "belief_temper",
    "mix": "belief_mix",
    "threshold": "belief_threshold",
}
"""Short names of planner settings, as the command line takes them."""

MOST_WORKERS = 64
"""Each is a process."""
LEARN_CALLS = 3
MOST_LEARN_CALLS = 100

_TYPES: dict[str, type] = {
    item.name: type(getattr(PlannerConfig(), item.name)) for item in fields(PlannerConfig) if item.name != "algorithm"
} | {"seconds": float}
TIMED_SIMULATIONS = 100_000
"""Of a planner that is given a time a move and no number of simulations."""
_CHOICES = planner.CHOICES
_WHOLE = {"workers": MOST_WORKERS, "learn_calls": MOST_LEARN_CALLS}
HOW_IT_LEARNS = ("temperature", "reasoning_effort")
"""Options of the language model of an agent that learns."""


class AgentSpecError(ValueError):
    """An agent was described wrongly; the message names the part and what is expected."""


@dataclass(frozen=True)
class AgentSpec:
    """One agent.

    Attributes:
        kind: one of `arena.agents.kinds.KINDS`.
        name: label in tables, unique within a tournament; also part of the seed, so that two agents which differ in
            name alone play independently.
        view: which of the game's views it is shown.
        planner: settings given for `mcts`, `ismcts` and `cwm`, by full name; the rest are the planner's defaults. For
            `learned` simulations alone, for `posg` all of them (`search.posg.config.PosgPlannerConfig`).
        model: for `cwm`: folder of a run or a bundle; for `partner`: its name; for `llm`:
            `PROVIDER:MODEL`; for `ippo`: a policy that ships for the game, or a folder; for `learned`: the folder of a
            training; for `python`: `FILE:CLASS`, the file absolute; for `exec`: the command.
        model_hash: for `cwm`, `ippo`, `learned`: content hash of the bundle or checkpoint, for `python` and `exec` of
            the files named, for `posg` of the trained policies that it names, filled in when it is loaded; None before.
        workers: for `cwm`: how many processes share the simulations of a move.
        llm: options given for `llm`, by name (`LlmConfig`); with `learn` those of `HOW_IT_LEARNS`.
        learn: for `cwm`: the language model that refines its model between games, `PROVIDER:MODEL` or `true` for that
            of the run; None for no learning. See `arena.pipeline.online_learning`.
        learn_calls: for `cwm`: calls after one game, at most.
        greedy: for `ippo` and `learned`: play the likeliest action instead of drawing one.
        options: for classes that are not ours: keyword arguments; for `exec`: see `ProgramConfig`.
        folder: for `exec`: where the command is started; its files are found from there.
    """

    kind: str
    name: str
    view: str = DEFAULT_VIEW
    planner: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    model_hash: str | None = None
    workers: int = 1
    llm: dict[str, Any] = field(default_factory=dict)
    learn: str | None = None
    learn_calls: int = LEARN_CALLS
    greedy: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    folder: str | None = None

    @property
    def traits(self) -> AgentKind:
        """What is true of every agent of this kind.

        Raises:
            AgentSpecError: there is no such kind.
        """
        return kind_of(self.kind)

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        # Keys of stored games are hashes of this: an agent of one worker keeps those it always had.
        if self.workers == 1:
            del data["workers"]
        if not self.traits.asks and not self.llm:
            del data["llm"]
        if self.learn is None:
            del data["learn"], data["learn_calls"]
        if not self.greedy:
            del data["greedy"]
        if not self.options:
            del data["options"]
        if self.folder is None:
            del data["folder"]
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "AgentSpec":
        """Builds a spec; keys that a newer version wrote are left out."""
        known = {item.name for item in fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in known})

    def identity(self) -> dict[str, Any]:
        """Returns what the agent's play depends on: bundles and files count by their content, not by their place."""
        data = self.to_json()
        if self.model_hash is not None:
            del data["model"]
        data.pop("folder", None)
        return data

    def course(self) -> dict[str, Any]:
        """Returns what the seeds of a game are made from: the identity, and of a language model only how it is asked.

        So a game that was played with a model is played with its recording, question by question.
        """
        data = self.identity()
        if self.traits.asks:
            del data["model"]
            data["llm"] = {name: value for name, value in data["llm"].items() if name not in OF_THE_LINE}
        return data

    def check_unchanged(self, content: str, what: str) -> None:
        """Refuses a model or policy that is no longer the one that was resolved.

        Args:
            content: its hash now.
            what: its name, for people.

        Raises:
            AgentSpecError: it changed.
        """
        if self.model_hash not in (None, content):
            raise AgentSpecError(f"agent {self.name!r}: {what} changed while the games ran.")

    def llm_config(self) -> LlmConfig:
        """Returns the full options of an `llm` agent."""
        return LlmConfig.from_json(self.llm)

    def planner_config(self, perfect_information: bool) -> PlannerConfig:
        """Returns the full settings; a `cwm` agent that names no algorithm takes the one that fits the game.

        Raises:
            AgentSpecError: a setting is unknown or out of range.
        """
        settings = dict(self.planner)
        if self.traits.sandboxed:
            settings.setdefault("algorithm", "mcts" if perfect_information else "ismcts")
        else:
            settings["algorithm"] = self.kind
        try:
            return PlannerConfig.from_json(settings)
        except PlannerConfigError as error:
            raise AgentSpecError(f"agent {self.name!r}: {error}") from error


def kind_of(name: str) -> AgentKind:
    """Returns a kind of agents by name.

    Raises:
        AgentSpecError: there is none; the message lists those there are.
    """
    if name in KINDS:
        return KINDS[name]
    if name in plugins.names(plugins.AGENTS):
        return AgentKind(name, f"{name} (of the distribution {plugins.brought_by(plugins.AGENTS, name)})", own=True)
    near = difflib.get_close_matches(name, KINDS, 1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise AgentSpecError(f"Unknown agent {name!r}: expected one of {', '.join(KINDS)}{hint}")


def parse(text: str) -> AgentSpec:
    """Parses `KIND[:SETTING=VALUE,...]`, or `KIND:MODEL[,SETTING=VALUE,...]` for kinds that name a model (`AgentKind`).

    Every planner setting is known by its full name and some by a short one (`SHORT_NAMES`: `sims`, `time`, `c`,
    `belief`, …); `view=` and `name=` go with any agent; `algorithm=`, `workers=`, `learn=`, `learn_calls=` and, beside
    `learn=`, `HOW_IT_LEARNS` with those on a synthesised model, `greedy=` with trained policies, the options of
    `LlmConfig` with language models. With `method=` a model's planner is one for games of simultaneous moves.

    Raises:
        AgentSpecError: the text is not such a description.
    """
    before, _, rest = text.strip().partition(":")
    kind = kind_of(before)
    if kind.program:
        return _program(text.strip(), kind, rest)
    parts = [part.strip() for part in rest.split(",") if part.strip()]
    model = None
    if kind.model is not None:
        if not parts or "=" in parts[0]:
            raise AgentSpecError(f"Agent {text!r} names no {kind.model}.")
        model = parts.pop(0)
    if kind.asks:
        return _llm(text, kind, model or "", parts)
    if kind.simultaneous or (kind.sandboxed and any(part.startswith("method=") for part in parts)):
        return _simultaneous(text.strip(), kind, model or "", parts)
    if kind.own:
        return _own(text.strip(), kind, model, parts)
    settings = _settings(text, parts)
    _check_settings(text, kind, settings)
    if "seconds" in settings:
        settings.setdefault("simulations", TIMED_SIMULATIONS)
    asked = {option: settings.pop(option) for option in HOW_IT_LEARNS if option in settings}
    return AgentSpec(
        kind=kind.name,
        name=settings.pop("name", text.strip()),
        view=settings.pop("view", DEFAULT_VIEW),
        model=model,
        workers=settings.pop("workers", 1),
        learn=settings.pop("learn", None),
        learn_calls=settings.pop("learn_calls", LEARN_CALLS),
        llm=asked,
        greedy=settings.pop("greedy", False),
        planner=settings,
    )


def _check_settings(text: str, kind: AgentKind, settings: Mapping[str, Any]) -> None:
    """Refuses settings that do not go with a kind of agents."""
    if kind.trained and "view" in settings:
        raise AgentSpecError(f"Agent {text!r}: a trained policy has the view that it was trained on: leave out view=.")
    if settings.get("greedy") and not kind.trained:
        trained = " and ".join(other.name for other in KINDS.values() if other.trained)
        raise AgentSpecError(
            f"Agent {kind.name!r} has no policy that it draws from: greedy= goes with {trained} alone."
        )
    sandboxed = " and ".join(other.name for other in KINDS.values() if other.sandboxed)
    if "workers" in settings and not kind.sandboxed:
        raise AgentSpecError(f"Agent {kind.name!r} searches in this process: workers= goes with {sandboxed} alone.")
    if {"learn", "learn_calls"} & settings.keys() and not kind.sandboxed:
        raise AgentSpecError(
            f"Agent {kind.name!r} has no model to refine: learn= and learn_calls= go with {sandboxed} alone."
        )
    asked = set(HOW_IT_LEARNS) & settings.keys()
    if asked and settings.get("learn") is None:
        raise AgentSpecError(
            f"Agent {text!r} asks no language model: {min(asked)}= goes with {sandboxed} beside learn=, and with llm."
        )
    others = settings.keys() - {"name", "view", "greedy", *_WHOLE, "learn", *HOW_IT_LEARNS}
    if kind.guides and "simulations" in others:
        if "greedy" in settings:
            raise AgentSpecError(f"Agent {text!r}: a search draws from no policy: leave out greedy= or sims=.")
        others -= {"simulations"}
    if others and not kind.searches:
        taken = (
            "greedy=, sims= and name=" if kind.guides else "greedy= and name=" if kind.trained else "name= and view="
        )
        raise AgentSpecError(f"Agent {kind.name!r} takes only {taken}, not {', '.join(sorted(others))}.")
    if "algorithm" in others and not kind.sandboxed:
        raise AgentSpecError(f"Agent {kind.name!r} is its own algorithm: leave out algorithm={settings['algorithm']}.")


def _llm(text: str, kind: AgentKind, model: str, parts: list[str]) -> AgentSpec:
    options: dict[str, Any] = {}
    for name, value in _pairs(text, parts, {}).items():
        try:
            options[name] = value if name in ("name", "view") else value_of(name, value)
        except LlmConfigError as error:
            raise AgentSpecError(f"Agent {text!r}: {error}") from error
    provider = provider_of(model)
    # A place for a name says nothing in a table, and a recording has another one than its replay.
    label = text.strip() if provider is None or provider.is_server else kind.name
    name, view = options.pop("name", label), options.pop("view", DEFAULT_VIEW)
    return AgentSpec(kind=kind.name, name=name, view=view, model=model, llm=options)


def _simultaneous(text: str, kind: AgentKind, named: str, parts: list[str]) -> AgentSpec:
    """Parses a planner for games of simultaneous moves: on the true game its method is named first, else its model."""
    given = _pairs(text, parts, posg.SHORT_NAMES)
    label, view = given.pop("name", text), given.pop("view", DEFAULT_VIEW)
    method, model = (given.pop("method"), named) if kind.sandboxed else (named, None)
    try:
        return AgentSpec(kind=kind.name, name=label, view=view, model=model, planner=posg.settings(method, given))
    except PlannerConfigError as error:
        raise AgentSpecError(f"Agent {text!r}: {error}") from error


def _own(text: str, kind: AgentKind, model: str | None, parts: list[str]) -> AgentSpec:
    given = _pairs(text, parts, {})
    try:
        model = None if model is None else str(place_of(model, "python:FILE:CLASS, e.g. python:mine.py:Greedy"))
    except OwnCodeError as error:
        raise AgentSpecError(f"Agent {text!r}: {error}") from error
    return AgentSpec(
        kind=kind.name,
        name=given.get("name", text),
        view=given.get("view", DEFAULT_VIEW),
        model=model,
        options={option: literal(value) for option, value in given.items() if option not in OURS},
    )


def _program(text: str, kind: AgentKind, rest: str) -> AgentSpec:
    try:
        command, given = split_command(rest)
        times = {TIME_NAMES[name]: seconds(name, given[name]) for name in TIME_NAMES if name in given}
    except OwnSettingsError as error:
        raise AgentSpecError(f"Agent {text!r}: {error}") from error
    if not command:
        raise AgentSpecError(f"Agent {text!r} names no {kind.model}.")
    return AgentSpec(
        kind=kind.name,
        name=given.get("name", text),
        view=given.get("view", DEFAULT_VIEW),
        model=command,
        options=times and ProgramConfig.from_json(times).to_json(),
        folder=os.getcwd(),
    )


def _settings(text: str, parts: list[str]) -> dict[str, Any]:
    return {key: _value(text, key, value) for key, value in _pairs(text, parts, SHORT_NAMES).items()}


def _pairs(text: str, parts: list[str], short_names: Mapping[str, str]) -> dict[str, str]:
    """Returns settings by full name, as they were written."""
    settings: dict[str, str] = {}
    for part in parts:
        short, equals, value = part.partition("=")
        short = short.strip()
        if not equals or not value.strip():
            raise AgentSpecError(f"Agent {text!r}: {part!r} is no setting; write NAME=VALUE.")
        key = short_names.get(short, short)
        if key in settings:
            raise AgentSpecError(f"Agent {text!r} sets {short!r} twice.")
        settings[key] = value.strip()
    return settings


def _value(text: str, key: str, value: str) -> Any:
    if key in ("name", "view"):
        return value
    if key == "greedy":
        if value not in ("true", "false"):
            raise AgentSpecError(f"Agent {text!r}: greedy is true or false, not {value!r}.")
        return value == "true"
    if key in _CHOICES:
        if value not in _CHOICES[key]:
            raise AgentSpecError(f"Agent {text!r}: {key} is {' or '.join(_CHOICES[key])}, not {value!r}.")
        return value
    if key == "learn":
        return None if value == "false" else value
    if key in HOW_IT_LEARNS:
        try:
            return value_of(key, value)
        except LlmConfigError as error:
            raise AgentSpecError(f"Agent {text!r}: {error}") from error
    if key in _WHOLE:
        if not value.isdecimal() or not 1 <= int(value) <= _WHOLE[key]:
            raise AgentSpecError(
                f"Agent {text!r}: {key} must be a whole number from 1 to {_WHOLE[key]}, not {value!r}."
            )
        return int(value)
    if key not in _TYPES:
        known = [*_TYPES, *SHORT_NAMES, "algorithm", *_WHOLE, "learn", *HOW_IT_LEARNS, "greedy", "view", "name"]
        near = difflib.get_close_matches(key, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}."
        raise AgentSpecError(f"Agent {text!r} has no setting {key!r}; {hint}")
    if _TYPES[key] not in (int, float):
        return value
    try:
        number = _TYPES[key](value)
    except ValueError:
        wanted = "a whole number" if _TYPES[key] is int else "a number"
        raise AgentSpecError(f"Agent {text!r}: {key} must be {wanted}, not {value!r}.") from None
    if not 0 <= number < float("inf"):
        raise AgentSpecError(f"Agent {text!r}: {key} must be finite and not negative, not {value}.")
    return number
