"""What went wrong inside a program, in words: exceptions, and the lines of the program that they passed through.

Loaded into workers: standard library alone.
"""

import re
from types import TracebackType
from typing import Any

PROGRAM_FILE = "program.py"
VALUE_FILE = "value_function.py"
PRIOR_FILE = "policy_prior.py"
INFERENCE_FILE = "resample_history.py"
MAX_MESSAGE = 2000
MAX_FRAMES = 12

_DUMPED_FRAME = re.compile(
    r'^  File "(program\.py|value_function\.py|policy_prior\.py|resample_history\.py)", line (\d+) in (.*)$',
    re.MULTILINE,
)
_DUMP_START = re.compile(r"^(Fatal Python error|Current thread 0x|Stack \(most recent call first\))", re.MULTILINE)


def describe(error: BaseException, sources: dict[str, list[str]]) -> dict[str, Any]:
    """Returns an exception as the JSON form of `Failure`, with the frames inside the program only.

    Args:
        error: what was raised.
        sources: lines of the program's files, by file name.
    """
    name, message = type(error).__name__, _message(error)
    frames = _frames(error.__traceback__)
    line = frames[-1][1] if frames else None
    if isinstance(error, SyntaxError) and error.filename in sources and error.lineno is not None:
        frames, line = [*frames, (error.filename, error.lineno, "<module>")], error.lineno
        message = error.msg
    lines = [text for frame in _shortened(frames) for text in _frame_lines(frame, sources)]
    traceback = "\n".join(["Traceback (most recent call last):", *lines, f"{name}: {message}"]) if lines else ""
    return {"type": name, "message": message, "line": line, "traceback": traceback}


def in_program(error: BaseException) -> bool:
    """Returns True if the exception passed through the program's own code."""
    return bool(_frames(error.__traceback__)) or isinstance(error, SyntaxError)


def split_dump(stderr: str) -> tuple[str, str, int | None]:
    """Splits what a dying worker wrote: (ordinary output, the program's innermost frames, innermost line)."""
    start = _DUMP_START.search(stderr)
    if start is None:
        return stderr, "", None
    frames = _DUMPED_FRAME.findall(stderr, start.start())
    text = "\n".join(f'  File "{file}", line {line}, in {function}' for file, line, function in frames[:MAX_FRAMES])
    heading = "Innermost call first:\n" if text else ""
    return stderr[: start.start()], heading + text, int(frames[0][1]) if frames else None


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException as second:
        text = f"(its message cannot be shown: __str__ raised {type(second).__name__})"
    return text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]} … ({len(text)} characters in all)"


def _frames(traceback: TracebackType | None) -> list[tuple[str, int, str]]:
    frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in (PROGRAM_FILE, VALUE_FILE, PRIOR_FILE):
            frames.append((code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return frames


def _shortened(frames: list[tuple[str, int, str]]) -> list[tuple[str, int, str]]:
    if len(frames) <= MAX_FRAMES:
        return frames
    half = MAX_FRAMES // 2
    return [*frames[:half], ("", len(frames) - 2 * half, ""), *frames[-half:]]


def _frame_lines(frame: tuple[str, int, str], sources: dict[str, list[str]]) -> list[str]:
    file, number, function = frame
    if not file:
        return [f"  [{number} more calls]"]
    lines = sources.get(file, [])
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return [f'  File "{file}", line {number}, in {function}', *([f"    {text}"] if text else [])]
