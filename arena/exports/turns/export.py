"""Writes data sets: which rows, in what form, split by deck, with a card."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.decisions.walk import PlayedFolder
from arena.exports.turns import card, files, rows, schema
from arena.exports.turns.schema import Row
from arena.usage import UsageError

FORMS: Final = tuple(schema.COLUMNS)
TRAIN, TEST = "train", "test"
_EQUAL: Final = 1e-9


@dataclass(frozen=True)
class RowWishes:
    """Which rows, and how.

    Attributes:
        form: one of `FORMS`.
        rated_by: see `rows.rows_of`.
        test_decks: names of decks whose rows are in the test split alone.
        agents: only these agents'; none: all.
        scaffold: only this one's.
        min_points: only games of at least so many points.
        top_rated: only moves that no other is rated above.
    """

    form: str = "logs"
    rated_by: str = rows.SELF
    test_decks: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    scaffold: str | None = None
    min_points: float | None = None
    top_rated: bool = False

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UsageError(f"There is no form {self.form!r} of rows: give {', '.join(FORMS)}.")


def export(places: Sequence[PlayedFolder], wishes: RowWishes, folder: Path) -> dict[str, int]:
    """Writes a data set and returns how many rows each split has.

    Args:
        places: the games.
        wishes: which rows, and how.
        folder: made if it is not there; a data set that is there is replaced.

    Raises:
        UsageError: no row is left, or a test deck was not dealt.
        RecordError: a game does not agree with the rules.
        OSError: a file cannot be written.
    """
    found = [row for place in places for row in rows.rows_of(place, wishes.rated_by)]
    return write(found, wishes, folder)


def write(found: Sequence[Row], wishes: RowWishes, folder: Path) -> dict[str, int]:
    """Writes rows, see `export`."""
    dealt = {row["deck_name"] for row in found}
    unknown = [name for name in wishes.test_decks if name not in dealt]
    if unknown:
        shown = ", ".join(sorted(dealt)[:10])
        raise UsageError(f"No game was dealt from {', '.join(unknown)}; the decks are {shown}.")
    chosen = [row for row in found if _is_wanted(row, wishes)]
    if not chosen:
        raise UsageError(f"None of {len(found)} decisions is left for the data set: ask for less, or for other games.")
    splits = {
        TRAIN: [row for row in chosen if row["deck_name"] not in wishes.test_decks],
        TEST: [row for row in chosen if row["deck_name"] in wishes.test_decks],
    }
    filled = {name: part for name, part in splits.items() if part}
    folder.mkdir(parents=True, exist_ok=True)
    columns = schema.COLUMNS[wishes.form]
    for path in (*folder.glob(f"*{files.LINES}"), *folder.glob(f"{files.TABLES}/*{files.TABLE}")):
        if path.stem in (TRAIN, TEST):
            path.unlink()
    for name, part in filled.items():
        files.write(folder, name, _formed(part, wishes.form), columns)
    card.write(folder, wishes.form, columns, filled, files.LINES)
    if (folder / files.TABLES).is_dir():
        card.write(folder / files.TABLES, wishes.form, columns, filled, files.TABLE)
    return {name: len(part) for name, part in filled.items()}


def sft_row(row: Row) -> Row:
    """Returns a row for supervised training: the question, and the answer alone to be learned."""
    completion = [{"role": "assistant", "content": row["response"]}]
    return {"prompt": row["prompt"], "completion": completion, "messages": [*row["prompt"], *completion]}


def rlvr_row(row: Row, number: int) -> Row:
    """Returns a row for reinforcement learning: the question, and what rewards are worked out from."""
    kept = ("scaffold", "legal", "ratings", "q", "truth", "seat", "players")
    info = json.dumps({name: row[name] for name in kept}, ensure_ascii=False)
    return {"prompt": row["prompt"], "answer": "", "info": info, "example_id": number}


def _formed(part: Sequence[Row], form: str) -> list[Row]:
    if form == "sft":
        return [sft_row(row) for row in part]
    if form == "rlvr":
        return [rlvr_row(row, number) for number, row in enumerate(part)]
    return list(part)


def _is_wanted(row: Row, wishes: RowWishes) -> bool:
    return (
        (not wishes.agents or row["agent"] in wishes.agents)
        and wishes.scaffold in (None, row["scaffold"])
        and (wishes.min_points is None or (row["points"] is not None and row["points"] >= wishes.min_points))
        and (not wishes.top_rated or _is_top(row))
        and _fits_form(row, wishes.form)
    )


def _is_top(row: Row) -> bool:
    known = [rating for rating in row["ratings"] if rating is not None]
    index = row["action_index"]
    own = None if index is None or not known else row["ratings"][index]
    return own is not None and own >= max(known) - _EQUAL


def _fits_form(row: Row, form: str) -> bool:
    if form == "logs":
        return True
    if form == "sft":
        return bool(row["prompt"] and row["response"] and row["action"] is not None)
    judged: Any = [*row["ratings"], *row["q"]]
    return bool(row["prompt"]) and any(value is not None for value in judged)
