"""Recorded completions: JSON lines, each with a checksum of its own, after one that says what run they are of.

They are written as plain text and ship compressed; `cwm llm show` is how people read them.
"""

import json
import lzma
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from cwm.llm.api import Completion, ConfigurationError, Request
from cwm.llm.requests import canonical_request, completion_from_json, completion_to_json, request_from_json, request_key
from cwm.storage.files import json_line
from cwm.storage.keys import content_key

VERSION = 1
SUFFIX = ".jsonl"
PACKED = ".jsonl.xz"
"""Of a recording as it ships: the same lines, compressed."""
MOST_BYTES = 1 << 30
"""Of the lines of one compressed recording."""
VARIANT = "+"
"""Stands in a recording's name between the game and what its synthesis was told to do, e.g. `leduc_poker+closed`."""
PLAYED = "players/"
"""Before the names of recordings that ship of played games, e.g. `players/hanabi-2p+watson`."""


class RecordingError(ConfigurationError):
    """A recording is missing, of another version, or not as it was written."""


@dataclass(frozen=True)
class Record:
    """One recorded call.

    Attributes:
        key: `request_key(request)`.
        occurrence: how many equal requests the run made before it.
        request: what was asked.
        completion: what came back, with its own outcome: a truncated answer stays truncated.
        date: when it was answered, ISO 8601, empty if nobody said.
    """

    key: str
    occurrence: int
    request: Request
    completion: Completion
    date: str

    def line(self) -> str:
        """Returns the record as one line of JSON."""
        completion = completion_to_json(self.completion)
        del completion["latency_s"]
        return _sealed(
            {
                "key": self.key,
                "occurrence": self.occurrence,
                "purpose": self.request.purpose,
                "request": canonical_request(self.request),
                "completion": completion,
                "model": self.completion.model,
                "date": self.date,
            }
        )


@dataclass(frozen=True)
class Header:
    """The first line of a recording: what it is of.

    Attributes:
        game: its id.
        note: anything worth knowing.
        settings: of the run that made it, as far as its requests depend on them; None where nobody wrote them down, as
            before recordings carried any.
        chosen: what the finished run had chosen beside its model, see `arena.pipeline.chosen`; None where nobody wrote
            it down, as while a run goes on.
    """

    game: str = ""
    note: str = ""
    settings: Mapping[str, Any] | None = None
    chosen: Mapping[str, Any] | None = None

    def line(self) -> str:
        """Returns the header as one line of JSON."""
        told = {"settings": self.settings, "chosen": self.chosen}
        told = {name: value for name, value in told.items() if value is not None}
        return _sealed({"recording": {"game": self.game, "note": self.note, **told}})

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Header":
        """Returns what a line tells.

        Raises:
            KeyError, TypeError: it is no header.
        """
        settings, chosen = data.get("settings"), data.get("chosen")
        if not isinstance(settings, dict | None) or not isinstance(chosen, dict | None):
            raise TypeError("its settings are no JSON object")
        return cls(str(data["game"]), str(data["note"]), settings, chosen)


@dataclass(frozen=True)
class Recording:
    """A whole recording, checked.

    Attributes:
        name: its file's name without the ending.
        header: what it is of.
        records: in file order; of an answer that was asked again because it was not good, the last one alone.
    """

    name: str
    header: Header
    records: tuple[Record, ...]

    def packed(self) -> bytes:
        """Returns the recording as it ships: its lines, compressed; the same lines give the same bytes."""
        text = "".join(f"{line}\n" for line in (self.header.line(), *(record.line() for record in self.records)))
        return lzma.compress(text.encode("utf-8"), preset=9 | lzma.PRESET_EXTREME)

    def summary(self) -> dict[str, Any]:
        """Returns name, game, models, dates, calls by outcome and by purpose, and tokens as JSON."""
        completions = [record.completion for record in self.records]
        dates = sorted(record.date for record in self.records if record.date)
        return {
            "name": self.name,
            "game": self.header.game,
            "note": self.header.note,
            "models": sorted({completion.model for completion in completions}),
            "first_date": dates[0] if dates else "",
            "last_date": dates[-1] if dates else "",
            "calls": len(self.records),
            "outcomes": dict(sorted(Counter(completion.outcome for completion in completions).items())),
            "purposes": dict(sorted(Counter(record.request.purpose for record in self.records).items())),
            "input_tokens": sum(completion.usage.input_tokens for completion in completions),
            "output_tokens": sum(completion.usage.output_tokens for completion in completions),
            "tokens_estimated": any(completion.usage.estimated for completion in completions),
        }


def bundled_names() -> list[str]:
    """Returns the names of the recordings that ship with the project."""
    folder = _bundled_folder()
    if not folder.is_dir():
        return []
    return sorted(name_of_file(entry.name) for entry in folder.iterdir() if entry.name.endswith((SUFFIX, PACKED)))


def nearest(name: str) -> str:
    """Returns, for messages, the few shipped recordings whose names are like a name that none has, of how many."""
    names = bundled_names()
    like = get_close_matches(name, names, 5, 0.4) or names[:5]
    return f"nearest of {len(names)} that ship: {', '.join(like)}; `cwm llm list` shows all" if names else "none ships"


def name_of_file(name: str) -> str:
    """Returns a file's name without the ending of a recording."""
    return name.removesuffix(PACKED).removesuffix(SUFFIX)


def bundled_seeds(game: str) -> list[int]:
    """Returns the seeds with which recordings of a game ship, each of an independent synthesis; [] if none does."""
    return sorted(seed for name in bundled_names() for found, seed in [_parts(name)] if found == game)


