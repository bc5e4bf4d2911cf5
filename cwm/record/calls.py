"""The journal's table of language model calls, as the `CompletionStore` that `cwm.llm.journaled` writes to."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from cwm.llm.api import Completion
from cwm.llm.journaled import CallStatus, StoredCall
from cwm.llm.requests import completion_from_json, completion_to_json, request_from_json, request_to_json
from cwm.record import room
from cwm.storage.journal import Journal, RunCorruptError
from cwm.storage.keys import canonical_json

_COLUMNS = "key, occurrence, model, request, status, completion, message, lost"


class RecordedCalls:
    """Calls in a run's journal; each write is on the disk before its method returns.

    While a call is under way, room for its answer is kept free: no answer that was paid for is lost on a full disk.

    Args:
        journal: the run's journal.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def begin(self, call: StoredCall) -> Completion | None:
        """Stores a call as `sent`, or returns the answer that the journal holds for it.

        One that is there as `sent` was under way when its process died: `call.lost` is added, since it may be billed.
        """
        known = self._find(call.key, call.occurrence)
        if known is not None and known.status == "answered":
            return known.completion
        if self._journal.on_disk:
            room.reserve(self._room(call.key, call.occurrence), call.request.max_output_tokens)
        values = (
            call.key,
            call.occurrence,
            call.model,
            call.request.purpose,
            canonical_json(request_to_json(call.request)),
            call.lost,
        )
        self._journal.write(
            "INSERT INTO completions (key, occurrence, model, purpose, request, status, message, lost, input_tokens,"
            " output_tokens, seconds) VALUES (?, ?, ?, ?, ?, 'sent', '', 0, 0, 0, 0.0)"
            " ON CONFLICT (key, occurrence) DO UPDATE SET status = 'sent', message = '',"
            " lost = lost + CASE status WHEN 'sent' THEN ? ELSE 0 END",
            values,
            "FULL",
        )
        return None

    def finish(self, key: str, occurrence: int, completion: Completion, lost: int) -> None:
        """Stores the answer."""
        self._give_room_back(key, occurrence)
        usage = completion.usage
        text = canonical_json(completion_to_json(completion))
        self._journal.write(
            "UPDATE completions SET status = 'answered', completion = ?, message = '', lost = lost + ?,"
            " input_tokens = ?, output_tokens = ?, seconds = ? WHERE key = ? AND occurrence = ?",
            (text, lost, usage.input_tokens, usage.output_tokens, completion.latency_s, key, occurrence),
            "FULL",
        )

    def fail(self, key: str, occurrence: int, message: str, lost: int) -> None:
        """Stores the failure."""
        self._give_room_back(key, occurrence)
        self._journal.write(
            "UPDATE completions SET status = 'failed', message = ?, lost = lost + ? WHERE key = ? AND occurrence = ?",
            (message, lost, key, occurrence),
            "FULL",
        )

    def calls(self) -> Iterator[StoredCall]:
        """Yields every call in the order in which they began."""
        for row in self._journal.read(f"SELECT {_COLUMNS} FROM completions ORDER BY number"):
            yield self._call(row)

    def _room(self, key: str, occurrence: int) -> Path:
        return self._journal.path.with_name(f"answer-{key[:16]}-{occurrence}.room")

    def _give_room_back(self, key: str, occurrence: int) -> None:
        if self._journal.on_disk:
            room.release(self._room(key, occurrence))

    def _find(self, key: str, occurrence: int) -> StoredCall | None:
        query = f"SELECT {_COLUMNS} FROM completions WHERE key = ? AND occurrence = ?"
        rows = self._journal.read(query, (key, occurrence))
        return self._call(rows[0]) if rows else None

    def _call(self, row: tuple[Any, ...]) -> StoredCall:
        key, occurrence, model, request, status, completion, message, lost = row
        try:
            return StoredCall(
                key=key,
                occurrence=occurrence,
                model=model,
                request=request_from_json(json.loads(request)),
                status=cast(CallStatus, status),
                completion=None if completion is None else completion_from_json(json.loads(completion)),
                message=message,
                lost=lost,
            )
        except ValueError as error:
            raise RunCorruptError(
                f"{self._journal.path}: the stored call {key[:12]} number {occurrence} cannot be read ({error}); "
                "restore the file from a copy."
            ) from error
