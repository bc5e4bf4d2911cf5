"""A file that keeps what is measured piece by piece, so that a command that was interrupted goes on."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.usage import UsageError
from cwm.storage.files import write_whole


class KeptPieces:
    """Pieces by name.

    Attributes:
        pieces: those that are there; add to them by `add`.
    """

    def __init__(self, out: Path | None, settings: Mapping[str, Any], what: str, key: str) -> None:
        """Reads what the file keeps.

        Args:
            out: the file, which need not be there; None keeps nothing.
            settings: by which pieces were measured.
            what: they are, in a message.
            key: under which they stand in the file.

        Raises:
            UsageError: the file is another one, or of other settings.
        """
        self._out, self._settings, self._key = out, dict(settings), key
        self.pieces: dict[str, Any] = {}
        if out is None or not out.exists():
            return
        try:
            stored = json.loads(out.read_text(encoding="utf-8"))
            self.pieces = dict(stored[key])
            is_ours = stored["settings"] == self._settings
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{out} keeps no {what}: give another file to the option `out`, or remove this one."
            ) from error
        if not is_ours:
            raise UsageError(
                f"{out} keeps {what} of {stored['settings']}, not of {self._settings}: give another file to the option "
                "`out`, or the same settings."
            )

    def add(self, name: str, piece: Any) -> None:
        """Adds a piece and writes the file."""
        self.pieces[name] = piece
        if self._out is not None:
            whole = {"settings": self._settings, self._key: self.pieces}
            write_whole(self._out, json.dumps(whole, indent=1).encode())