def bundled_names_of(game: str) -> list[str]:
    """Returns the names of all recordings of a game that ship, with whatever seed and by whatever method."""
    return [name for name in bundled_names() if _parts(name.partition(VARIANT)[0])[0] == game]


def bundled_games() -> list[str]:
    """Returns the games of which a recording of the usual synthesis with seed 0 ships."""
    return [name for name in bundled_names() if _parts(name)[1] == 0 and VARIANT not in name]


def name_of(game: str, seed: int) -> str:
    """Returns the name of a game's recording: the game's id for seed 0, else with the seed, e.g. `yokai-9c-2p-s1`."""
    return game if seed == 0 else f"{game}-s{seed}"


def _parts(name: str) -> tuple[str, int]:
    game, mark, seed = name.rpartition("-s")
    return (game, int(seed)) if mark and seed.isdecimal() else (name, 0)


def played_names() -> list[str]:
    """Returns the names of the recordings of played games that ship, with `PLAYED` before them."""
    folder = _bundled_folder() / PLAYED.rstrip("/")
    if not folder.is_dir():
        return []
    return sorted(PLAYED + name_of_file(entry.name) for entry in folder.iterdir() if entry.name.endswith(PACKED))


def bundled() -> list[Recording]:
    """Returns the recordings that ship with the project, loaded and checked.

    Raises:
        RecordingError: one of them is not as it was written.
    """
    return [load(name) for name in bundled_names()]


def load(name_or_path: str) -> Recording:
    """Loads a recording and checks every line of it.

    Args:
        name_or_path: a bundled recording's name, that of a bundled one of played games, or the path of a file, plain or
            compressed.

    Raises:
        RecordingError: it is not there, or a line is not as it was written.
    """
    path = Path(name_or_path)
    if name_or_path in played_names():
        file = _bundled_folder() / (name_or_path + PACKED)
        return parse(name_or_path.removeprefix(PLAYED), _read(file, name_or_path), name_or_path)
    if path.name.endswith((SUFFIX, PACKED)) or len(path.parts) > 1:
        return parse(name_of_file(path.name), _read(path, str(path)), str(path))
    if name_or_path not in bundled_names():
        raise RecordingError(
            f"There is no recording {name_or_path!r} ({nearest(name_or_path)}). Give one that ships or a {SUFFIX} file."
        )
    files = [_bundled_folder() / (name_or_path + ending) for ending in (PACKED, SUFFIX)]
    file = next(file for file in files if file.is_file())
    return parse(name_or_path, _read(file, name_or_path), name_or_path)


def parse(name: str, text: str, where: str) -> Recording:
    """Parses and checks a recording's text.

    Args:
        name: the recording's name.
        text: JSON lines.
        where: the file, for messages.

    Raises:
        RecordingError: a line is not as it was written, a record is there twice, or an occurrence is missing.
    """
    header = Header()
    records: dict[tuple[str, int], Record] = {}
    for number, data in _lines(text, where):
        try:
            if "recording" in data:
                header = Header.of(data["recording"])
                continue
            record = _record(data)
        except (KeyError, TypeError, ValueError) as error:
            raise RecordingError(f"Line {number} of {where} is no record of version {VERSION} ({error}).") from None
        known = records.pop((record.key, record.occurrence), None)
        if known is not None and known.completion.outcome == "ok":
            raise RecordingError(f"Line {number} of {where} repeats a call that has a good answer: delete one of them.")
        records[record.key, record.occurrence] = record
    _check_occurrences(records, where)
    return Recording(name, header, tuple(records.values()))


def _lines(text: str, where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except ValueError as error:
            raise RecordingError(f"Line {number} of {where} is no JSON ({error}): restore or delete it.") from None
        if not isinstance(data, dict) or data.get("version") != VERSION:
            raise RecordingError(f"Line {number} of {where} is no record of version {VERSION}: record it again.")
        checksum = data.pop("checksum", None)
        if checksum != content_key(data):
            raise RecordingError(
                f"Line {number} of {where} was changed after it was recorded (its checksum does not match): restore it."
            )
        yield number, data


def _record(data: Mapping[str, Any]) -> Record:
    request = request_from_json({**data["request"], "purpose": data["purpose"]})
    if request_key(request) != data["key"]:
        raise ValueError("the key is not that of the request")
    occurrence, completion = int(data["occurrence"]), completion_from_json(data["completion"])
    if completion.model != data["model"]:
        raise ValueError("it names two models")
    return Record(data["key"], occurrence, request, completion, str(data["date"]))


def _check_occurrences(records: Mapping[tuple[str, int], Record], where: str) -> None:
    for key, count in Counter(key for key, _ in records).items():
        missing = [number for number in range(count) if (key, number) not in records]
        if missing:
            raise RecordingError(
                f"{where} lacks occurrence {missing[0]} of the request {key[:12]}: a line was deleted; restore it."
            )


def _sealed(data: dict[str, Any]) -> str:
    versioned = {"version": VERSION, **data}
    return json_line({**versioned, "checksum": content_key(versioned)})


def _bundled_folder() -> Traversable:
    return resources.files("cwm") / "recordings"


def _read(source: Traversable, where: str) -> str:
    try:
        data = source.read_bytes()
        return (_unpacked(data) if source.name.endswith(PACKED) else data).decode("utf-8")
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise RecordingError(
            f"The recording {where} cannot be read ({error}): give the path of a {SUFFIX} or {PACKED} file."
        ) from None


def _unpacked(data: bytes) -> bytes:
    # A few bytes can stand for more than the memory holds.
    reader = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    text = reader.decompress(data, max_length=MOST_BYTES)
    if not reader.eof:
        raise EOFError("it is cut short or too large")
    return text
