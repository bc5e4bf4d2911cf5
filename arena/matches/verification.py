"""Whether what is stored is what it says: every game follows the rules, and the standings follow from the games."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from arena.figures.intervals import wilson
from arena.figures.metrics import METRICS
from arena.matches import replay, store, tournament
from arena.matches.game_source import open_game
from arena.matches.match import GameRecord
from arena.matches.plan import PlannedGame, TournamentConfig, TournamentError
from arena.matches.replay import RecordError
from arena.matches.store import STANDINGS_FILE
from arena.matches.tournament import TournamentResult
from cwm.storage.keys import canonical_json

RATIOS: Final = frozenset(metric.key for metric in METRICS if metric.ratio is not None)


@dataclass(frozen=True)
class Problem:
    """Something stored that is not what it should be.

    Attributes:
        place: key of a game, hash of a program, or name of a file.
        message: what is wrong with it.
    """

    place: str
    message: str


@dataclass(frozen=True)
class VerifiedGames:
    """What became of the games of one folder.

    Attributes:
        config: of the tournament, read from the games' own file.
        planned: games of the plan.
        records: stored games by key.
        problems: games that are not in the plan or do not agree with the rules, and standings that do not follow.
        result: the standings over the games that agree; the others are in no table.
        unfinished: planned games that are not stored.
    """

    config: TournamentConfig
    planned: int
    records: dict[str, GameRecord]
    problems: tuple[Problem, ...]
    result: TournamentResult
    unfinished: int


def verify_games(folder: Path) -> VerifiedGames:
    """Plays every stored game of a tournament again through the true rules, and derives the standings anew.

    Neither models nor planners are needed: their actions are stored, and chance is derived from the seeds of the plan.

    Args:
        folder: of the games; it is not changed.

    Raises:
        StoreError: there are no games, or the file is damaged.
        TournamentError: the stored configuration is none of this version.
        games.api.GameError: the game is unknown.
    """
    stored = store.read(folder)
    config = TournamentConfig.from_json(stored.config)
    if config.referee is not None:
        config = replace(config, game=referee_of(folder))
    planned = {item.key: item for item in tournament.plan(config)}
    problems = [Problem(key, "no game of the plan has this key") for key in stored.games if key not in planned]
    agreeing: list[GameRecord] = []
    with open_game(config.game, config.referee, **config.params) as game:
        for key, plan in planned.items():
            if key not in stored.games:
                continue
            try:
                _check_plan(plan, stored.games[key])
                replay.verify(game, stored.games[key])
            except RecordError as error:
                problems.append(Problem(key, str(error)))
            else:
                agreeing.append(stored.games[key])
    result = tournament.result(config, agreeing, 0, {}, stored.faults)
    unfinished = len(planned.keys() - stored.games.keys())
    said = store.read_standings(folder)
    if said is not None and not unfinished and not _follows(said, result.table.to_json()):
        problems.append(Problem(STANDINGS_FILE, "the standings are not those that the stored games give"))
    return VerifiedGames(config, len(planned), stored.games, tuple(problems), result, unfinished)


def _follows(said: Any, found: Any) -> bool:
    """Returns whether stored standings are those that were found, or those of before a ratio's interval had the deal as
    its unit."""
    return canonical_json(said) in (canonical_json(found), canonical_json(_as_formerly(found, said)))


def _as_formerly(found: Any, said: Any) -> Any:
    """Returns standings with the intervals of ratios as they once were: Wilson's for the number of games, which `said`
    tells."""
    if isinstance(found, dict) and isinstance(said, dict):
        return {
            key: _former_ratio(value, said.get(key)) if key in RATIOS else _as_formerly(value, said.get(key))
            for key, value in found.items()
        }
    if isinstance(found, (list, tuple)) and isinstance(said, list) and len(found) == len(said):
        return [_as_formerly(*pair) for pair in zip(found, said, strict=True)]
    return found


def _former_ratio(found: dict[str, Any] | None, said: Any) -> Any:
    games = said.get("n") if isinstance(said, dict) else None
    if found is None or found == said or not isinstance(games, int) or games < found["n"]:
        return found
    low, high = wilson(found["mean"] * games, games)
    return {**found, "low": low, "high": high, "n": games}


def referee_of(folder: Path) -> str:
    """Returns `cwm:RUN_OR_BUNDLE` of the model that decides the games of a folder, as the user named it.

    Raises:
        TournamentError: the file that says so is missing or damaged.
    """
    path = folder / tournament.ASKED_FILE
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["game"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TournamentError(
            f"{path}, which names the model that decides the games, cannot be read ({error}); restore it, or give the "
            "command of the tournament again."
        ) from error


def _check_plan(plan: PlannedGame, record: GameRecord) -> None:
    names = ", ".join(spec.name for spec in plan.seats)
    for title, said, planned in (
        ("deal seed", record.deal_seed, plan.deal_seed),
        ("seating", ", ".join(record.seats), names),
        ("deck", record.deck and record.deck.name, plan.deck and plan.deck.name),
        ("order of the deck", record.deck and record.deck.actions, plan.deck and plan.deck.actions),
    ):
        if said != planned:
            raise RecordError(f"the {title} of the record is {said}, but the plan has {planned}.")
