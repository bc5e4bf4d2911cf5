"""Requests written as files, answers read as files: air-gapped models, batch queues, people."""

import json
import logging
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cwm.llm.api import AnswerTimeoutError, Completion, ConfigurationError, LanguageModelError, Request, Usage
from cwm.llm.providers.wishes import Polling, Wishes
from cwm.llm.requests import Occurrences, outcome_named, request_key, request_to_json
from cwm.llm.retry import OutOfTimeError, left_s
from cwm.llm.tokens import estimate_usage
from cwm.storage.files import json_line, write_whole

_log = logging.getLogger(__name__)

_NAME = re.compile(r"(?P<number>\d{4,})-(?P<key>[0-9a-f]{12})\.json")
_KEY_DIGITS = 12
_NOBODY = "unnamed"

README = """\
Each requests/NNNN-KEY.md is one question, and requests/NNNN-KEY.json the same with its parameters.
Answer it in answers/NNNN-KEY.md (the bare answer) or answers/NNNN-KEY.json:
    {"text": "...", "model": "...", "date": "2026-01-31", "outcome": "ok",
     "usage": {"input_tokens": 1, "output_tokens": 1}}
Only text is required. outcome is ok, truncated (cut off: not whole), refused or empty.
Write to another name that ends in .tmp and rename it when it is whole. A bare answer must end with a newline.
model.json beside this file, {"model": "...", "date": "..."}, names the model for answers that do not.
"""


