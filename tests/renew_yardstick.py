"""Writes the hashes of `arena/yardstick` anew: `python -m tests.renew_yardstick [texts | GAME …]`.

Without a game: the twenty of OpenSpiel (`games.json`). With ids of registered games: theirs (`registered.json`), whose
held-out games are played by searching players and take minutes for each seed. `texts`: what registered games are told,
their rule books and listed names; plays nothing.

For maintainers: after a rule book, a game, its seed or OpenSpiel has changed. Raise `version` in `games.json`
beforehand: results on changed games are not compared with those before. Where no hash changes, nothing is to be raised.
"""

import json
import sys
from importlib.metadata import version
from typing import Any

from arena.evaluation.held_out_games import held_out_games
from arena.machine.user_cache import cache_folder
from arena.runs.how_told import HowTold
from arena.runs.inputs import registered as played_inputs
from arena.runs.settings import RunSettings
from arena.yardstick import registered
from arena.yardstick.games import book, book_hash, games_hash, load, played, table
from games import registry

SEEDS = 5


def main(games: list[str]) -> None:
    """Renews what is asked for, writes the file and says which rows changed."""
    changed = renew_texts() if games == ["texts"] else renew_registered(games) if games else renew_unprepared()
    sys.stdout.write(f"changed: {', '.join(changed) or 'none'}\n")


def renew_unprepared() -> list[str]:
    """Renews the games of OpenSpiel; returns the names of those that changed."""
    yardstick = load()
    data = json.loads(table().read_text(encoding="utf-8"))
    changed = []
    for row, game in zip(data["games"], yardstick.games, strict=True):
        hashes = {
            "rule_book_sha256": book_hash(book(game.name)),
            "games_sha256": games_hash(played(game, yardstick.learn + yardstick.held_out)),
        }
        if hashes.items() - row.items():
            changed.append(game.name)
        row |= hashes
    data["open_spiel"] = version("open_spiel")
    table().write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return changed


def renew_texts() -> list[str]:
    """Renews what registered games are told; returns the ids of those that changed."""
    data = json.loads(registered.table().read_text(encoding="utf-8"))
    changed = []
    for row in data["games"]:
        told = told_now(row["id"])
        if row | told != row:
            changed.append(row["id"])
        row |= told
    registered.table().write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return changed


def told_now(game_id: str) -> dict[str, str]:
    """Returns the hashes of what a registered game is told."""
    return {
        "rule_book_sha256": book_hash(registry.rule_book(game_id)),
        "names_sha256": registered.names_hash(game_id),
    }


def renew_registered(games: list[str]) -> list[str]:
    """Renews registered games seed by seed, and writes the file after each; returns the ids of those that changed."""
    changed: dict[str, None] = {}
    for seed in range(SEEDS):
        for game_id in games:
            data = json.loads(registered.table().read_text(encoding="utf-8"))
            row = next(row for row in data["games"] if row["id"] == game_id)
            how = HowTold.asked(game_id, "book", None, None)
            inputs = played_inputs(game_id, registered.LEARN, seed, how=how)
            before = json.dumps(row)
            row |= told_now(game_id)
            row["seeds"][seed] = fixed(seed, game_id, how, inputs)
            if json.dumps(row) != before:
                changed[game_id] = None
            registered.table().write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return list(changed)


def fixed(seed: int, game_id: str, how: HowTold, inputs: Any) -> dict[str, Any]:
    """Returns what is fixed of one seed of a registered game."""
    settings = RunSettings(game_id, True, seed=seed, rules_detail=how.detail, chance=how.chance)
    held_out = games_hash(held_out_games(inputs, settings, 1, cache_folder()))
    return {"seed": seed, "learn_sha256": games_hash(inputs.train), "held_out_sha256": held_out}


if __name__ == "__main__":
    main(sys.argv[1:])
