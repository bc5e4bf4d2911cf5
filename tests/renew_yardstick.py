"""Writes the hashes of `arena/yardstick/games.json` anew: `python -m tests.renew_yardstick`.

For maintainers: after a rule book, a game, its seed or OpenSpiel has changed. Raise `version` in the file beforehand:
results on changed games are not compared with those before. Where no hash changes, nothing is to be raised.
"""

import json
import sys
from importlib.metadata import version

from arena.yardstick.games import book, book_hash, games_hash, load, played, table


def main() -> None:
    """Plays all games, writes the file and says which rows changed."""
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
    sys.stdout.write(f"changed: {', '.join(changed) or 'none'}\n")


if __name__ == "__main__":
    main()
