"""What a synthesis run is asked for: typed, stored in its record, checked when it is resumed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

from arena.runs.hidden_information import HiddenInformation
from arena.runs.how_told import Chance, HowTold, Names
from arena.usage import UsageError
from cwm.functions.joint.kinds import kinds_for
from cwm.functions.prior import PriorConfig
from cwm.functions.types import FunctionConfig, PriorsPlay
from cwm.functions.vectors import VectorConfig
from cwm.interface.wording import USUAL, Wording
from cwm.llm.recordings import VARIANT
from cwm.sandbox.parent import levels
from cwm.sandbox.wire.api import Level
from cwm.speed.task import SpeedConfig
from cwm.storage.journal import RunCorruptError
from cwm.storage.settings import Settings, known_fields
from cwm.synthesis.config import SynthesisConfig
from cwm.trajectories.recorded import Deck, Infers
from cwm.trajectories.telling import Detail
from search.api import PlannerConfig

DEFAULT_LLM = "recorded"
"""Stands for the recorded completions that ship with the project for the game at hand."""
TOURNAMENT_DEALS = 6
"""Deals a pairing in the tournaments of value functions and policy priors."""
MOST_DEALS = 40
"""Deals a pairing at most, where a tournament stops in time."""
FURTHER_GAMES = 5
"""Games that a program which passes its tests plays on the model, and as many real ones."""
FURTHER_ROUNDS = 3
MOST_FURTHER_ROUNDS = 20
"""The same where nothing was recorded with fewer: games go on while they find failures, up to the cap on calls."""


@dataclass(frozen=True)
class MatchSettings:
    """Matches of the finished model: with itself, with random, with the planner on the true game.

    Attributes:
        deals: deals a lineup, each in all seat rotations.
        simulations: simulations a move of both planners.
        rollouts: random rollouts a leaf, where there is no value function.
    """

    deals: int = 12
    simulations: int = 300
    rollouts: int = 10


@dataclass(frozen=True)
class RunSettings(Settings):
    """Everything that changes a run's result, but its budgets, which may be raised on resuming.

    Attributes:
        game: registry id, or the name in the trajectory file of a user's own game.
        registered: whether a reference game stands behind it.
        llm: `PROVIDER:MODEL`, or `recorded`.
        base_url: address of a server that speaks the provider's API, None for the provider's own.
        seed: everything random derives from it.
        train_games: recorded games that the unit tests are made from.
        held_out_games: for a user's own game: how many of its games, the last ones, are kept for the test.
        test_transitions: held-out transitions of a registered game.
        planner_games: games of the finished planner on its own model, followed on the true game.
        synthesis: see `SynthesisConfig`.
        value: see `FunctionConfig`; None for no value function.
        matches: None for none.
        level: at which programs run.
        prior: see `PriorConfig`; None for no policy prior.
        tournament_deals: deals a pairing in the tournaments of value functions and policy priors; at most so many where
            `tournament_budget` is given.
        deck: see `HiddenInformation`.
        inference: see `HiddenInformation`.
        vectors: see `VectorConfig`; None for observations that never become vectors.
        further_games: games of a further round, see `arena.pipeline.further_games`: so many of the planner on the
            model, and so many real ones; 0 for no further rounds. A user's own game has none.
        further_rounds: further rounds, at most.
        faster: see `SpeedConfig`; None for the program as it passes its tests.
        told: whether the model is given the rules text; else it has the played games alone.
        begun: hash of the model that the synthesis goes on from, None to begin with none.
        functions: settings of the kinds of functions that have no field here, by their names.
        temperature: sampling temperature of every question that has none of its own, None for the provider's default.
        reasoning_effort: how long the model is to think, e.g. `low`; None for the provider's default.
        rules_detail: see `HowTold`, as the next two.
        vocabulary: whether the names in the records are listed beside a rule book.
        chance: whether a table of what may be dealt is handed over where no rule says it.
        wording: of the prompts, whole.
        joint: whether the program has a joint step, for games of simultaneous moves; else its players take turns.
        tournament_budget: seconds of each of these tournaments, which then stop as soon as the leader is told apart;
            None for a fixed number of deals.
        priors_play: how planners use policy priors, in the tournament and with the finished model.
    """

    left_out: ClassVar[Sequence[Mapping[str, Any]]] = (
        {"prior": None},
        {"tournament_deals": TOURNAMENT_DEALS},
        {"deck": "open", "inference": "history"},
        {"vectors": None},
        {"faster": None},
        {"further_games": 0},
        {"told": True},
        {"functions": {}},
        {"begun": None},
        {"temperature": None},
        {"reasoning_effort": None},
        {"rules_detail": "specification"},
        {"vocabulary": "list"},
        {"chance": "listed"},
        {"tournament_budget": None},
        {"priors_play": "tree"},
        {"wording": USUAL},
        {"joint": False},
    )

    game: str
    registered: bool
    llm: str = DEFAULT_LLM
    base_url: str | None = None
    seed: int = 0
    train_games: int = 5
    held_out_games: int = 0
    test_transitions: int = 10_000
    planner_games: int = 10
    synthesis: SynthesisConfig = field(default_factory=SynthesisConfig)
    value: FunctionConfig | None = None
    matches: MatchSettings | None = None
    level: Level = field(default_factory=levels.default)
    prior: PriorConfig | None = None
    tournament_deals: int = TOURNAMENT_DEALS
    deck: Deck = "open"
    inference: Infers = "history"
    vectors: VectorConfig | None = None
    further_games: int = FURTHER_GAMES
    further_rounds: int = FURTHER_ROUNDS
    faster: SpeedConfig | None = None
    told: bool = True
    functions: Mapping[str, FunctionConfig] = field(default_factory=dict)
    begun: str | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None
    rules_detail: Detail = "book"
    vocabulary: Names = "list"
    chance: Chance = "listed"
    tournament_budget: float | None = None
    priors_play: PriorsPlay = "tree"
    wording: Wording = USUAL
    joint: bool = False

    @property
    def how_told(self) -> HowTold:
        """How the game is told to the language model."""
        return HowTold(self.rules_detail, self.vocabulary, self.chance, self.wording)

    @property
    def hidden(self) -> HiddenInformation:
        """How the run deals with what is hidden."""
        return HiddenInformation(self.deck, self.inference)

    @property
    def recorded(self) -> str:
        """The game as its recordings are named: `leduc_poker`, or e.g. `leduc_poker+closed`, `mnk+conversation`."""
        variants = [self.wording.name] if self.wording.name else []
        variants += [] if self.hidden.usual else [self.hidden.name]
        if self.synthesis.method != "tree_search":
            variants.append(self.synthesis.method)
        if not self.told:
            variants.append(UNTOLD)
        if not self.how_told.by_book:
            variants.append(self.rules_detail)
        return "".join([self.game, *(VARIANT + variant for variant in variants)])

    @property
    def asked_functions(self) -> dict[str, FunctionConfig]:
        """Settings of the kinds of functions that are asked for, by their names."""
        kinds = kinds_for(self.joint)
        asked = {kind.name: getattr(self, kind.name, self.functions.get(kind.name)) for kind in kinds}
        return {name: config for name, config in asked.items() if config is not None}

    def seeded(self, seed: int) -> Self:
        """Returns the settings with another seed, in every part that has one."""
        parts: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        changed = {name: replace(part, seed=seed) for name, part in parts.items() if hasattr(part, "seed")}
        return replace(self, **changed, seed=seed)

    def with_functions(self, asked: Mapping[str, FunctionConfig]) -> Self:
        """Returns the settings with further kinds of functions asked for, by their names."""
        own: dict[str, Any] = {name: config for name, config in asked.items() if name in self.__dataclass_fields__}
        others = {name: config for name, config in asked.items() if name not in own}
        return replace(self, **own, functions={**self.functions, **others})

    def with_budget(self, seconds: float | None, deals: int | None = None) -> Self:
        """Returns the settings with tournaments that stop in time; as they are for None.

        Args:
            seconds: of each tournament.
            deals: at most, a pairing; None for `MOST_DEALS`.

        Raises:
            UsageError: there is nothing to choose among.
        """
        if seconds is None:
            return self
        if self.value is None and self.prior is None and not self.functions:
            raise UsageError(
                "The option `tournament_budget` is for the choice among value functions or policy priors, and none are "
                "asked for: leave it out, or ask for some."
            )
        return replace(self, tournament_budget=seconds, tournament_deals=deals or MOST_DEALS)

    def with_blueprint(self, perfect_information: bool) -> Self:
        """Returns the settings with policy priors that are played as blueprints.

        Raises:
            UsageError: there are no priors to choose among, nothing is hidden, or the program has a joint step.
        """
        if self.prior is None:
            raise UsageError(
                "The option `priors_play` is for the choice among policy priors, and none are asked for: leave it out, "
                "or ask for some."
            )
        if self.joint:
            raise UsageError(
                "The option `priors_play` is for games in turns, and this program has a joint step: leave it out."
            )
        if perfect_information:
            raise UsageError(
                "The option `priors_play` is `blueprint`, a search over a belief, and nothing is hidden in this game: "
                "leave it out."
            )
        return replace(self, priors_play="blueprint")

    def to_json(self) -> dict[str, Any]:
        """Returns the settings, but those of `left_out`, and rounds of which there are none."""
        data = super().to_json() | {"synthesis": self.synthesis.to_json()}
        if "further_games" not in data:
            del data["further_rounds"]
        return data

    @classmethod
    def from_record(cls, data: Mapping[str, Any]) -> "RunSettings":
        """Builds the settings of a stored run; keys that a newer version wrote are passed over.

        Raises:
            RunCorruptError: they are no settings of a run.
        """
        # A run from before there were further rounds goes on without them, and one from before there were rule books
        # was told the specification.
        values: dict[str, Any] = {"further_games": 0, "rules_detail": "specification"} | known_fields(cls, data)
        try:
            values["synthesis"] = SynthesisConfig.from_record(values["synthesis"])
            functions, kinds = dict(values.get("functions", {})), kinds_for(values.get("joint", False))
            for kind in kinds:
                place = values if kind.name in cls.__dataclass_fields__ else functions
                if place.get(kind.name) is not None:
                    place[kind.name] = kind.config.from_record(place[kind.name])
            values["functions"] = {kind.name: functions[kind.name] for kind in kinds if kind.name in functions}
            if values.get("faster") is not None:
                values["faster"] = SpeedConfig.from_record(values["faster"])
            if "wording" in values:
                values["wording"] = Wording.from_json(values["wording"])
            if values.get("matches") is not None:
                values["matches"] = MatchSettings(**values["matches"])
            return cls(**values)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise RunCorruptError(
                f"The settings in the run's run.json are damaged ({type(error).__name__}: {error}); "
                "restore the file from a copy."
            ) from error


UNTOLD = "untold"
"""Of a recording's name, where the model was given no rules text, e.g. `mnk+untold`."""
HIDDEN_EXPLORATION = 0.3
"""Where information is hidden, returns spread over a small part of the utility range: 1.0 explores too much."""


def planner_config(matches: MatchSettings | None, perfect_information: bool, simulations: int) -> PlannerConfig:
    """Returns the planner's settings on a finished model: rollouts, unless the caller sets the leaf.

    Args:
        matches: those of the run, None if it plays none.
        perfect_information: of the game.
        simulations: a move.
    """
    rollouts = (matches or MatchSettings()).rollouts
    if perfect_information:
        return PlannerConfig(algorithm="mcts", simulations=simulations, rollouts=rollouts)
    return PlannerConfig(
        algorithm="ismcts",
        simulations=simulations,
        rollouts=rollouts,
        exploration=HIDDEN_EXPLORATION,
        widening_coefficient=3.0,
        belief_size=300,
    )
