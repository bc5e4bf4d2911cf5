"""The command `cwm`: the composition root, where games, planners, models and the arena meet."""

import codecs
import io
import itertools
import os
import sys
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.exit_codes import DOCUMENTED, EXIT_INTERRUPTED, EXIT_USAGE, exit_code, sentence
from arena.lazy_commands import LazyGroup
from arena.terminal import console
from arena.usage import UsageError
from cwm import __version__
from cwm.sandbox.parent import levels, nurseries
from games import own_code

SANDBOX = "--sandbox"
NEAREST = "nearest_character"
"""What `_nearest` is called among the handlers of characters that an encoding lacks."""
PLAIN = {"±": "+-", "–": "-", "−": "-", "×": "x", "†": "*", "δ": "delta", "≥": ">=", "≤": "<=", "→": "->"}
ALLOW_PROCESS = "--allow-unsafe-process"

app = typer.Typer(
    name="cwm",
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=DOCUMENTED,
    help="Code world models: a language model writes a game as code, planners play on it, an arena compares them.",
)


def _tell_version(asked: bool) -> None:
    if asked:
        console.out.print(f"cwm {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Tell the version and leave.")
    ] = False,
    sandbox_level: Annotated[
        str | None,
        typer.Option(
            SANDBOX, help="Isolation level of programs that a language model wrote; default: the best there is."
        ),
    ] = None,
    allow_unsafe_process: Annotated[
        bool,
        typer.Option(
            ALLOW_PROCESS, help="Where no sandbox holds, run programs without; or set " + levels.ALLOW_PROCESS
        ),
    ] = False,
) -> None:
    """Take what holds for every command; these options may stand anywhere in the line."""
    try:
        level = None if sandbox_level is None else levels.named(sandbox_level)
    except ValueError as error:
        raise UsageError(f"{SANDBOX}: {error}.") from error
    context.with_resource(levels.wishing(levels.Wish(level, allow_unsafe_process)))
    context.with_resource(own_code.heard_by(_OwnCodeNotice()))


class _OwnCodeNotice:
    """Says once that code of the user's own runs."""

    def __init__(self) -> None:
        self._said = False

    def __call__(self, file: Path) -> None:
        if not self._said:
            self._said = True
            console.notices.print(f"{file} is code of your own: it runs as you do, in no sandbox")


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; every foreseeable error is one sentence on stderr.

    Args:
        arguments: words after `cwm`; None for those of this process.

    Returns:
        The exit code, see `arena.commands.exit_codes`.
    """
    _print_anything()
    try:
        words = sys.argv[1:] if arguments is None else arguments
        code = app(args=_common_first(words), prog_name="cwm", standalone_mode=False)
    except typer.TyperException as error:
        return _refused(error)
    except Exception as error:
        found = exit_code(error)
        if found is None and own_code.is_to_blame(error):
            _say(f"code of your own failed: {own_code.described(error)}.")
            return EXIT_USAGE
        if found is None:
            raise
        _say(sentence(error))
        return found
    if code == EXIT_INTERRUPTED:
        _say("interrupted.")
    return int(code or 0)


def _print_anything() -> None:
    """Lets every character be printed, as the nearest that the terminal's encoding has."""
    codecs.register_error(NEAREST, _nearest)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not (stream.encoding or "").lower().startswith("utf"):
            stream.reconfigure(errors=NEAREST)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_plain(character) for character in lost), error.end


def _plain(character: str) -> str:
    bare = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return PLAIN.get(character) or bare or "?"


def main() -> None:
    """Runs the command of this process."""
    code = run()
    if code == EXIT_INTERRUPTED and "jax" in sys.modules:
        # What was interrupted may still be compiling or computing in threads of XLA, which crash while they are torn
        # down: then the exit code would be that of a crash.
        for stream in (sys.stdout, sys.stderr):
            # Whoever read it may be gone, as Ctrl-C reaches a whole pipeline.
            with suppress(OSError):
                stream.flush()
        nurseries.close_all()
        os._exit(code)
    sys.exit(code)


def _common_first(words: Sequence[str]) -> list[str]:
    """Moves the options of all commands to where the parser wants them: before the command."""
    common: list[str] = []
    rest: list[str] = []
    remaining = iter(words)
    for word in remaining:
        if word == SANDBOX:
            common += [word, *itertools.islice(remaining, 1)]
        elif word == ALLOW_PROCESS or word.startswith(f"{SANDBOX}="):
            common.append(word)
        else:
            rest.append(word)
    return common + rest


def _refused(error: typer.TyperException) -> int:
    """Explains a command line that does not parse; a group without a command shows its help instead."""
    context = getattr(error, "ctx", None)
    message = error.format_message()
    if not message and context is not None:
        console.notices.print(context.get_help())
        return error.exit_code
    place = "cwm" if context is None else context.command_path
    joined = f"{message} " if message.endswith("?") else f"{message.rstrip('.')}; "
    _say(f"{joined}`{place} --help` shows what it takes.")
    return error.exit_code


def _say(text: str) -> None:
    console.notices.print(f"error: {text}")
