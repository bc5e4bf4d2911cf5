"""Tournaments: all seat rotations on common deals, in parallel processes, resumable after a kill at any moment."""

from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from arena.agents.api import InfrastructureError, NoAnswerError
from arena.agents.specs import AgentSpec, AgentSpecError
from arena.language_players.models import PlayerModels, in_order
from arena.machine import threads as side_by_side
from arena.machine.process_pool import ProcessPool, WorkerDiedError
from arena.machine.runtime import Runtime
from arena.matches import lineups as seatings
from arena.matches.game_source import game_info, is_model, model_of, open_game
from arena.matches.match import GameRecord, play
from arena.matches.plan import RULES_VERSION, PlannedGame, Teaching, TournamentConfig, TournamentError
from arena.matches.ratings import Standings, standings, without_forfeits
from arena.matches.seating import build, resolve
from arena.matches.store import Games, StoredGames
from cwm.model.world_model import WorldModelError
from cwm.storage.keys import content_key, derive

ASKED_FILE = "tournament.json"
"""What the user asked for, in the folder of the games."""
MAX_FAULTS = 3
"""A game that ours broke this often in one run is given up until the next run."""


@dataclass(frozen=True)
class TournamentResult:
    """What a tournament gave.

    Attributes:
        config: its settings.
        records: finished games, in the order of the plan.
        played: how many of them were played now; the others had been stored before.
        missing: games that ours kept breaking, with the messages; they are in no table.
        faults: how often ours broke during games of the plan, by message, those that were finished later too.
        table: standings over all games, forfeits counted.
        table_without_forfeits: over the games that were played to their end; None if no game was forfeited.
        stopped: why no further question could be put to a language model; None if nothing stopped the tournament.
    """

    config: TournamentConfig
    records: tuple[GameRecord, ...]
    played: int
    missing: dict[str, list[str]]
    table: Standings
    table_without_forfeits: Standings | None
    faults: dict[str, int] = field(default_factory=dict)
    stopped: str | None = None


@dataclass(frozen=True)
class Progress:
    """How far a tournament is, after a game."""

    done: int
    total: int
    record: GameRecord


def prepare(config: TournamentConfig) -> TournamentConfig:
    """Returns `config` with every agent resolved (settings written out, models hashed).

    Raises:
        TournamentError: names are not distinct, there is nothing to play, or a lineup does not fit.
        AgentSpecError: an agent does not fit the game.
        games.api.GameError: the game is unknown.
    """
    info = game_info(config.game, **config.params)
    names = [spec.name for spec in config.agents]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TournamentError(f"Two agents are named {twice[0]!r}: give each its own with name=…")
    if not names or config.deals < 1:
        raise TournamentError(f"A tournament needs an agent and a deal, not {len(names)} and {config.deals}.")
    for lineup in config.lineups or ():
        if len(lineup) != info.num_players or not all(0 <= index < len(names) for index in lineup):
            raise TournamentError(
                f"Lineup {lineup} does not name {info.num_players} of the {len(names)} agents by number from 0."
            )
    human = [spec.name for spec in config.agents if spec.traits.terminal]
    if human:
        raise AgentSpecError(f"Agent {human[0]!r} is a person, who plays with `cwm play`, not in a tournament.")
    with open_game(config.game, **config.params) as game:
        resolved = tuple(resolve(spec, game) for spec in config.agents)
    lineups = config.lineups or tuple(seatings.paired(len(names), info.num_players, config.pairing))
    if not lineups:
        raise TournamentError(f"Pairing {config.pairing!r} needs more than the one agent {names[0]!r}.")
    referee = model_of(config.game).hash if is_model(config.game) else None
    return replace(config, agents=resolved, lineups=lineups, referee=referee)


