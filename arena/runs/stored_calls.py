"""Calls of a language model as they are stored: in a recording, in a run, with the games of a tournament."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from arena.language_players.models import CALLS_FILE
from arena.usage import UsageError
from cwm.llm import recordings
from cwm.llm.api import Completion, Request
from cwm.llm.requests import request_to_json
from cwm.record.calls import RecordedCalls
from cwm.record.record import JOURNAL_FILE
from cwm.storage.journal import Journal


@dataclass(frozen=True)
class Call:
    """One of them.

    Attributes:
        number: from 1, in the order in which they began.
        request: what was asked.
        completion: the answer, None where there is none.
        model: the model's own name, or the user's for it where nothing was answered.
        ended: the answer's outcome; `sent` or `failed` where there is none.
        message: why it failed, else empty.
        date: ISO 8601, empty if nobody said.
    """

    number: int
    request: Request
    completion: Completion | None
    model: str
    ended: str
    message: str = ""
    date: str = ""

    @property
    def characters(self) -> tuple[int, int]:
        """Returns the lengths of all messages together, and of the answer."""
        answer = "" if self.completion is None else self.completion.text
        return sum(len(message.text) for message in self.request.messages), len(answer)

    def summary(self) -> dict[str, Any]:
        """Returns all but the texts as JSON."""
        asked, answered = self.characters
        usage = None if self.completion is None else asdict(self.completion.usage)
        return {
            "number": self.number,
            "purpose": self.request.purpose,
            "model": self.model,
            "ended": self.ended,
            "messages": len(self.request.messages),
            "characters_in": asked,
            "characters_out": answered,
            "usage": usage,
            "message": self.message,
            "date": self.date,
        }

    def to_json(self) -> dict[str, Any]:
        """Returns the whole of it."""
        answer = None if self.completion is None else self.completion.text
        return {**self.summary(), "request": request_to_json(self.request), "answer": answer}


def calls_of(place: str) -> list[Call]:
    """Returns the calls of one place, in order.

    Args:
        place: name of a bundled recording, a `.jsonl` file, or the folder of a run or of a tournament.

    Raises:
        UsageError: the folder holds no calls.
        RecordingError: there is no such recording, or it is damaged.
        RunCorruptError: the folder's journal is damaged.
    """
    folder = Path(place)
    if place in recordings.bundled_names() or not folder.is_dir():
        return [
            Call(
                number,
                record.request,
                record.completion,
                record.completion.model,
                record.completion.outcome,
                "",
                record.date,
            )
            for number, record in enumerate(recordings.load(place).records, 1)
        ]
    journals = [folder / name for name in (JOURNAL_FILE, CALLS_FILE) if (folder / name).is_file()]
    if not journals:
        raise UsageError(
            f"{place} holds no calls of a language model (neither {JOURNAL_FILE} nor {CALLS_FILE} is in it): give the "
            "folder of a run, or of a tournament with a language model as a player."
        )
    journal = Journal(journals[0], read_only=True)
    try:
        stored = list(RecordedCalls(journal).calls())
    finally:
        journal.close()
    return [
        Call(
            number,
            call.request,
            call.completion,
            call.model if call.completion is None else call.completion.model,
            call.status if call.completion is None else call.completion.outcome,
            call.message,
        )
        for number, call in enumerate(stored, 1)
    ]
