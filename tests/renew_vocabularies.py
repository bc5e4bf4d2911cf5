"""Renews `vocabulary.json` of the games' folders: `.venv/bin/python -m tests.renew_vocabularies [FOLDER ...]`."""

import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

from cwm.trajectories.recorded import Trajectory, game_seed, play
from cwm.trajectories.varied import varied_game
from cwm.trajectories.vocabulary import Vocabulary
from games import registry
from games.api import Game
from games.scripted import scripted

GAMES: Final = 1000
SEED: Final = 0
SCRIPTED: Final = 20


def tellings() -> dict[str, list[tuple[str, Mapping[str, bool]]]]:
    """Returns by package each id, as it stands in the file, and what its game is made with."""
    found: dict[str, list[tuple[str, Mapping[str, bool]]]] = {}
    for game_id in registry.ids():
        entry = registry.describe(game_id)
        rows = found.setdefault(entry.package, [])
        rows.append((game_id, {}))
        if entry.drawn:
            rows.append((game_id + registry.DRAWN, entry.drawn))
    return found


def collected(name: str, params: Mapping[str, bool], games: int, first: int = 0) -> Vocabulary:
    """Returns the names in so many games, half of them random, half with rare kinds of action as likely as common.

    Where a game's folder has scripted policies, each plays `SCRIPTED` games more, the same however many the others
    are: some forced moves are seen in no other games.
    """
    game = registry.make(name.removesuffix(registry.DRAWN), **params)
    varied = (varied_game(game, SEED, index) for index in range(first, first + games))
    return Vocabulary.of(itertools.chain(varied, scripted_games(game)))


def scripted_games(game: Game) -> Iterator[Trajectory]:
    """Yields the games of the scripted policies that ship with a game."""
    for _, policy in sorted(scripted(game.info.id).items()):
        for index in range(SCRIPTED):
            yield play(game, [policy] * game.info.num_players, game_seed(SEED, index), index)


def main(folders: Sequence[str]) -> None:
    """Writes the files of the folders named, or of all."""
    for package, rows in tellings().items():
        if folders and package.rpartition(".")[2] not in folders:
            continue
        names = {name: collected(name, params, GAMES).to_json() for name, params in rows}
        file = Path(str(resources.files(package).joinpath("vocabulary.json")))
        file.write_text(json.dumps(names, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        sys.stdout.write(f"{file.parent.name}: {', '.join(names)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
