"""The cells of a matrix: who sits where in which games, from what is asked for."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from arena.agents.posg import model_of
from arena.agents.specs import AgentSpec
from arena.checkpoints import for_planners, populations
from arena.checkpoints.places import ABOUT, SEAT
from arena.matches.plan import TournamentConfig
from arena.posg.matrix_methods import RANDOM, AskedMethod, MoveBudget
from arena.posg.matrix_populations import MatrixPopulation, best_responses, read_population
from arena.usage import UsageError
from games import registry
from games.posg.api import PosgModel
from search.posg.session import UNIFORM

AGENTS: Final = 2
PLACES: Final = ("types", "search")
"""Settings of planners that may name folders."""
MOST_NAME: Final = 60
"""Letters of a cell's folder before the digits that tell it from all others."""


@dataclass(frozen=True)
class MatrixWishes:
    """What is asked for.

    Attributes:
        game: id of a game of simultaneous moves of two agents.
        methods: with distinct names.
        planned: populations that methods plan for, as written; () for those that ship with the game.
        met: populations that are met, as written; () for those planned for.
        budgets: of planners.
        episodes: of a cell.
        seat: agent that the method is.
        seed: of all chance.
        trained: by population, as written: a folder of best responses to it.
        makes: how these are trained, the end of a message: a text with `{game}`, `{population}` and `{folder}`.
        all_of_them: methods were not chosen: those that lack something are left out instead of refused.
    """

    game: str
    methods: tuple[AskedMethod, ...]
    planned: tuple[str, ...]
    met: tuple[str, ...]
    budgets: tuple[MoveBudget, ...] = ()
    episodes: int = 30
    seat: int = 0
    seed: int = 0
    trained: Mapping[str, Path] = field(default_factory=dict)
    makes: str = ""
    all_of_them: bool = False


@dataclass(frozen=True)
class CellPlace:
    """Where a cell stands in a matrix.

    Attributes:
        method: its name in tables.
        title: the paper's name of it.
        planned: population that it plans for; None: it is told of none.
        met: population that it meets.
        budget: of a move; None: it searches nothing.
        inside: the two populations have the same members; None where none is planned for.
    """

    method: str
    title: str
    planned: str | None
    met: str
    budget: MoveBudget | None
    inside: bool | None


@dataclass(frozen=True)
class CellPlan:
    """A cell that is to be played.

    Attributes:
        place: where it stands.
        tournament: its games, not prepared yet.
    """

    place: CellPlace
    tournament: TournamentConfig

    def to_json(self) -> dict[str, Any]:
        return asdict(self.place) | {"folder": self.folder}

    @property
    def folder(self) -> str:
        """Name of its folder: to be read, and another one for other settings.

        Where policies lie is no part of it: with others at its place the cell's store refuses to go on.
        """
        place = self.place
        parts = [place.method, *([f"for-{place.planned}"] if place.planned else []), f"met-{place.met}"]
        parts += [place.budget.text] if place.budget else []
        plain = "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in "_".join(parts).lower())
        settings = [
            {name: value for name, value in spec.planner.items() if name not in PLACES}
            for spec in self.tournament.agents
        ]
        content = json.dumps([asdict(place), settings], sort_keys=True)
        return f"{plain[:MOST_NAME]}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class MatrixPlan:
    """What is to be played.

    Attributes:
        asked: what was asked for, with the populations written out.
        cells: in order.
        populations: by name.
        lacking: why methods are left out, a sentence each.
    """

    asked: MatrixWishes
    cells: tuple[CellPlan, ...]
    populations: Mapping[str, MatrixPopulation]
    lacking: tuple[str, ...]


def planned(asked: MatrixWishes) -> MatrixPlan:
    """Returns the cells of a matrix.

    Raises:
        UsageError: the game has not two agents, names are not distinct, a population is none, a budget or a policy is
            missing, or nothing can be played.
        PlannerConfigError: the game is none of simultaneous moves, or a setting of a planner is out of range.
        GameError: there is no such game.
    """
    game = registry.make(asked.game)
    model = model_of(game)
    own = tuple(dict.fromkeys(asked.planned or populations.shipped_names(asked.game)))
    asked = replace(asked, planned=own, met=tuple(dict.fromkeys(asked.met)) or own)
    _check(asked, model)
    found = {name: read_population(asked.game, model, name) for name in (*asked.planned, *asked.met)}
    cells, lacking = list[CellPlan](), list[str]()
    for method in asked.methods:
        for name in asked.planned if method.method.told else (None,):
            try:
                leads = _leads(asked, method, None if name is None else found[name])
            except UsageError as error:
                if not asked.all_of_them:
                    raise
                lacking.append(str(error))
                continue
            cells += _cells(asked, method, leads, name, found)
    if not cells:
        raise UsageError(f"nothing of the matrix can be played: {' '.join(lacking)}")
    return MatrixPlan(asked, tuple(cells), found, tuple(lacking))


