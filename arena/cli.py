"""The command `cwm`: the composition root, where games, planners, models and the arena meet."""

import sys
from collections.abc import Sequence

import typer

from arena import console
from arena.commands import (
    benchmark,
    demo,
    evaluate,
    export,
    games,
    llm,
    play,
    report,
    synthesize,
    tournament,
    trajectories,
)
from arena.errors import DOCUMENTED, EXIT_INTERRUPTED, exit_code, sentence

app = typer.Typer(
    name="cwm",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=DOCUMENTED,
    help="Code world models: a language model writes a game as code, planners play on it, an arena compares them.",
)
app.add_typer(games.app, name="games")
app.add_typer(trajectories.app, name="trajectories")
app.add_typer(llm.app, name="llm")
app.command("synthesize")(synthesize.command)
app.command("resume")(synthesize.resume)
app.command("evaluate")(evaluate.command)
app.command("play")(play.command)
app.command("arena")(tournament.command)
app.command("demo")(demo.command)
app.command("report")(report.command)
app.command("export")(export.command)
app.command("benchmark")(benchmark.command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; every foreseeable error is one sentence on stderr.

    Args:
        arguments: words after `cwm`; None for those of this process.

    Returns:
        The exit code, see `arena.errors`.
    """
    try:
        code = app(args=arguments, prog_name="cwm", standalone_mode=False)
    except typer.TyperException as error:
        return _refused(error)
    except Exception as error:
        found = exit_code(error)
        if found is None:
            raise
        _say(sentence(error))
        return found
    if code == EXIT_INTERRUPTED:
        _say("interrupted.")
    return int(code or 0)


def main() -> None:
    """Runs the command of this process."""
    sys.exit(run())


def _refused(error: typer.TyperException) -> int:
    """Explains a command line that does not parse; a group without a command shows its help instead."""
    context = getattr(error, "ctx", None)
    message = error.format_message()
    if not message and context is not None:
        console.notices.print(context.get_help())
        return error.exit_code
    place = "cwm" if context is None else context.command_path
    _say(f"{message.rstrip('.')}; `{place} --help` shows what it takes.")
    return error.exit_code


def _say(text: str) -> None:
    console.notices.print(f"error: {text}")
