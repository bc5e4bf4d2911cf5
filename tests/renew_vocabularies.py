"""Renews `vocabulary.json` of the games' folders: `.venv/bin/python -m tests.renew_vocabularies [FOLDER ...]`."""

import json
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

from cwm.trajectories.varied import varied_game
from cwm.trajectories.vocabulary import Vocabulary
from games import registry

GAMES: Final = 1000
SEED: Final = 0


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
    """Returns the names in so many games, half of them random, half with rare kinds of action as likely as common."""
    game = registry.make(name.removesuffix(registry.DRAWN), **params)
    return Vocabulary.of(varied_game(game, SEED, index) for index in range(first, first + games))


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