def _check(asked: MatrixWishes, model: PosgModel) -> None:
    if model.info.num_agents != AGENTS:
        raise UsageError(f"{asked.game} has {model.info.num_agents} agents: a matrix is of games of two.")
    if asked.seat not in range(AGENTS):
        raise UsageError(f"the option `seat` is {asked.seat}: agents of {asked.game} are 0 and 1.")
    names = [method.name for method in asked.methods]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two methods are called {twice!r}: give each its own name, e.g. ipomcp,name=A.")
    if not asked.planned:
        raise UsageError(
            f"no population ships with {asked.game}: name one with the option `planned_for`, policies joined by +, "
            "e.g. uniform."
        )
    if not asked.budgets and any(method.method.planner for method in asked.methods):
        raise UsageError("planners need a budget for a move: give the option `sims` or `time`, e.g. 100 or 0.1.")
    for name in asked.trained.keys() - set(asked.planned):
        raise UsageError(f"the option `trained` names {name!r}, and nobody plans for that: {', '.join(asked.planned)}.")


Leads: TypeAlias = list[tuple[MoveBudget | None, AgentSpec]]
"""Who sits in the method's seat, with the budget."""


def _leads(asked: MatrixWishes, method: AskedMethod, population: MatrixPopulation | None) -> Leads:
    """Returns the agents of a method: one for each budget and each trained policy, or the members themselves.

    Raises:
        UsageError: trained policies are missing.
        PlannerConfigError: a setting is out of range.
    """
    kind, types = method.method, () if population is None else population.members
    searches = [""]
    if kind.trained and population is not None:
        folder = asked.trained.get(population.name)
        made = asked.makes.format(game=asked.game, population=population.name, folder=f"runs/{population.file_name}")
        searches = best_responses(method.method.title, asked.game, population, folder, made)
    names = [method.name if len(searches) == 1 else f"{method.name} {number}" for number in range(len(searches))]
    if not kind.planner and kind.trained:
        found = zip(names, searches, strict=True)
        return [(None, AgentSpec("ippo", name, model=_folder(place, asked.seat))) for name, place in found]
    if not kind.planner:
        return [(None, _member(one, asked.seat)) for one in (types if kind.told else (RANDOM,))]
    told = ["uniform" if name == RANDOM else name for name in types]
    return [
        (budget, AgentSpec("posg", name, planner=method.planner(budget, told, search)))
        for budget in asked.budgets
        for name, search in zip(names, searches, strict=True)
    ]


def _member(policy: str, seat: int) -> AgentSpec:
    """Returns a member of a population at a seat."""
    folder = _folder(policy, seat)
    if folder is not None:
        return AgentSpec("ippo", folder, model=folder)
    if policy in (RANDOM, UNIFORM):
        return AgentSpec(RANDOM, policy)
    return AgentSpec("partner", policy, model=policy)


def _folder(policy: str, seat: int) -> str | None:
    """Returns the folder of a trained policy at a seat, None for another policy."""
    if not for_planners.is_checkpoint(policy):
        return None
    return policy if (Path(policy) / ABOUT).is_file() else str(Path(policy) / f"{SEAT}{seat}")


def _cells(
    asked: MatrixWishes,
    method: AskedMethod,
    leads: Leads,
    name: str | None,
    found: Mapping[str, MatrixPopulation],
) -> list[CellPlan]:
    cells = []
    for budget in dict.fromkeys(budget for budget, _ in leads):
        own = [spec for spent, spec in leads if spent == budget]
        for met in asked.met:
            others = [_member(one, 1 - asked.seat) for one in found[met].members]
            inside = None if name is None else set(found[name].identity) == set(found[met].identity)
            games = _tournament(asked, own, others)
            place = CellPlace(method.name, method.method.title, name, met, budget, inside)
            cells.append(CellPlan(place, games))
    return cells


def _tournament(asked: MatrixWishes, own: Sequence[AgentSpec], others: Sequence[AgentSpec]) -> TournamentConfig:
    """Returns the games of a cell: each agent of the method meets each member as often as any other, as far as the
    episodes reach."""
    agents = list(own) + [spec for spec in others if spec not in own]
    clash = next(
        (spec.name for spec in own if spec.name in {other.name for other in others} and spec not in others), ""
    )
    if clash:
        raise UsageError(f"a method and a policy that it meets are called {clash!r}: give the method a name=.")
    round_trip, pairs = math.lcm(len(own), len(others)), []
    for number in range(len(own) * len(others)):
        one = own[(number + number // round_trip) % len(own)]  # others keep their turn: every method meets the same
        pairs.append((agents.index(one), agents.index(others[number % len(others)])))
    lineups = tuple(pair if asked.seat == 0 else pair[::-1] for pair in pairs)
    return TournamentConfig(
        asked.game,
        tuple(agents),
        asked.episodes,
        asked.seed,
        lineups=lineups,
        common_seeds=True,
        rotate=False,
        in_turn=True,
    )
