"""Rejects bad models among several syntheses of one game: their planners play each other on some of the models.

The CWM paper, appendix E: where information is hidden, five models are made, a planner plays with each, and as nobody
may ask the true game, two of the models take its place ("hosts"). Every planner meets every planner, itself too, at
both places, 50 times on each host; a failure or an illegal action loses the match for both. The planners are ranked by
their mean payoff, and those that fall behind the best by more than 10 % of the observed utility range are rejected.

Where the appendix is silent, this was chosen:

* The hosts are drawn, by the seed, among the models that pass the largest share of their own unit tests. The training
  games are the one thing known of the true game: a model that contradicts them judges nobody while two others do not.
* The repetitions of a match are played on the same deals for all pairs and on both hosts.
* A failure is: an illegal or missing action, a crash or time-out of a model, an exception in a model while its planner
  thinks, a search that gives up and plays at random, or a failure of the host. Both players are then paid the least
  that the game can pay.
* The observed utility range runs from the lowest to the highest payoff of any player in any match, failures included.
* In games of more than two players one planner holds one seat and another one the rest, in all rotations.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean
from typing import Any, Final, Protocol

from arena.agents.api import InfrastructureError
from arena.agents.model import ModelAgent, planner_settings
from arena.figures.intervals import mean_estimate
from arena.machine.runtime import Runtime
from arena.matches.engine import MAX_FAULTS, in_processes, play_all
from arena.matches.lineups import lone_and_rest
from arena.matches.match import GameRecord, play
from cwm.model.bundle import ModelBundle
from cwm.model.world_model import WorldModel, WorldModelError
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import SandboxUnavailableError
from cwm.sandbox.wire.blame import Ours, blame
from cwm.storage.keys import content_key, derive
from cwm.synthesis.candidate import TesterError
from games.api import GameError
from search.api import PlannerConfig

HOST: Final = "host"


@dataclass(frozen=True)
class RejectionConfig:
    """How models are compared.

    Attributes:
        hosts: models that take the true game's place.
        repetitions: of each match, on as many deals.
        tolerance: share of the observed utility range by which a model may fall behind the best.
        simulations: simulations a move of every planner.
        rollouts: rollouts a leaf, where a model has no value function.
        seed: of deals, moves and the draw of the hosts.
    """

    hosts: int = 2
    repetitions: int = 50
    tolerance: float = 0.1
    simulations: int = 100
    rollouts: int = 1
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        """Returns the settings by name."""
        return asdict(self)


@dataclass(frozen=True)
class Contestant:
    """A model that takes part.

    Attributes:
        name: unique among them.
        bundle: the model, with the functions that its planner uses.
        accuracy: share of its unit tests that it passes, None if nobody knows.
    """

    name: str
    bundle: ModelBundle
    accuracy: float | None = None


@dataclass(frozen=True)
class ModelStanding:
    """What a model came to.

    Attributes:
        name: of the model.
        payoff: mean over all its seats in all matches.
        standard_error: of that mean, with a deal as the independent unit; None for a single deal. It decides nothing.
        seats: so many.
        failures: matches lost for both through this model, by cause; as a host, under `host: …`.
        rejected: whether it fell behind the best by more than is tolerated.
    """

    name: str
    payoff: float
    standard_error: float | None
    seats: int
    failures: dict[str, int]
    rejected: bool


@dataclass(frozen=True)
class Rejection:
    """What the comparison came to: a function of the models and the settings alone.

    Attributes:
        standings: in the order of the contestants.
        hosts: names of the models that took the true game's place.
        matches: matches played.
        observed: lowest and highest payoff of any player in any match.
        config: the settings.
    """

    standings: tuple[ModelStanding, ...]
    hosts: tuple[str, ...]
    matches: int
    observed: tuple[float, float]
    config: RejectionConfig

    @property
    def tolerated(self) -> float:
        """By how much a model may fall behind the best, as a payoff."""
        return self.config.tolerance * (self.observed[1] - self.observed[0])

    def to_json(self) -> dict[str, Any]:
        """Returns everything as JSON."""
        return asdict(self) | {"tolerated": self.tolerated}


class Matches(Protocol):
    """Keeps finished matches by key, as `cwm.record.record.RunRecord` does."""

    def game(self, key: str) -> Any | None: ...

    def put_game(self, key: str, payload: Any) -> bool: ...


@dataclass
class MemoryMatches:
    """Keeps matches in memory, for comparisons that nobody will resume."""

    kept: dict[str, Any] = field(default_factory=dict)

    def game(self, key: str) -> Any | None:
        """Returns a stored match, or None."""
        return self.kept.get(key)

    def put_game(self, key: str, payload: Any) -> bool:
        """Stores a match; returns whether it is new."""
        return self.kept.setdefault(key, payload) is payload


@dataclass(frozen=True)
class RejectionTournament:
    """The matches of a comparison.

    Attributes:
        contestants: with distinct names, of one game.
        planner: settings of every planner; simulations and rollouts are those of `config`, and a planner uses the value
            function and the prior that were chosen for its model.
        config: see `RejectionConfig`.
        runtime: limits of the workers.
        workers: matches at once; changes no result.
    """

    contestants: Sequence[Contestant]
    planner: PlannerConfig
    config: RejectionConfig = field(default_factory=RejectionConfig)
    runtime: Runtime = field(default_factory=Runtime)
    workers: int = 1

    def hosts(self) -> list[int]:
        """Returns the contestants that take the true game's place, by index."""
        known = [-1.0 if item.accuracy is None else item.accuracy for item in self.contestants]
        rng = random.Random(derive("hosts", self.config.seed))
        drawn = sorted(range(len(known)), key=lambda index: (-known[index], rng.random()))
        return sorted(drawn[: self.config.hosts])

    def run(self, kept: Matches | None = None, on_match: Callable[[int, int], None] = lambda d, t: None) -> Rejection:
        """Plays the matches that are missing, and ranks.

        Args:
            kept: stored matches, which are not played again.
            on_match: told how many matches are finished, and of how many.

        Raises:
            TesterError: a match could not be played through no fault of the models.
        """
        store = MemoryMatches() if kept is None else kept
        # Models that are the same program play the same matches: these are played once.
        keys = dict.fromkeys(match.key for match in self._matches())
        missing = {key for key in keys if store.game(key) is None}
        done = len(keys) - len(missing)
        on_match(done, len(keys))

        def keep(key: str, answer: dict[str, Any]) -> None:
            nonlocal done
            store.put_game(key, answer)
            done += 1
            on_match(done, len(keys))

        unplayed = play_all(self._jobs(missing), in_processes(play_hosted, self.workers), keep)
        if unplayed.given_up is not None:
            raise TesterError(f"A match between models broke {MAX_FAULTS} times: {unplayed.given_up}.")
        return self._ranked(store)

    def _matches(self) -> Iterator["_Match"]:
        """Yields every match, repetition by repetition, so that a part of them is a fair sample."""
        players = self.contestants[0].bundle.game_info.num_players
        seatings = list(lone_and_rest(len(self.contestants), players, alone=True))
        hashes = [item.bundle.hash for item in self.contestants]
        settings = [self._settings(item.bundle).to_json() for item in self.contestants]
        for repetition in range(self.config.repetitions):
            deal = derive("rejection", self.config.seed, repetition)
            for host in self.hosts():
                for seats in seatings:
                    content = {
                        "host": hashes[host],
                        "seats": [[hashes[index], settings[index]] for index in seats],
                        "deal": deal,
                        "limits": [self.runtime.move_timeout_s, self.runtime.memory_mb],
                    }
                    yield _Match(content_key(content), host, seats, deal)

    def _settings(self, bundle: ModelBundle) -> PlannerConfig:
        base = replace(self.planner, simulations=self.config.simulations, rollouts=self.config.rollouts)
        return planner_settings(bundle, base)

    def _jobs(self, keys: set[str]) -> Iterator[dict[str, Any]]:
        models = [_model(item.bundle) for item in self.contestants]
        settings = [self._settings(item.bundle).to_json() for item in self.contestants]
        handed_out: set[str] = set()
        for match in self._matches():
            if match.key in keys and match.key not in handed_out:
                handed_out.add(match.key)
                yield {
                    "key": match.key,
                    "host": models[match.host],
                    "seats": [[models[index], settings[index]] for index in match.seats],
                    "deal_seed": match.deal,
                    "runtime": self.runtime.to_json(),
                }

    def _ranked(self, store: Matches) -> Rejection:
        payoffs: list[dict[int, list[float]]] = [{} for _ in self.contestants]
        failures: list[Counter[str]] = [Counter() for _ in self.contestants]
        matches, low, high = 0, math.inf, -math.inf
        for match in self._matches():
            played = store.game(match.key)
            assert played is not None
            matches += 1
            for index, paid in zip(match.seats, played["returns"], strict=True):
                payoffs[index].setdefault(match.deal, []).append(paid)
                low, high = min(low, paid), max(high, paid)
            for who, cause in played.get("failures", ()):
                index = match.host if who == HOST else match.seats[who]
                failures[index][f"{HOST}: {cause}" if who == HOST else cause] += 1
        # Every deal holds as many seats of a model: the mean over deals is that over seats.
        means = [mean_estimate([fmean(paid) for paid in own.values()]) for own in payoffs]
        least = max(mean.mean for mean in means if mean is not None) - self.config.tolerance * (high - low)
        standings = tuple(
            ModelStanding(
                name=item.name,
                payoff=mean.mean,
                standard_error=mean.standard_error,
                seats=sum(map(len, own.values())),
                failures=dict(sorted(failed.items())),
                rejected=mean.mean < least,
            )
            for item, mean, own, failed in zip(self.contestants, means, payoffs, failures, strict=True)
            if mean is not None
        )
        hosts = tuple(self.contestants[index].name for index in self.hosts())
        return Rejection(standings, hosts, matches, (low, high), self.config)


