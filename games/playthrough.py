"""Golden playthroughs: one seeded random game as text that a person can read and a test compares.

`python -m games.playthrough --renew` writes the files of all registered games anew, `--renew ID …` those of some.
"""

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from games.api import CHANCE, TERMINAL, Game, Json, RendersText, State, observe, state_to_json
from games.registry import ids, make

FOLDER: Final = Path(__file__).resolve().parents[1] / "tests" / "data" / "playthroughs"
SEED: Final = 1
MAX_LISTED: Final = 12
"""So many legal actions are written out; of the others, only how many there are."""
MAX_ENTRIES: Final = 100
"""Of a longer list in a state only `MAX_LISTED` entries are written out."""
MAX_DETAILED: Final = 10
MAX_DETAILED_CHANCE: Final = 3
"""So many players' and chance's steps are written in full, and the last one; of others, only action and rewards."""
MAX_SEEN: Final = 4_000
"""Of the steps where what players see takes more characters than this, the first is written whole; of the others a hash
of each view stands for it, which tests the same in a hundredth of the room."""


def playthrough(game: Game, *, seed: int = SEED) -> str:
    """Plays one random game and returns it as text.

    Each detailed step shows the state, who moves, the legal actions or chance's outcomes, the rewards, what each player
    sees (what is equal for all of them once), and the action.

    Args:
        game: what to play; its `info.max_length` must hold.
        seed: of the random choices.
    """
    rng = random.Random(f"playthrough {seed}")
    lines = [f"game: {game.info.id}", f"seed: {seed}", f"info: {game.info}"]
    state, action, number = game.initial_state(), "", 0
    left = {True: MAX_DETAILED_CHANCE, False: MAX_DETAILED}
    is_long_shown = False
    while True:
        player = game.current_player(state)
        lines.append(f"\n# step {number}" + (f", after {action!r}" if action else ""))
        left[player == CHANCE] -= 1
        detailed = left[player == CHANCE] >= 0 or player == TERMINAL
        lines += _step(game, state, player) if detailed else [f"rewards: {game.rewards(state)}"]
        if detailed:
            seen = _views(game, state)
            is_long = sum(len(line) for view in seen.values() for line in view) > MAX_SEEN
            lines += _hashes(seen) if is_long and is_long_shown else [line for view in seen.values() for line in view]
            is_long_shown |= is_long
        if player == TERMINAL:
            return "\n".join(lines) + "\n"
        action = rng.choice(game.legal_actions(state))
        lines.append(f"action of {game.info.player_name(player)}: {action}")
        state = game.apply_action(state, action)
        number += 1


def path_of(game_id: str, folder: Path = FOLDER) -> Path:
    """Returns where the golden playthrough of a game lies."""
    return folder / f"{game_id}.txt"


def renew(game_ids: Sequence[str], folder: Path = FOLDER) -> list[Path]:
    """Writes the golden playthroughs of some games and returns their paths.

    Raises:
        UnknownGameError: an id is not registered.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for game_id in game_ids:
        path_of(game_id, folder).write_text(playthrough(make(game_id)), encoding="utf-8")
        written.append(path_of(game_id, folder))
    return written


def _step(game: Game, state: State, player: int) -> Iterator[str]:
    """Yields the lines of one state, without what players see of it."""
    if isinstance(game, RendersText):
        yield from (f"| {line}".rstrip() for line in game.render(state).splitlines())
    yield f"state: {_json(state_to_json(game, state))}"
    yield f"to move: {player} ({game.info.player_name(player)})"
    if player == CHANCE:
        yield f"chance: {_some([f'{name}: {chance!r}' for name, chance in game.chance_outcomes(state)])}"
    else:
        yield f"legal: {_some(game.legal_actions(state))}"
    yield f"rewards: {game.rewards(state)}"


def _views(game: Game, state: State) -> dict[str, list[str]]:
    """Returns by view the lines of what the players see."""
    return {
        view: [*_seen(game, view, [observe(game, state, viewer, view) for viewer in range(game.info.num_players)])]
        for view in game.info.views
    }


def _hashes(seen: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for view, lines in seen.items():
        text = "\n".join(lines)
        yield f"seen ({view}): {len(text)} characters, sha256 {hashlib.sha256(text.encode()).hexdigest()}"


def _seen(game: Game, view: str, seen: list[Json]) -> Iterator[str]:
    """Yields what the players see: fields that are equal for all of them once, then each player's own."""
    shared = {name: value for name, value in seen[0].items() if all(name in one and one[name] == value for one in seen)}
    yield f"all see ({view}): {_json(shared)}"
    for viewer, one in enumerate(seen):
        own = {name: value for name, value in one.items() if name not in shared}
        if own:
            yield f"{game.info.player_name(viewer)} sees ({view}): {_json(own)}"


def _json(value: Json) -> str:
    return json.dumps(_shortened(value), ensure_ascii=False)


def _shortened(value: Json) -> Json:
    """Returns `value` with tables of data cut short: a line of thousands of entries is read by nobody."""
    if isinstance(value, dict):
        return {name: _shortened(one) for name, one in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > MAX_ENTRIES:
        return [*value[:MAX_LISTED], f"… ({len(value)} in all)"]
    return [_shortened(one) for one in value]


def _some(items: Sequence[str]) -> str:
    shown = ", ".join(items[:MAX_LISTED])
    return f"{shown}, … ({len(items)} in all)" if len(items) > MAX_LISTED else shown


def main(arguments: Sequence[str]) -> int:
    """Runs the command line and returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m games.playthrough", description="Golden playthroughs of games.")
    parser.add_argument("games", nargs="*", metavar="ID", help="registered games; all of them if none is named")
    parser.add_argument("--renew", action="store_true", help="write the files instead of printing the playthroughs")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the files are")
    options = parser.parse_args(arguments)
    game_ids = options.games or ids()
    if options.renew:
        texts = [str(path) for path in renew(game_ids, options.folder)]
    else:
        texts = [playthrough(make(game_id)) for game_id in game_ids]
    sys.stdout.write("\n".join([*texts, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