def plan(config: TournamentConfig) -> list[PlannedGame]:
    """Returns the games of a prepared tournament: deal by deal, so that a part of it is a fair sample."""
    games: dict[str, PlannedGame] = {}
    for deal in range(config.deals):
        deal_seed = derive("deal", config.game_identity, config.params, config.seed, deal)
        for lineup in config.lineups or ():
            for shift in range(len(lineup)):
                seats = tuple(config.agents[index] for index in (*lineup[shift:], *lineup[:shift]))
                content = {
                    "version": RULES_VERSION,
                    "game": config.game_identity,
                    "params": config.params,
                    "seats": [spec.identity() for spec in seats],
                    "deal": deal_seed,
                    "limits": [config.runtime.move_timeout_s, config.runtime.memory_mb],
                }
                if config.common_seeds:
                    content["common_seeds"] = True
                key = content_key(content)
                course = content_key(content | {"seats": [] if config.common_seeds else [s.course() for s in seats]})
                # A rotation that seats the same agents in the same places is the same game.
                games.setdefault(key, PlannedGame(key, seats, deal, deal_seed, course))
    return list(games.values())


def run(
    config: TournamentConfig,
    store: Games,
    *,
    workers: int = 1,
    on_game: Callable[[Progress], None] | None = None,
    models: PlayerModels | None = None,
    learners: Teaching | None = None,
) -> TournamentResult:
    """Plays what is missing of a prepared tournament and returns the tables.

    The result depends on `config` alone, but for times: not on `workers`, nor on what was stored before. On Ctrl-C
    every finished game is in the store already.

    Args:
        config: as `prepare` returned it.
        store: keeps the games.
        workers: processes; 1 plays in this process. Where a language model plays: threads of this process, and one
            alone if its answers come from a script.
        on_game: called after each game.
        models: language models of the players; None for some without caps, whose calls nobody keeps.
        learners: agents that learn from game to game: then games are played one after the other, in the order of the
            plan. None: models stay as they are.

    Raises:
        ConfigurationError: a language model cannot be reached by what is known of it.
        LanguageModelError: one that refines a model between games gave no answer.
        TournamentError: a stored game was played with another model than the games before it lead to.
    """
    learning = [spec.name for spec in config.agents if spec.learn is not None]
    if learning and learners is None:
        raise TournamentError(f"Agent {learning[0]!r} is to learn, which agents do in `cwm arena` alone: drop learn=.")
    planned = plan(config)
    known = store.games()
    todo = [game for game in planned if game.key not in known]
    attempts: dict[str, int] = {}
    queue = deque(todo)
    done = len(planned) - len(todo)
    by_key = {game.key: game for game in todo}
    stopped: str | None = None
    with closing(
        _answers(config, queue, workers, models)
        if learners is None
        else _taught(config, planned, known, learners, models)
    ) as answers:
        for key, answer in answers:
            if isinstance(answer, GameRecord):
                store.add(key, answer)
                known[key] = answer
                done += 1
                if on_game is not None:
                    on_game(Progress(done, len(planned), answer))
                continue
            store.add_fault(key, str(answer))
            if isinstance(answer, NoAnswerError):
                stopped = str(answer)
                break
            attempts[key] = attempts.get(key, 0) + 1
            if attempts[key] < MAX_FAULTS:
                queue.append(by_key[key])
    faults = store.faults()
    missing = {game.key: faults.get(game.key, []) for game in planned if game.key not in known}
    records = tuple(known[game.key] for game in planned if game.key in known)
    found = result(config, records, sum(game.key in known for game in todo), missing, faults)
    return replace(found, stopped=stopped)


def stored(config: TournamentConfig, kept: StoredGames) -> TournamentResult:
    """Returns the tables of what is stored of a prepared tournament; plays nothing."""
    records = tuple(kept.games[game.key] for game in plan(config) if game.key in kept.games)
    return result(config, records, 0, {}, kept.faults)


def play_job(job: dict[str, Any], models: PlayerModels | None = None) -> dict[str, Any]:
    """Plays one planned game: what a worker process runs.

    Returns:
        `{"record": …}` or `{"fault": message}`; with `"stop": True` beside it, no other game would fare better.
    """
    runtime = Runtime.from_json(job["runtime"])
    specs = [AgentSpec.from_json(data) for data in job["seats"]]
    level = runtime.level if any(spec.traits.sandboxed for spec in specs) else None
    seeds = [derive("agent", job["course"], seat) for seat in range(len(specs))]
    try:
        with open_game(job["game"], job["referee"], **job["params"]) as game:
            agents = [build(spec, game, runtime, models, job.get("common_seeds", False)) for spec in specs]
            record = play(game, agents, job["deal_seed"], seeds, level)
    except WorldModelError as error:
        return {"fault": f"the model that decides the game failed: {error}"}
    except NoAnswerError as error:
        return {"fault": f"language model: {error}", "stop": error.hopeless}
    except InfrastructureError as error:
        return {"fault": f"sandbox: {error}"}
    except Exception as error:  # whatever breaks here is ours: it is named and counted, and never scored
        return {"fault": f"{type(error).__name__}: {error}"}
    return {"record": record.to_json()}


