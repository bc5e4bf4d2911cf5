"""Files that are whole or absent: written under another name, made durable, then renamed."""

import json
import os
import threading
from pathlib import Path
from typing import Any


def json_line(value: Any) -> str:
    """Returns `value` as one line of JSON with sorted keys, readable in a diff.

    Raises:
        ValueError: it holds NaN or an infinity.
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)


def utf8(text: str) -> bytes:
    """Returns `text` in UTF-8; a lone surrogate becomes its escape, which JSON reads back as it was."""
    return text.encode("utf-8", "backslashreplace")


def write_whole(path: Path, data: str | bytes, *, replace: bool = True) -> bool:
    """Writes a file that no reader ever sees in part.

    Args:
        path: where; its folder exists.
        data: what; text becomes UTF-8, see `utf8`.
        replace: overwrite a file that is there.

    Returns:
        False if the file was there and was left alone.

    Raises:
        OSError: the disk says no; `path` is as it was, and is the file that the error names.
    """
    try:
        return _renamed_into(path, utf8(data) if isinstance(data, str) else data, replace)
    except OSError as error:
        # The half-written file's name means nothing to whoever gave `path`.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _renamed_into(path: Path, data: bytes, replace: bool) -> bool:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if replace:
            temporary.replace(path)
            return True
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        return True
    finally:
        temporary.unlink(missing_ok=True)


def append_line(path: Path, line: str) -> None:
    """Appends one line, durable when this returns; a line that an earlier kill left half written is ended first.

    Raises:
        OSError: the disk says no.
    """
    with path.open("ab+") as stream:
        end = stream.seek(0, os.SEEK_END)
        if end:
            stream.seek(end - 1)
            if stream.read(1) != b"\n":
                stream.write(b"\n")
        stream.write(utf8(line + "\n"))
        stream.flush()
        os.fsync(stream.fileno())
