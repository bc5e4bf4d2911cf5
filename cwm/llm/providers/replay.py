"""Replay of a recording, strict: what was not recorded is an error that explains itself."""

import difflib
from dataclasses import dataclass, replace
from itertools import zip_longest

from cwm.llm.api import Completion, ReplayMissError, Request
from cwm.llm.providers.wishes import Wishes
from cwm.llm.recordings import Recording, load
from cwm.llm.requests import Occurrences, canonical_request, request_key

_SHOWN_CHARACTERS = 160
_END = "(nothing: the text ends before)"


@dataclass(frozen=True)
class Miss:
    """Why no recorded completion answers a request.

    Attributes:
        recorded: how many times exactly this request is recorded (then it was asked too often).
        nearest: number of the nearest recorded call, from 1, or None in an empty recording.
        purpose: that call's purpose.
        likeness: of the two texts, from 0 to 1 (difflib's ratio over lines).
        line: number of the first line that differs, from 1.
        asked: that line in the request.
        stored: that line in the recorded one.
    """

    recorded: int
    nearest: int | None = None
    purpose: str = ""
    likeness: float = 0.0
    line: int = 0
    asked: str = ""
    stored: str = ""


class Replay:
    """Serves a recording's completions by canonical request and occurrence number, and nothing else."""

    def __init__(self, recording: Recording) -> None:
        """Serves `recording` from its start."""
        self._recording = recording
        self._completions = {
            (record.key, record.occurrence): replace(
                record.completion, metadata={**record.completion.metadata, "date": record.date}
            )
            for record in recording.records
        }
        self._occurrences = Occurrences()

    @property
    def name(self) -> str:
        """Returns `replay:NAME`."""
        return f"replay:{self._recording.name}"

    @property
    def recording(self) -> Recording:
        """Returns what is replayed."""
        return self._recording

    def complete(self, request: Request) -> Completion:
        """Returns the recorded completion, its outcome as it was, with latency 0.

        Raises:
            ReplayMissError: the request, or this occurrence of it, is not recorded.
        """
        key = request_key(request)
        occurrence = self._occurrences.number(request, key)
        completion = self._completions.get((key, occurrence))
        if completion is None:
            raise ReplayMissError(_message(self.name, occurrence, explain_miss(self._recording, request)))
        return completion


def replay(name_or_path: str) -> Replay:
    """Returns a replay of a bundled recording or of a `.jsonl` file.

    Raises:
        RecordingError: it is not there, or not as it was written.
    """
    return Replay(load(name_or_path))


def opened(name_or_path: str, wishes: Wishes) -> Replay:
    """Returns `replay(name_or_path)`; nothing can be wished of it."""
    return replay(name_or_path)


def explain_miss(recording: Recording, request: Request) -> Miss:
    """Compares a request with every recorded one, and returns where it leaves the nearest."""
    key = request_key(request)
    recorded = sum(record.key == key for record in recording.records)
    if recorded or not recording.records:
        return Miss(recorded)
    lines = request_lines(request)
    best, best_ratio = 0, -1.0
    for index, record in enumerate(recording.records):
        matcher = difflib.SequenceMatcher(None, request_lines(record.request), lines, autojunk=False)
        if matcher.real_quick_ratio() <= best_ratio or matcher.quick_ratio() <= best_ratio:
            continue
        ratio = matcher.ratio()
        if ratio > best_ratio:
            best, best_ratio = index, ratio
    nearest = recording.records[best]
    line, asked, stored = first_difference(lines, request_lines(nearest.request))
    return Miss(0, best + 1, nearest.request.purpose, best_ratio, line, asked, stored)


def request_lines(request: Request) -> list[str]:
    """Returns a request as the lines that a comparison shows: its parameters, then each message."""
    canonical = canonical_request(request)
    lines = [f"{name}: {value}" for name, value in canonical.items() if name != "messages"]
    for message in request.messages:
        lines.append(f"[{message.role}]")
        lines.extend(message.text.split("\n"))
    return lines


def first_difference(asked: list[str], stored: list[str]) -> tuple[int, str, str]:
    """Returns the number (from 1) of the first line that differs, and both lines, shortened around the difference.

    Raises:
        ValueError: the texts are the same.
    """
    for number, (left, right) in enumerate(zip_longest(asked, stored), start=1):
        if left != right:
            return number, *_around_difference(left, right)
    raise ValueError("the two texts are the same: nothing differs")


def _around_difference(left: str | None, right: str | None) -> tuple[str, str]:
    if left is None or right is None:
        return _cut(left, 0), _cut(right, 0)
    column = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    start = max(0, column - _SHOWN_CHARACTERS // 2)
    return _cut(left, start), _cut(right, start)


def _cut(line: str | None, start: int) -> str:
    if line is None:
        return _END
    end = start + _SHOWN_CHARACTERS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def _message(name: str, occurrence: int, miss: Miss) -> str:
    if miss.recorded:
        return (
            f"{name} holds this request {miss.recorded} times and it was asked once more (occurrence {occurrence}): "
            "record the longer run, or ask fewer times."
        )
    if miss.nearest is None:
        return f"{name} is empty: record a run first."
    return (
        f"{name} holds no answer to this request; nearest is call {miss.nearest} ({miss.purpose or 'no purpose'}, "
        f"likeness {miss.likeness:.3f}), and line {miss.line} is the first that differs:\n"
        f"  asked:    {miss.asked}\n  recorded: {miss.stored}\n"
        "Use the settings, prompts and version of the recorded run, or record again."
    )