_Answer: TypeAlias = GameRecord | str | NoAnswerError
"""A record, the message of a fault, or why no language model answers any more."""


def _answers(
    config: TournamentConfig, queue: deque[PlannedGame], workers: int, models: PlayerModels | None
) -> Generator[tuple[str, _Answer], None, None]:
    """Yields (key, answer), until the queue, which the caller may add to, stays empty."""
    jobs = _Jobs(config, queue)
    if any(spec.traits.asks for spec in config.agents):
        yield from _asked(config, jobs, workers, models or PlayerModels(config.agents))
        return
    if workers <= 1:
        for job in jobs:
            yield job["key"], _parsed(play_job(job))
        return
    with closing(ProcessPool(play_job, workers).run(jobs)) as answers:
        for job, answer in answers:
            yield job["key"], str(answer) if isinstance(answer, WorkerDiedError) else _parsed(answer)


def _asked(
    config: TournamentConfig, jobs: "_Jobs", workers: int, models: PlayerModels
) -> Generator[tuple[str, _Answer], None, None]:
    threads = 1 if in_order(config.agents) else workers
    with closing(side_by_side.run(lambda job: play_job(job, models), jobs, threads)) as answers:
        for job, answer in answers:
            yield job["key"], _parsed(answer)


def _taught(
    config: TournamentConfig,
    planned: Sequence[PlannedGame],
    known: Mapping[str, GameRecord],
    learners: Teaching,
    models: PlayerModels | None,
) -> Generator[tuple[str, _Answer], None, None]:
    """Yields (key, answer) in the order of the plan; the caller adds each game to `known` before the next is played."""
    models = models or PlayerModels(config.agents)
    for game in planned:
        for _ in range(MAX_FAULTS):
            if game.key not in known:
                yield game.key, _parsed(play_job(learners.job(game.job(config)), models))
        if game.key not in known:
            # The games after it depend on what is learned from it: the next run goes on here.
            return
        learners.learn(game, known[game.key])


class _Jobs:
    """Takes jobs off a queue, and asks it again after it was empty: broken games come back."""

    def __init__(self, config: TournamentConfig, queue: deque[PlannedGame]) -> None:
        self._config = config
        self._queue = queue

    def __iter__(self) -> "_Jobs":
        return self

    def __next__(self) -> dict[str, Any]:
        if not self._queue:
            raise StopIteration
        return self._queue.popleft().job(self._config)


def _parsed(answer: dict[str, Any]) -> _Answer:
    if "record" in answer:
        return GameRecord.from_json(answer["record"])
    return NoAnswerError(answer["fault"], hopeless=True) if answer.get("stop") else str(answer["fault"])


def result(
    config: TournamentConfig,
    records: Sequence[GameRecord],
    played: int,
    missing: dict[str, list[str]],
    faults: dict[str, list[str]],
) -> TournamentResult:
    """Returns the tables of finished games, a function of the games alone.

    Args:
        config: as `prepare` returned it.
        records: in the order of the plan.
        played: how many of them were played now.
        missing: games that could not be played, with the messages.
        faults: what broke, by key of the game.
    """
    info = game_info(config.game, **config.params)
    names = [spec.name for spec in config.agents]
    finished = without_forfeits(records)
    return TournamentResult(
        config=config,
        records=tuple(records),
        played=played,
        missing=missing,
        table=standings(records, info, names),
        table_without_forfeits=None if len(finished) == len(records) else standings(finished, info, names),
        faults=dict(sorted(Counter(message for messages in faults.values() for message in messages).items())),
    )
