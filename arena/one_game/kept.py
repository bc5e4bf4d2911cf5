"""Seats, plan and folder of one game, in the same form whether it is played in the terminal or in the browser."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from arena.agents.specs import AgentSpec, parse
from arena.machine.runtime import Runtime
from arena.matches import ratings, seating, tournament
from arena.matches.game_source import is_model, model_of
from arena.matches.match import GameRecord, NamedDeck
from arena.matches.plan import PlannedGame, TournamentConfig
from arena.matches.store import GameStore, write_standings
from arena.pipeline import recorded_models
from arena.usage import UsageError
from cwm.storage.files import write_whole
from games import registry
from games.api import Game


def seated(texts: Sequence[str], game: Game) -> list[AgentSpec]:
    """Returns resolved agents by seat; random plays the seats that are left.

    Args:
        texts: descriptions of agents, from seat 0.
        game: the true game.

    Raises:
        UsageError: there are more agents than seats, or one that learns from game to game.
        AgentSpecError: a description cannot be read or does not fit the game.
    """
    if len(texts) > game.info.num_players:
        raise UsageError(f"{game.info.id} seats {game.info.num_players}, but {len(texts)} agents were given.")
    texts = [*texts, *["random"] * (game.info.num_players - len(texts))]
    specs = recorded_models.filled_in([parse(text) for text in texts], game.info.id)
    if any(spec.learn is not None for spec in specs):
        raise UsageError(
            "An agent learns from game to game, and this is one game: leave out learn=, or use `cwm arena`."
        )
    return [seating.resolve(spec, game) for spec in specs]


def planned(
    game: str, specs: Sequence[AgentSpec], seed: int, runtime: Runtime, decks: tuple[NamedDeck, ...] = ()
) -> tuple[TournamentConfig, PlannedGame]:
    """Returns the tournament of one game whose seats are not rotated, and the game.

    Args:
        game: as the user named it.
        specs: resolved agents by seat.
        seed: of the deal.
        runtime: limits of programs that are not trusted.
        decks: the one that is dealt; () for what the seed gives.
    """
    agents = tuple(spec for number, spec in enumerate(specs) if spec not in specs[:number])
    referee = model_of(game).hash if is_model(game) else registry.content_hash(game)
    lineups = (tuple(agents.index(spec) for spec in specs),)
    config = TournamentConfig(
        game, agents, 1, seed, lineups=lineups, runtime=runtime, referee=referee, rotate=False, decks=decks
    )
    return config, tournament.plan(config)[0]


def folder_for(game: str, given: Path | None) -> Path:
    """Returns the folder that will keep the game, made already: a place that cannot be written is found out first.

    Args:
        game: as the user named it.
        given: by the user; None for a new one in `runs`.

    Raises:
        UsageError: there are games in it.
        OSError: it cannot be made.
    """
    name = re.sub(r"[^\w.-]+", "-", game.removeprefix("cwm:")).strip("-.") or "game"
    base = Path("runs") / f"play-{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    folder = given or next(path for path in chain([base], _further(base)) if not path.exists())
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty; give a new folder with the option `run` for this game.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _further(base: Path) -> Iterator[Path]:
    # Games that begin in the same second.
    return (base.with_name(f"{base.name}-{number}") for number in count(2))


def leave(folder: Path) -> None:
    """Takes the folder of a game away that was not finished."""
    folder.rmdir()


def keep(folder: Path, config: TournamentConfig, plan: PlannedGame, record: GameRecord, game: Game) -> None:
    """Stores a finished game as a tournament of one, which `cwm verify` and `cwm games render` read.

    Raises:
        StoreError: the disk is full or read-only.
    """
    with GameStore(folder, config.to_json()) as store:
        store.add(plan.key, record)
    asked = config.to_json() | {"game": config.game, "agents": [spec.to_json() for spec in config.agents]}
    write_whole(folder / tournament.ASKED_FILE, json.dumps(asked, indent=2) + "\n")
    names = [spec.name for spec in config.agents]
    write_standings(folder, ratings.standings([record], game.info, names).to_json())
