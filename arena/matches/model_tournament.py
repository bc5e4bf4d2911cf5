"""Chooses among value functions and policy priors: planners that use them play each other on the model itself."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from arena.agents.api import InfrastructureError
from arena.agents.model import JointModelAgent, ModelAgent
from arena.machine.runtime import Runtime
from arena.matches.engine import MAX_FAULTS, in_processes, play_all
from arena.matches.lineups import lone_and_rest
from arena.matches.match import play
from cwm.functions.types import Entrant
from cwm.model.bundle import ModelBundle
from cwm.model.joint_model import JointWorldModel
from cwm.model.world_model import WorldModel, WorldModelError
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import SandboxUnavailableError
from cwm.sandbox.wire.blame import Ours, blame
from cwm.storage.keys import content_key, derive
from cwm.synthesis.candidate import TesterError
from games.api import Game, GameError
from games.posg.serialised import SerialisedPosg
from search.api import PlannerConfig
from search.posg.config import PosgPlannerConfig

NONE = "none"
"""Name of the planner without a value function: random rollouts at the leaves."""


@dataclass(frozen=True)
class ModelTournament:
    """A round robin on the model.

    Each pair of candidates meets on the same deals in all rotations of the seats; with more than two players, one of
    the pair holds one seat and the other the rest, both ways round. A score is the mean return in the games of the
    pairings, each pairing counting the same. In cooperative games a candidate also plays with itself, so that two
    alone can be told apart; a private convention then wins one pairing and loses the others.

    Attributes:
        bundle: the model; the functions beside it are not used.
        config: settings of every planner; `leaf`, and whatever else differs, is set by the entrant.
        deals: deals a pairing: all that bounds the time.
        seed: the scores are a function of it, the model, the settings and the candidates.
        runtime: limits of the workers.
        workers: games at once.
    """

    bundle: ModelBundle
    config: PlannerConfig | PosgPlannerConfig
    deals: int = 10
    seed: int = 0
    runtime: Runtime = field(default_factory=Runtime)
    workers: int = 1

    def play(self, entrants: Sequence[Entrant]) -> list[float]:
        """Returns the score of each entrant.

        Raises:
            TesterError: a game could not be played through no fault of the programs.
        """
        jobs = [self._job(entrants, seats, deal) for seats in self.lineups(len(entrants)) for deal in range(self.deals)]
        return self._scores(len(entrants), jobs, self._play(jobs))

    def play_deals(
        self, entrants: Sequence[Entrant], deals: Sequence[int], apart: bool = False
    ) -> list[list[float] | None]:
        """Plays single deals.

        Args:
            entrants: who plays.
            deals: their numbers.
            apart: where players cooperate, whether each entrant plays with itself alone.

        Returns:
            For each deal the score of each entrant on it; None where the model failed as the referee in a game.

        Raises:
            TesterError: a game could not be played through no fault of the programs.
        """
        lineups = self.lineups(len(entrants), apart)
        by_deal = [[self._job(entrants, seats, deal) for seats in lineups] for deal in deals]
        returns = self._play([job for jobs in by_deal for job in jobs])
        return [
            self._scores(len(entrants), jobs, returns) if all(returns[job["key"]] for job in jobs) else None
            for jobs in by_deal
        ]

    def lineups(self, entrants: int, apart: bool = False) -> list[tuple[int, ...]]:
        """Returns who sits where in the games of a deal.

        Args:
            entrants: how many there are.
            apart: where players cooperate, whether each entrant plays with itself alone.
        """
        info = self.bundle.game_info
        together = info.utility == "identical"
        lineups = list(lone_and_rest(entrants, info.num_players, together))
        return [seats for seats in lineups if len(set(seats)) == 1] if apart and together else lineups

    def _scores(
        self, entrants: int, jobs: Sequence[Mapping[str, Any]], returns: Mapping[str, Sequence[float]]
    ) -> list[float]:
        cells: dict[int, dict[int, list[float]]] = {index: {} for index in range(entrants)}
        for job in jobs:
            for paid, index in zip(returns[job["key"]], job["seats"], strict=False):
                cells[index].setdefault(_partner(job["seats"], index), []).append(paid)
        # Where the model fails as the referee nobody has shown anything.
        least = self.bundle.game_info.min_utility
        return [fmean(map(fmean, own.values())) if own else least for own in cells.values()]

    def _job(self, entrants: Sequence[Entrant], seats: tuple[int, ...], deal: int) -> dict[str, Any]:
        content: dict[str, Any] = {
            "model": {
                "source": self.bundle.source,
                "initial_state": self.bundle.initial_state,
                "info": self.bundle.info,
                "rules_hash": self.bundle.rules_hash,
            },
            "config": self.config.to_json(),
            "values": [entrants[index].value for index in seats],
            "deal_seed": derive("model tournament", self.seed, deal),
            "runtime": self.runtime.to_json(),
        }
        beyond = [entrants[index].beyond_value for index in seats]
        if any(beyond):
            # Seeds derive from the content: a tournament of value functions alone keeps those it always had.
            content["beyond_value"] = beyond
        # Seeds derive from the key: how strongly a program is shut in must change no result.
        decisive = content | {"runtime": replace(self.runtime, level="process").to_json()}
        return {"key": content_key([decisive, list(seats)]), "seats": list(seats), **content}

    def _play(self, jobs: list[dict[str, Any]]) -> dict[str, list[float]]:
        """Returns the returns of each game by key, () where the model failed as the referee."""
        returns: dict[str, list[float]] = {}

        def keep(key: str, answer: dict[str, Any]) -> None:
            returns[key] = [float(value) for value in answer.get("returns", ())]

        unplayed = play_all(jobs, in_processes(play_on_model, self.workers), keep)
        if unplayed.given_up is not None:
            raise TesterError(f"A tournament on the model broke {MAX_FAULTS} times: {unplayed.given_up}.")
        return returns


def play_on_model(job: dict[str, Any]) -> dict[str, Any]:
    """Plays one game: what a worker process runs.

    Returns:
        `{"returns": …}`; `{"void": message}` if the model failed as the referee; `{"fault": message}` if ours broke.
    """
    bundle = ModelBundle(value_source=None, **job["model"])
    runtime = Runtime.from_json(job["runtime"])
    beyond = job.get("beyond_value") or [None] * len(job["values"])
    agents = [
        _agent(bundle, job["config"], runtime, seat, value, further or {})
        for seat, (value, further) in enumerate(zip(job["values"], beyond, strict=True))
    ]
    seeds = [derive("agent", job["key"], seat) for seat in range(len(agents))]
    try:
        with _referee(bundle, runtime) as game:
            return {"returns": list(play(game, agents, job["deal_seed"], seeds, runtime.level).returns)}
    except (InfrastructureError, SandboxUnavailableError) as error:
        return {"fault": str(error)}
    except WorldModelError as error:
        return {"fault" if isinstance(blame(error.reply), Ours) else "void": str(error)}
    except GameError as error:
        return {"void": str(error)}


@contextmanager
def _referee(bundle: ModelBundle, runtime: Runtime) -> Iterator[Game]:
    """Yields the model as the game that is played."""
    sandbox = Sandbox(runtime.limits, runtime.level)
    if not bundle.joint:
        with WorldModel(bundle, sandbox) as game:
            yield game
        return
    with JointWorldModel(bundle, sandbox) as model:
        yield SerialisedPosg(model, bundle.game_info.has_chance)


def _agent(
    bundle: ModelBundle,
    config: Mapping[str, Any],
    runtime: Runtime,
    seat: int,
    value: str | None,
    beyond: Mapping[str, Any],
) -> ModelAgent:
    settings = {**config, "leaf": "rollout" if value is None else "value", **beyond.get("settings", {})}
    program = replace(bundle.program(), value_source=value, prior_source=beyond.get("prior"))
    name = f"{NONE if value is None else 'value'} {seat}"
    if bundle.joint:
        program = replace(program, inference_source=beyond.get("inference"))
        return JointModelAgent(program, PosgPlannerConfig.from_json(settings), runtime, name)
    return ModelAgent(program, PlannerConfig.from_json(settings), runtime, name)


def _partner(seats: Sequence[int], own: int) -> int:
    """Returns the other candidate at the table, or `own` where it plays with itself."""
    return next((index for index in seats if index != own), own)