@dataclass(frozen=True)
class _Match:
    """One match: its key, its host and its players by index, the seed of its chance nodes."""

    key: str
    host: int
    seats: tuple[int, ...]
    deal: int


def play_hosted(job: dict[str, Any]) -> dict[str, Any]:
    """Plays one match on a host: what a worker process runs.

    Returns:
        `returns` by player, and `failures`: [seat or "host", cause] of what lost the match for all; or
        `{"fault": message}` if ours broke.
    """
    runtime = Runtime.from_json(job["runtime"])
    host = _bundle(job["host"])
    agents = [
        ModelAgent(
            _bundle(model).program(),
            PlannerConfig.from_json(settings),
            runtime,
            f"seat {seat}",
            host.game_info.views[0],
        )
        for seat, (model, settings) in enumerate(job["seats"])
    ]
    seeds = [derive("agent", job["key"], seat) for seat in range(len(agents))]
    lost = [host.game_info.min_utility] * len(agents)
    try:
        with WorldModel(host, Sandbox(runtime.limits, runtime.level)) as game:
            record = play(game, agents, job["deal_seed"], seeds, runtime.level)
    except (InfrastructureError, SandboxUnavailableError) as error:
        return {"fault": str(error)}
    except WorldModelError as error:
        if isinstance(blame(error.reply), Ours):
            return {"fault": str(error)}
        return {"returns": lost, "failures": [[HOST, error.reply.outcome.value]]}
    except GameError:
        return {"returns": lost, "failures": [[HOST, "contract"]]}
    failures = _failures(record)
    if not failures and not all(map(math.isfinite, record.returns)):
        # Finite rewards may still add up to what no payoff is.
        failures = [[HOST, "contract"]]
    return {"returns": lost, "failures": failures} if failures else {"returns": list(record.returns)}


def _failures(record: GameRecord) -> list[list[Any]]:
    """Returns [seat, cause] of whatever a player's model failed at."""
    found: list[list[Any]] = []
    if record.forfeit is not None:
        found.append([record.forfeit.seat, record.forfeit.kind])
    for seat, (fallbacks, errors) in enumerate(zip(record.fallbacks, record.model_errors, strict=True)):
        found += [[seat, "exception"]] if errors else []
        found += [[seat, "search gave up"]] if fallbacks else []
    return found


def _model(bundle: ModelBundle) -> dict[str, Any]:
    data = {item: getattr(bundle, item) for item in ModelBundle.__dataclass_fields__}
    return data | {"metadata": dict(bundle.metadata)}


def _bundle(data: Mapping[str, Any]) -> ModelBundle:
    return ModelBundle(**data)
