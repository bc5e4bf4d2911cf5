"""What every move was worth where a decision was taken: by play-outs, kept on disk as soon as each is known."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from arena.agents import playouts
from arena.decisions import walk
from arena.decisions.walk import PlayedFolder, TakenDecision
from arena.matches import engine, replay
from arena.matches.game_source import open_game
from arena.usage import UsageError
from cwm.storage.journal import Journal
from cwm.storage.keys import content_key
from cwm.storage.lock import FileLock, LockHeldError
from games.api import Action, Game
from search.action_values import ActionValue, ValueConfig, action_values
from search.errors import SearchFailedError

FILE: Final = "decisions.sqlite"
"""In the folder of the games."""
_TABLE: Final = "evaluations"
_VERSION: Final = 1


@dataclass(frozen=True)
class RateConfig:
    """How moves are rated.

    Attributes:
        worlds: how many, for each decision.
        by: who plays on, see `arena.agents.playouts`; None for the game's own.
        clairvoyant: all hidden things are as they were in truth, as for somebody who sees them; only what chance does
            from there on is drawn.
        seed: everything random derives from it and from the position.
    """

    worlds: int = 100
    by: str | None = None
    clairvoyant: bool = False
    seed: int = 0

    def resolved(self, game: Game) -> "RateConfig":
        """Returns the settings with a name for who plays on.

        Raises:
            UsageError: nobody has that name.
            PlannerConfigError: there are too few worlds.
        """
        ValueConfig(self.worlds)
        playouts.playouts_of(game, self.by)
        return RateConfig(self.worlds, self.by or playouts.default(game), self.clairvoyant, self.seed)


@dataclass(frozen=True)
class Rated:
    """One decision with the values of its moves.

    Attributes:
        decision: which.
        values: of every legal move, in the game's order.
        config: how they were found.
    """

    decision: TakenDecision
    values: tuple[ActionValue, ...]
    config: RateConfig

    @property
    def by_action(self) -> dict[Action, float]:
        """The mean of each move."""
        return {value.action: value.mean for value in self.values}

    @property
    def regret(self) -> float | None:
        """What the chosen move gave away, in the game's units; None if none was chosen."""
        means = self.by_action
        return None if self.decision.action is None else max(means.values()) - means[self.decision.action]


@dataclass(frozen=True)
class Ratings:
    """What became of rating the decisions of some games.

    Attributes:
        rated: the decisions, in order.
        failed: messages of those that could not be rated.
    """

    rated: list[Rated]
    failed: list[str]


def rate(
    place: PlayedFolder,
    config: RateConfig,
    agents: Sequence[str] = (),
    workers: int = 1,
    on_done: Callable[[int, int], None] = lambda done, total: None,
) -> Ratings:
    """Rates the decisions of a folder's games; those that were rated before, with these settings, are read.

    Args:
        place: the games.
        config: how.
        agents: names of those whose decisions are rated; none: of all.
        workers: processes.
        on_done: told after each how many of all are rated.

    Raises:
        UsageError: nobody plays on by the name that was asked for; or another process rates this folder.
        RunRecordError: the file of ratings cannot be read or written.
    """
    with place.opened() as game:
        config = config.resolved(game)
    wanted = [
        decision
        for key, record in place.games.items()
        for decision in walk.of_agents(walk.decisions(key, record), agents)
    ]
    with _writing(place.folder) as journal:
        known = dict(journal.items(_TABLE))
        positions = [position_key(place, decision) for decision in wanted]
        keys = [_key(position, config) for position in positions]
        jobs = {
            key: _job(key, position, place, decision, config)
            for key, position, decision in zip(keys, positions, wanted, strict=True)
        }
        missing = [job for key, job in jobs.items() if key not in known]
        done = len(jobs) - len(missing)
        failed: dict[str, str] = {}
        on_done(done, len(jobs))

        def keep(key: str, answer: dict[str, Any]) -> None:
            nonlocal done
            done += 1
            if "failed" in answer:
                failed[key] = answer["failed"]
            else:
                journal.put(_TABLE, key, known.setdefault(key, answer))
            on_done(done, len(jobs))

        unplayed = engine.play_all(missing, engine.in_processes(rate_job, workers), keep)
    problems = [*failed.values(), *([unplayed.given_up] if unplayed.given_up else [])]
    return Ratings(
        [
            Rated(decision, _values(known[key]), config)
            for key, decision in zip(keys, wanted, strict=True)
            if key in known
        ],
        problems,
    )


def stored(place: PlayedFolder) -> Mapping[tuple[str, bool], Mapping[str, Any]]:
    """Returns what is kept of a folder's decisions: by position (`position_key`) and whether it is clairvoyant, the one
    of the most worlds; {} where nothing was rated.

    Raises:
        RunRecordError: the file is damaged.
    """
    path = place.folder / FILE
    if not path.exists():
        return {}
    journal = Journal(path, read_only=True)
    try:
        items = journal.items(_TABLE)
    finally:
        journal.close()
    best: dict[tuple[str, bool], Mapping[str, Any]] = {}
    for _, payload in items:
        place_and_kind = payload["position"], payload["config"]["clairvoyant"]
        if place_and_kind not in best or payload["config"]["worlds"] > best[place_and_kind]["config"]["worlds"]:
            best[place_and_kind] = payload
    return best


def position_key(place: PlayedFolder, decision: TakenDecision) -> str:
    """Returns the key of a position: of the game and of all actions before the decision."""
    return content_key({"game": place.config.game_identity, "params": place.config.params, "actions": decision.before})


def rate_job(job: dict[str, Any]) -> dict[str, Any]:
    """Values the moves of one decision, in a worker process or here."""
    config = RateConfig(**job["config"])
    with open_game(job["game"], job["referee"], **job["params"]) as game:
        position = replay.make_position(game, job["actions"])
        try:
            found = action_values(
                game,
                position.history,
                position.player,
                ValueConfig(config.worlds),
                random.Random(f"{config.seed}/{job['position']}"),
                playouts=playouts.playouts_of(game, config.by),
                truth=job["actions"] if config.clairvoyant or game.info.perfect_information else None,
            )
        except SearchFailedError as error:
            return {"failed": str(error)}
    return {"position": job["position"], "config": job["config"], "values": [list(value) for value in found]}


def _job(key: str, position: str, place: PlayedFolder, decision: TakenDecision, config: RateConfig) -> dict[str, Any]:
    return {
        "key": key,
        "position": position,
        "config": asdict(config),
        "game": place.name,
        "referee": place.config.referee,
        "params": place.config.params,
        "actions": decision.before,
    }


def _key(position: str, config: RateConfig) -> str:
    return content_key({"version": _VERSION, "position": position, "config": asdict(config)})


def _values(payload: Mapping[str, Any]) -> tuple[ActionValue, ...]:
    return tuple(ActionValue(*value) for value in payload["values"])


@contextmanager
def _writing(folder: Path) -> Iterator[Journal]:
    try:
        lock = FileLock(folder / f"{FILE}.lock")
    except LockHeldError as error:
        raise UsageError(f"Another process rates the decisions of {folder}: wait for it, or stop it.") from error
    with lock:
        journal = Journal(folder / FILE)
        try:
            yield journal
        finally:
            journal.close()
