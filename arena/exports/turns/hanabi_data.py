"""Rows of the published data set of language models' Hanabi games (HanabiLogs, HanabiRewards), as rows of ours.

A published row has the moves as an object by index, no chosen move and no deck. The deck follows from the seed, the
chosen move from the answer; a row counts where its game, played again, has these moves there for this player.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from arena.exports.turns import files, rows, schema
from arena.exports.turns.check import UNFINISHED, PlayedAgain
from arena.exports.turns.schema import VERSION, Row
from cwm.rewards.reading import chosen
from games import registry
from games.api import TERMINAL, Action, Game, GameError, state_to_json
from games.hanabi.config import PLAYERS, VARIANTS, deal
from games.hanabi.decks import DRAWN, FIXED, deck

LAYOUT: Final = "hanabi-data"
NEEDED: Final = {
    "model_name": str,
    "players": int,
    "seed": int,
    "turn_number": int,
    "current_player": int,
    "user_prompt": str,
    "response_content": str,
    "legal_moves_description_for_llm": dict,
}
"""What a row must have, and of which type."""


@dataclass
class Imported:
    """What became of a file.

    Attributes:
        rows: ours.
        read: rows in the file.
        left_out: rows that are not among ours, by reason.
        first: number and reason of the first one.
    """

    rows: list[Row] = field(default_factory=list)
    read: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    first: tuple[int, str] | None = None

    def drop(self, number: int, reason: str) -> None:
        """Counts a row that is left out."""
        self.left_out[reason] += 1
        if self.first is None or number < self.first[0]:
            self.first = (number, reason)


def read(path: Path) -> Imported:
    """Reads a file of the published layout.

    Raises:
        UsageError: the file cannot be read.
    """
    found = Imported()
    games: dict[tuple[str, int, int], list[tuple[int, Row]]] = {}
    for number, row, problem in files.read(path):
        found.read += 1
        problem = "no JSON" if problem is not None else _problem(row)
        if problem is not None:
            found.drop(number, problem)
        else:
            games.setdefault((row["model_name"], row["players"], row["seed"]), []).append((number, row))
    for key, numbered in games.items():
        _import_game(found, key, sorted(numbered, key=lambda item: item[1]["turn_number"]))
    return found


def _problem(row: Any) -> str | None:
    if not isinstance(row, dict):
        return "no object"
    for name, kind in NEEDED.items():
        if name not in row:
            return f"{name} is missing"
        if not isinstance(row[name], kind) or isinstance(row[name], bool):
            return f"{name} is no {kind.__name__}"
    if row["players"] not in PLAYERS:
        return f"no game for {row['players']} players"
    return None


def _import_game(found: Imported, key: tuple[str, int, int], numbered: Sequence[tuple[int, Row]]) -> None:
    model, players, seed = key
    game, sizes = registry.make(f"hanabi-{players}p"), VARIANTS[f"hanabi-{players}p"]
    first = numbered[0][1]
    replayed, name = None, ""
    for prefix in (FIXED, DRAWN):
        name = f"{prefix}{seed}"
        cards = [deal(card) for card in deck(name, sizes)]
        replayed = PlayedAgain(game, cards)
        if _moves(first) == list(game.legal_actions(replayed.state)):
            break
    else:
        for number, _ in numbered:
            found.drop(number, "the deck of its seed deals other hands")
        return
    made = list(_followed(found, replayed, numbered))
    over = replayed.player == TERMINAL
    shown = {
        "game_id": f"{model}/{players}/{seed}",
        "variant": f"hanabi-{players}p",
        "players": players,
        "deck": cards[: sum(player < 0 for player, _ in replayed.actions)],
        "deck_name": name,
        "model": model,
        "agent": model,
        "forfeit": None if over else UNFINISHED,
    }
    for row in made:
        last = rows.ending(game, replayed.state, row["seat"], replayed.paid, not over)
        found.rows.append(row | shown | {"points": last.points, "strict": last.strict, "bombed": last.bombed})


def _followed(found: Imported, replayed: PlayedAgain, numbered: Sequence[tuple[int, Row]]) -> Iterator[Row]:
    """Plays the rows of one game and yields ours, up to the first that does not fit."""
    shift, game, players = numbered[0][1]["current_player"], replayed.game, replayed.game.info.num_players
    stopped = None
    for place, (number, row) in enumerate(numbered):
        action: Action | None = None
        if stopped is None:
            stopped, action = _fit(replayed, row, (row["current_player"] - shift) % players)
            reason = stopped
        else:
            reason = "after a row of its game that is left out"
        if reason is not None or action is None:
            found.drop(number, reason or "")
            continue
        yield _row(game, replayed, row, action, place)
        try:
            replayed.act(action)
        except GameError:
            stopped = "the deck ends"


def _fit(replayed: PlayedAgain, row: Row, seat: int) -> tuple[str | None, Action | None]:
    """Returns why a row does not fit its game, or the chosen move."""
    if replayed.player == TERMINAL:
        return "its game is over", None
    if replayed.player != seat:
        return "another player is to move", None
    legal = list(replayed.game.legal_actions(replayed.state))
    if _moves(row) != legal:
        return "the legal moves are others", None
    action = chosen(row["response_content"], legal)
    return (None, action) if action is not None else ("the answer names no move", None)


def _moves(row: Row) -> list[Action]:
    """Returns the moves of a row by their index, without a number before their names."""
    told: Mapping[str, Any] = row["legal_moves_description_for_llm"]
    try:
        ordered = sorted(told.items(), key=lambda item: int(item[0]))
    except ValueError:
        return []
    return [text[text.index("(") :].strip() if "(" in text else text for _, text in ((k, str(v)) for k, v in ordered)]


def _row(game: Game, replayed: PlayedAgain, row: Row, action: Action, place: int) -> Row:
    legal, seat = list(game.legal_actions(replayed.state)), replayed.player
    given = row.get("move_ratings")
    rated: list[float | None] = [None] * len(legal)
    if isinstance(given, list) and len(given) == len(legal):
        rated = [float(value) if type(value) in (int, float) and -1 <= value <= 1 else None for value in given]
    system = row.get("system_prompt")
    asked = [{"role": "system", "content": system}] if isinstance(system, str) and system else []
    reasoning = row.get("reasoning")
    return {
        "row": place,
        "scaffold": None,
        "scaffold_hash": None,
        "seat": seat,
        "turn": len(replayed.histories.get(seat, [])),
        "prompt": [*asked, {"role": "user", "content": row["user_prompt"]}],
        "response": row["response_content"],
        "reasoning": reasoning if isinstance(reasoning, str) else None,
        "legal": legal,
        "action": action,
        "action_index": legal.index(action),
        "ratings": schema.numbers(rated),
        "ratings_by": rows.SELF if schema.numbers(rated) else None,
        "q": [],
        "q_se": [],
        "worlds": None,
        "deduction": [],
        "truth": rows.truth_of(game, replayed.history()),
        "state": json.dumps(state_to_json(game, replayed.state), ensure_ascii=False),
        "since": rows.since(replayed.actions, seat),
        "role": None,
        "input_tokens": 0,
        "output_tokens": 0,
        "schema_version": VERSION,
    }
