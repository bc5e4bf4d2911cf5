"""The command `cwm`: the composition root, where games, planners, models and the arena meet."""

import sys

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
from arena.errors import exit_code

app = typer.Typer(
    name="cwm",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
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


def main() -> None:
    """Runs the command line; every foreseeable error is one sentence on stderr and a non-zero exit code."""
    try:
        app()
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        console.notices.print(f"error: {error}", markup=False)
        sys.exit(code)
