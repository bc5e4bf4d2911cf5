"""Ships games that a language model played, and its answers: `python -m tests.renew_player_games NAME=RUN=RECORDING…`.

For maintainers. Each `RUN` is a finished folder of `cwm arena --run`, `RECORDING` what `--record` made of it. Its games
become lines of `cwm/recordings/players/GAME.jsonl`, after those of other runs; the answers become
`players/GAME+NAME.jsonl.xz`, from which `cwm arena GAME --agent llm:replay:players/GAME+NAME,…` plays the games again.
"""

import json
import sys
from pathlib import Path

from arena.matches import store
from arena.matches.recorded_games import FOLDER
from cwm.llm import recordings
from cwm.storage.files import json_line, write_whole

PLACE = Path(__file__).resolve().parents[1] / "cwm" / "recordings" / FOLDER


def main(words: list[str]) -> None:
    """Packs the runs, one word each."""
    for word in words:
        name, run, recording = word.split("=")
        stored = store.read(Path(run))
        game = stored.config["game"]
        lines = PLACE / f"{game}.jsonl"
        kept = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()] if lines.is_file() else []
        new = [_told(record.to_json()) | {"key": key} for key, record in stored.games.items()]
        keys = {line["key"] for line in new}
        write_whole(
            lines, "".join(json_line(line) + "\n" for line in [*(k for k in kept if k["key"] not in keys), *new])
        )
        packed = recordings.load(recording).packed()
        (PLACE / f"{game}+{name}{recordings.PACKED}").write_bytes(packed)
        sys.stdout.write(f"{game}+{name}: {len(new)} games, {len(packed):,} bytes of answers\n")


def _told(record: dict[str, object]) -> dict[str, object]:
    """Returns a record that names no folder of a machine."""
    for account in record["accounts"].values():  # type: ignore[attr-defined]
        account["asked"] = account["asked"].partition(":")[0] + ":DIR"
    return record


if __name__ == "__main__":
    main(sys.argv[1:])