class Spool:
    """A folder with `requests/` and `answers/`. Interrupted and run again, the same request finds the same files."""

    def __init__(
        self,
        folder: Path,
        polling: Polling | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Opens or makes the folder.

        Args:
            folder: where requests and answers are.
            polling: how to wait, None for the default.
            clock: seconds; injected by tests.
            sleep: waits that many seconds; injected by tests.

        Raises:
            ConfigurationError: the folder cannot be written, or `model.json` is no such JSON.
        """
        self._folder = folder
        self._polling = polling or Polling()
        self._clock = clock
        self._sleep = sleep
        self._occurrences = Occurrences()
        self._lock = threading.Lock()
        try:
            (folder / "requests").mkdir(parents=True, exist_ok=True)
            (folder / "answers").mkdir(exist_ok=True)
            write_whole(folder / "README.txt", README, replace=False)
        except OSError as error:
            raise ConfigurationError(f"The spool {folder} cannot be written ({error}): give another folder.") from None

    @property
    def name(self) -> str:
        """Returns `spool:DIR`."""
        return f"spool:{self._folder}"

    def complete(self, request: Request) -> Completion:
        """Writes the request, waits for its answer and reads it.

        Raises:
            ConfigurationError: the folder cannot be written.
            LanguageModelError: no answer came in time, or it is not what an answer must be.
        """
        key = request_key(request)
        occurrence = self._occurrences.number(request, key)
        started = self._clock()
        try:
            with self._lock:
                stem = self._post(request, key, occurrence)
            answer = self._wait(stem, started, request)
            return self._read(answer, request, self._clock() - started)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"A file of the spool {self._folder} cannot be used: {error}.") from None

    def _post(self, request: Request, key: str, occurrence: int) -> str:
        data = {"key": key, **request_to_json(request), "occurrence": occurrence}
        while True:
            stem = self._posted(key, occurrence)
            if stem is None:
                stem = f"{self._next_number():04d}-{key[:_KEY_DIGITS]}"
                if not write_whole(self._request(stem, ".json"), json_line(data) + "\n", replace=False):
                    continue
            if not self._request(stem, ".md").exists():
                write_whole(self._request(stem, ".md"), readable(request))
            return stem

    def _request(self, stem: str, suffix: str) -> Path:
        return self._folder / "requests" / (stem + suffix)

    def _posted(self, key: str, occurrence: int) -> str | None:
        for path in sorted((self._folder / "requests").glob(f"*-{key[:_KEY_DIGITS]}.json")):
            data = _json_object(path) if _NAME.fullmatch(path.name) else {}
            if data.get("key") == key and data.get("occurrence") == occurrence:
                return path.stem
        return None

    def _next_number(self) -> int:
        names = (_NAME.fullmatch(path.name) for path in (self._folder / "requests").iterdir())
        return max((int(name["number"]) for name in names if name), default=0) + 1

    def _wait(self, stem: str, started: float, request: Request) -> Path:
        candidates = [self._folder / "answers" / (stem + suffix) for suffix in (".json", ".md")]
        seen: dict[Path, tuple[tuple[int, int], float]] = {}
        warned = False
        while True:
            for path in candidates:
                still = self._is_still(path, seen)
                if still and _is_whole(path):
                    return path
                if still and not warned:
                    warned = True
                    _log.warning("%s does not end with a newline or is no whole JSON: it is not read yet", path)
            waited = self._clock() - started
            if waited >= self._polling.timeout_s:
                raise AnswerTimeoutError(
                    f"No whole answer came to {candidates[1]} (or .json) in {waited:.0f} s: write it there, ended with "
                    "a newline, and run the same command again."
                )
            left = left_s(request)
            if left <= 0:
                raise OutOfTimeError(
                    f"The cap on time is reached while {candidates[1]} is awaited: write the answer there, raise the "
                    "cap and resume."
                )
            self._sleep(min(self._polling.interval_s, left))

    def _is_still(self, path: Path, seen: dict[Path, tuple[tuple[int, int], float]]) -> bool:
        try:
            status = path.stat()
        except FileNotFoundError:
            seen.pop(path, None)
            return False
        mark, now = (status.st_size, status.st_mtime_ns), self._clock()
        if path not in seen or seen[path][0] != mark:
            seen[path] = (mark, now)
        return now - seen[path][1] >= self._polling.still_s and status.st_size > 0

    def _read(self, path: Path, request: Request, waited_s: float) -> Completion:
        data = _json_object(path) if path.suffix == ".json" else {"text": path.read_bytes().decode("utf-8")}
        source = self._folder / "model.json"
        named = {**(_json_object(source) if source.exists() else {}), **data}
        try:
            text = data["text"]
            if not isinstance(text, str):
                raise ValueError("text is no string")
            outcome = outcome_named(data.get("outcome", "ok"))
            usage = _usage(data.get("usage"), request, text)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise LanguageModelError(f"{path} is no answer ({error!r}): write it as README.txt says.") from None
        return Completion(
            text=text,
            outcome="empty" if outcome == "ok" and not text.strip() else outcome,
            model=str(named.get("model") or _NOBODY),
            usage=usage,
            latency_s=waited_s,
            metadata={"date": str(named.get("date") or ""), "file": path.name},
        )


def opened(folder: str, wishes: Wishes) -> Spool:
    """Returns the spool of a folder."""
    return Spool(Path(folder), wishes.polling)


def readable(request: Request) -> str:
    """Returns the prompt as a person or a batch queue reads it: its text alone, or each message under its role."""
    if len(request.messages) == 1:
        return request.messages[0].text.rstrip("\n") + "\n"
    count = len(request.messages)
    parts = [
        f"===== message {number} of {count}: {message.role} =====\n\n{message.text.rstrip()}\n"
        for number, message in enumerate(request.messages, start=1)
    ]
    return "\n".join(parts)


def _is_whole(path: Path) -> bool:
    content = path.read_bytes()
    if path.suffix == ".md":
        return content.endswith(b"\n")
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def _json_object(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except ValueError as error:
        raise LanguageModelError(f"{path} is no JSON ({error}): correct it and run the same command again.") from None
    if not isinstance(data, dict):
        raise LanguageModelError(f"{path} holds no JSON object: write it as README.txt says.")
    return data


def _usage(data: Any, request: Request, text: str) -> Usage:
    if data is None:
        return estimate_usage(request, text)
    return Usage(int(data["input_tokens"]), int(data["output_tokens"]), bool(data.get("estimated", False)))
