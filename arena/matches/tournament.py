"""Tournaments: all seat rotations on common deals, in parallel processes, resumable after a kill at any moment."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from arena.agents.api import InfrastructureError, NoAnswerError
from arena.agents.specs import AgentSpec, AgentSpecError
from arena.language_players.models import PlayerModels, in_order
from arena.machine.runtime import Runtime
from arena.matches import lineups as seatings
from arena.matches.engine import Job, Lanes, in_processes, in_threads, play_all
from arena.matches.game_source import game_info, is_model, model_of, open_game
from arena.matches.match import GameRecord, NamedDeck, play
from arena.matches.plan import RULES_VERSION, PlannedGame, Teaching, TournamentConfig, TournamentError
from arena.matches.ratings import Standings, standings, without_forfeits
from arena.matches.seating import build, resolve
from arena.matches.store import Games, GameStore, MemoryStore, StoredGames
from cwm.model.world_model import WorldModelError
from cwm.storage.files import write_whole
from cwm.storage.keys import content_key, derive
from games import registry
from games.own_code import described, is_to_blame

ASKED_FILE = "tournament.json"
"""What the user asked for, in the folder of the games."""

UNANSWERED: Final = "language model: "
"""Begins the message of a game that is void since a language model gave no answer: no fault of ours."""


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
    if config.decks and len(config.decks) != config.deals:
        raise TournamentError(f"{len(config.decks)} decks are named for {config.deals} deals: name one for each.")
    human = [spec.name for spec in config.agents if spec.traits.terminal]
    if human:
        raise AgentSpecError(f"Agent {human[0]!r} is a person, who plays with `cwm play`, not in a tournament.")
    with open_game(config.game, **config.params) as game:
        resolved = tuple(resolve(spec, game) for spec in config.agents)
    lineups = config.lineups or tuple(seatings.paired(len(names), info.num_players, config.pairing))
    if not lineups:
        raise TournamentError(f"Pairing {config.pairing!r} needs more than the one agent {names[0]!r}.")
    referee = model_of(config.game).hash if is_model(config.game) else registry.content_hash(config.game)
    return replace(config, agents=resolved, lineups=lineups, referee=referee)


def plan(config: TournamentConfig) -> list[PlannedGame]:
    """Returns the games of a prepared tournament: deal by deal, so that a part of it is a fair sample."""
    games: dict[str, PlannedGame] = {}
    for deal in range(config.deals):
        deck = config.decks[deal] if config.decks else None
        named = ("deal", config.seed, deal) if deck is None else ("deck", list(deck.actions))
        deal_seed = derive(named[0], config.game_identity, config.params, *named[1:])
        lineups = config.lineups or ()
        for lineup in (lineups[deal % len(lineups)],) if config.in_turn and lineups else lineups:
            for shift in range(len(lineup) if config.rotate else 1):
                seats = tuple(config.agents[index] for index in (*lineup[shift:], *lineup[:shift]))
                content = {
                    "version": RULES_VERSION,
                    "game": config.game_identity,
                    "params": config.params,
                    "seats": [spec.identity() for spec in seats],
                    "deal": deal_seed,
                    "limits": [config.runtime.move_timeout_s, config.runtime.memory_mb],
                }
                if deck is not None:
                    content["deck"] = [config.seed, list(deck.actions)]  # the seed is the agents' alone then
                if config.common_seeds:
                    content["common_seeds"] = True
                key = content_key(content)
                course = content_key(content | {"seats": [] if config.common_seeds else [s.course() for s in seats]})
                # A rotation that seats the same agents in the same places is the same game.
                games.setdefault(key, PlannedGame(key, seats, deal, deal_seed, course, deck))
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
    played: list[str] = []

    def keep(key: str, answer: dict[str, Any]) -> None:
        record = GameRecord.from_json(answer["record"])
        store.add(key, record)
        known[key] = record
        played.append(key)
        if on_game is not None:
            on_game(Progress(len(planned) - len(todo) + len(played), len(planned), record))

    lanes = _lanes(config, workers, models, learners is not None)

    def play(jobs: Iterable[Job]) -> str | None:
        return play_all(jobs, lanes, keep, store.add_fault).stopped

    if learners is None:
        stopped = play(game.job(config) for game in todo)
    else:
        stopped = _taught(config, planned, known, learners, play)
    faults = store.faults()
    missing = {game.key: faults.get(game.key, []) for game in planned if game.key not in known}
    records = tuple(known[game.key] for game in planned if game.key in known)
    return replace(result(config, records, len(played), missing, faults), stopped=stopped)


@contextmanager
def opened(folder: Path | None, asked: dict[str, Any]) -> Iterator[Games]:
    """Opens the games of a folder, which is made if it is missing; None keeps them in memory.

    Args:
        folder: of the games.
        asked: what they are games of; errors as for `GameStore`.
    """
    if folder is None:
        yield MemoryStore()
        return
    with GameStore(folder, asked) as games:
        yield games


def open_and_run(
    folder: Path | None,
    config: TournamentConfig,
    *,
    workers: int = 1,
    on_game: Callable[[Progress], None] | None = None,
    models: PlayerModels | None = None,
) -> TournamentResult:
    """Plays what is missing of a prepared tournament in its folder; for the arguments see `opened` and `run`."""
    with opened(folder, config.to_json()) as games:
        if folder is not None and config.referee is not None:
            write_asked(folder, config)
        return run(config, games, workers=workers, on_game=on_game, models=models)


def write_asked(folder: Path, config: TournamentConfig) -> None:
    """Writes `ASKED_FILE`, unless it is there: games name models and files by their content, this says where they lie.

    Args:
        folder: of the games.
        config: as it was asked for; one that is prepared does, too.
    """
    data = config.to_json() | {"game": config.game, "agents": [spec.to_json() for spec in config.agents]}
    data |= {"explain": True} if config.explain else {}
    write_whole(folder / ASKED_FILE, json.dumps(data, indent=2) + "\n", replace=False)


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
            explain = job.get("explain", False)
            deck = None if job.get("deck") is None else NamedDeck.from_json(job["deck"])
            record = play(game, agents, job["deal_seed"], seeds, level, explain=explain, deck=deck)
    except WorldModelError as error:
        return {"fault": f"the model that decides the game failed: {error}"}
    except NoAnswerError as error:
        return {"fault": f"{UNANSWERED}{error}", "stop": error.hopeless}
    except InfrastructureError as error:
        return {"fault": f"sandbox: {error}"}
    except Exception as error:  # whatever breaks here is ours: it is named and counted, and never scored
        return {"fault": described(error) if is_to_blame(error) else f"{type(error).__name__}: {error}"}
    return {"record": record.to_json()}


def _taught(
    config: TournamentConfig,
    planned: Sequence[PlannedGame],
    known: Mapping[str, GameRecord],
    learners: Teaching,
    play: Callable[[Iterable[Job]], str | None],
) -> str | None:
    """Plays in the order of the plan; agents learn from each game before the next. Returns what stopped the games.

    Args:
        config: see `run`.
        planned: its games.
        known: games by key; `play` adds to them.
        learners: see `run`.
        play: plays jobs and returns why no further one was begun.
    """
    for game in planned:
        stopped = None if game.key in known else play([learners.job(game.job(config))])
        if game.key not in known:
            # The games after it depend on what is learned from it: the next run goes on here.
            return stopped
        learners.learn(game, known[game.key])
    return None


def _lanes(config: TournamentConfig, workers: int, models: PlayerModels | None, in_turn: bool) -> Lanes:
    asking = any(spec.traits.asks for spec in config.agents)
    if not in_turn and not asking:
        return in_processes(play_job, workers)
    models = models or PlayerModels(config.agents)
    work = partial(play_job, models=models)
    if in_turn:
        return in_processes(work, 1)
    return in_threads(work, 1 if in_order(config.agents) else models.parallel or workers)


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
