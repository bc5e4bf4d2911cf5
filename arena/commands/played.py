"""What becomes of a game of `cwm play`: how it is planned and kept, and what is told of it at its end."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, count, groupby
from pathlib import Path

from rich.text import Text

from arena.agents.human import describe
from arena.agents.specs import AgentSpec
from arena.machine.runtime import Runtime
from arena.matches import ratings, replay, tournament
from arena.matches.game_source import is_model, model_of
from arena.matches.match import GameRecord
from arena.matches.plan import PlannedGame, TournamentConfig
from arena.matches.store import GameStore, write_standings
from arena.terminal import console
from arena.terminal.game_words import result, words_of
from arena.usage import UsageError
from cwm.storage.files import write_whole
from games import registry
from games.api import Game, RendersText


def planned(game: str, specs: Sequence[AgentSpec], seed: int, runtime: Runtime) -> tuple[TournamentConfig, PlannedGame]:
    """Returns the tournament of one game whose seats are not rotated, and the game.

    Args:
        game: as the user named it.
        specs: resolved agents by seat.
        seed: of the deal.
        runtime: limits of programs that are not trusted.
    """
    agents = tuple(spec for number, spec in enumerate(specs) if spec not in specs[:number])
    referee = model_of(game).hash if is_model(game) else registry.content_hash(game)
    lineups = (tuple(agents.index(spec) for spec in specs),)
    config = TournamentConfig(game, agents, 1, seed, lineups=lineups, runtime=runtime, referee=referee, rotate=False)
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
        raise UsageError(f"{folder} is not empty; give a new folder with --run for this game.")
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


def tell(game: Game, specs: Sequence[AgentSpec], record: GameRecord) -> None:
    """Prints the finished game as it truly was, chance's actions too, and what it came to in words."""
    hidden = "" if game.info.perfect_information else ", with what was hidden"
    console.out.print(f"\nThe whole game{hidden}:")
    *_, (state, _, _) = replay.states(game, record)
    for player, actions in groupby(record.actions, key=lambda item: item[0]):
        _print(f"{game.info.player_name(player)}: {', '.join(action for _, action in actions)}")
    words = words_of(game)
    if isinstance(game, RendersText):
        drawing = Text(words.drawing(game.render(state)))
        for pattern, style in words.colours.items():
            drawing.highlight_regex(pattern, style)
        console.out.print(drawing)
    elif isinstance(state, dict):
        console.out.print(Text(f"The last state:\n{describe(state)}"))
    won = None if record.outcome is None else bool(record.outcome["won"])
    for seat, spec in enumerate(specs):
        word = result(game.info, seat, record.returns, won)
        _print(f"{game.info.player_name(seat)} ({spec.name}): {word}, {record.returns[seat]:g}")
    if record.outcome is not None and words.breakdown is not None:
        _print(words.breakdown(record.outcome))
    if record.forfeit is not None:
        fault = record.forfeit
        _print(f"forfeited by seat {fault.seat}: {fault.kind}: {fault.detail}")


def _print(text: str) -> None:
    console.out.print(Text(text), no_wrap=False, overflow="fold", soft_wrap=False)
