"""Recording of completions as they come, for replay later."""

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cwm.llm.api import Completion, LanguageModel, Request
from cwm.llm.recordings import PACKED, SUFFIX, Header, Record, RecordingError, parse
from cwm.llm.requests import Occurrences, request_key
from cwm.storage.files import append_line, utf8

_RECORD_START = b'{"checksum"'


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Recorder:
    """Adds every completion to a recording.

    A good answer that the file already holds is served from it, so that nothing is paid for twice. One that was
    truncated, refused or empty is asked again, and the new record takes the old one's place in replay.
    """

    def __init__(
        self,
        model: LanguageModel,
        path: Path,
        *,
        game: str = "",
        note: str = "",
        settings: Mapping[str, Any] | None = None,
        now: Callable[[], str] = _now,
    ) -> None:
        """Opens or begins the recording.

        Args:
            model: the model to record.
            path: the recording; what it holds stays.
            game: the game's id, for a new file's header.
            note: anything worth knowing, for a new file's header.
            settings: of the run, for a new file's header; None where there are none.
            now: date of an answer that brings none; injected by tests.

        Raises:
            RecordingError: the file is there but is no recording, is one of those that are compressed afterwards, or
                cannot be written.
        """
        if path.name.endswith(PACKED):
            raise RecordingError(
                f"A recording is written as plain lines, not as {path.name}: name a {SUFFIX} file; `cwm llm pack` "
                "compresses it."
            )
        self._model = model
        self._path = path
        self._now = now
        self._lock = threading.Lock()
        self._occurrences = Occurrences()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lines, torn = _split(path)
            recording = parse(path.stem, lines, str(path))
            if torn:
                os.truncate(path, len(utf8(lines)))
            if not lines.strip():
                append_line(path, Header(game, note, settings).line())
        except (OSError, UnicodeDecodeError) as error:
            raise RecordingError(f"The recording {path} cannot be opened ({error}): give another file.") from None
        self._good = {
            (record.key, record.occurrence): record.completion
            for record in recording.records
            if record.completion.outcome == "ok"
        }

    @property
    def name(self) -> str:
        """Returns the recorded model's name."""
        return self._model.name

    def complete(self, request: Request) -> Completion:
        """Answers the request and adds the answer to the file before returning it.

        Raises:
            RecordingError: the file cannot be written.
            LanguageModelError: the call failed; nothing is recorded.
        """
        key = request_key(request)
        occurrence = self._occurrences.number(request, key)
        known = self._good.get((key, occurrence))
        if known is not None:
            return known
        completion = self._model.complete(replace(request, occurrence=occurrence))
        date = str(completion.metadata.get("date") or self._now())
        record = Record(key, occurrence, request, completion, date)
        try:
            with self._lock:
                append_line(self._path, record.line())
        except OSError as error:
            failure = RecordingError(f"The recording {self._path} cannot be written ({error}): make room for it.")
            vars(failure)["lost"] = 1
            raise failure from None
        if completion.outcome == "ok":
            self._good[key, occurrence] = completion
        return completion


def _split(path: Path) -> tuple[str, bool]:
    """Returns the file's text without a last record that a kill cut short, and whether there is such a one.

    Nobody can have used the answer in it. Any other last line without an end is left for the parser to judge.
    """
    if not path.exists():
        return "", False
    text = path.read_bytes()
    end = text.rfind(b"\n") + 1
    torn = text[end:].startswith(_RECORD_START) and not text[end:].rstrip().endswith(b"}")
    return (text[:end] if torn else text).decode("utf-8"), torn
