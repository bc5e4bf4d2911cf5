"""Options that several commands share, with one wording each."""

import inspect
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import typer

from arena.usage import UsageError
from cwm.llm.caps import Caps
from cwm.llm.provider_table import FORMS

GAME: Final = (
    "A game: its id (`cwm games list` shows them), cwm:PLACE for a synthesised one (a run, a model or a file of "
    "`cwm export`), python:FILE:NAME for one of your own."
)
Seed = Annotated[int, typer.Option("--seed", help="Everything random derives from it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Processes that work side by side; changes no result.")]
RunFolder = Annotated[Path | None, typer.Option("--run", help="Folder of the run record; made if it is not there.")]
ModelSpec = Annotated[
    str | None,
    typer.Option(
        "--llm",
        help=f"Language model: {FORMS}. Default: the recorded completions that ship with the project.",
    ),
]
Record = Annotated[Path | None, typer.Option("--record", help="Add every answer to this recording.")]
MaxCalls = Annotated[int | None, typer.Option("--max-calls", min=0, help="Cap on calls.")]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", min=0, help="Cap on output tokens.")]
MaxMoney = Annotated[float | None, typer.Option("--max-money", min=0, help="Cap on cost; needs both prices.")]
MaxMinutes = Annotated[float | None, typer.Option("--max-minutes", min=0, help="Cap on wall-clock time of the calls.")]
PriceIn = Annotated[float | None, typer.Option("--price-in", help="Price of a million input tokens.")]
PriceOut = Annotated[float | None, typer.Option("--price-out", help="Price of a million output tokens.")]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", help="Address of a server that speaks OpenAI's API, e.g. http://localhost:11434/v1."),
]
CAPS: Final = {
    "max_calls": ("calls", MaxCalls),
    "max_tokens": ("tokens", MaxTokens),
    "max_money": ("money", MaxMoney),
    "max_minutes": ("minutes", MaxMinutes),
    "price_in": ("price_in", PriceIn),
    "price_out": ("price_out", PriceOut),
}
"""What each option of caps and prices sets, and the option, in the order of the help."""
NO_CAPS: Final = Caps()
MOST_GAMES: Final = 1_000_000
"""Deals or games of a lineup that one command plays: more would never end."""
MOST_SIMULATIONS: Final = 1_000_000_000
NOT_KEPT: Final = "nothing is kept: an interrupted command begins anew; --run FOLDER keeps every finished game"
"""What commands say that play games and were given no folder."""

Returned = TypeVar("Returned")


def takes_caps(command: Callable[..., Returned]) -> Callable[..., Returned]:
    """Gives a command the options of caps and prices, where its own parameter `caps` stands, and that what they say."""

    @wraps(command)
    def with_options(*given: Any, **named: Any) -> Returned:
        limits = {field: named.pop(option) for option, (field, _) in CAPS.items() if option in named}
        return command(*given, **named, caps=Caps(**limits))

    signature = inspect.signature(command)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        options = [parameter.replace(name=name, annotation=kind, default=None) for name, (_, kind) in CAPS.items()]
        parameters += options if parameter.name == "caps" else [parameter]
    with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return with_options


def require_folders(*files: Path | None) -> None:
    """Refuses files that are written at the end and cannot be, before the work that they are to hold is done.

    Args:
        files: as they were given; None for one that was not asked for.

    Raises:
        UsageError: the folder of one is missing, or there is a folder in its place.
        OSError: nothing can be written in the folder of one; the error names the file as it was given.
    """
    for file in filter(None, files):
        if not file.parent.is_dir():
            raise UsageError(f"There is no folder {file.parent} for {file.name}; make it first.")
        if file.is_dir():
            raise UsageError(f"{file} is a folder; give the name of a file in it.")
        try:
            with tempfile.TemporaryFile(dir=file.parent):
                pass
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(file)) from error
