"""Options that several commands share, with one wording each."""

import inspect
import tempfile
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import typer
from rich.text import Text

from arena.terminal import console
from arena.usage import UsageError
from cwm.functions.types import PriorsPlay
from cwm.llm.caps import Caps
from cwm.llm.line import ANSWER_S, Line, headers_of
from cwm.llm.provider_table import FORMS
from cwm.synthesis.config import LEARNING, POLICIES

GAME: Final = (
    "A game: its id (`cwm games list` shows them), cwm:PLACE for a synthesised one (a run, a model or a file of "
    "`cwm export`), python:FILE:NAME for one of your own."
)
Seed = Annotated[int, typer.Option("--seed", help="Everything random derives from it.")]
SeedGiven = Annotated[int | None, typer.Option("--seed", help="Everything random derives from it; default 0.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Decks = Annotated[
    list[str] | None,
    typer.Option(
        "--deck",
        help="Deal this deck instead of one by seed, in games that have decks by name: of Hanabi those of the Hanabi "
        "Learning Environment, hle:1,3 or hle:1-20 (hle-random: where it draws who begins), or all cards in order, "
        '"B5 B3 R3 ...". May be given again.',
    ),
]
KeepSearch = Annotated[
    bool,
    typer.Option(
        "--keep-search",
        help="Keep with every game what planners and policies considered (visits, values, beliefs), which `cwm serve` "
        "shows; changes no game.",
    ),
]
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
FasterVersions = Annotated[
    int | None,
    typer.Option(
        "--faster",
        min=0,
        help="Faster versions to ask for once the model passes its tests; one is kept only if it is right and "
        "faster. 0 for none.",
    ),
]
PromptTestsShown = Annotated[
    str | None,
    typer.Option(
        "--prompt-tests",
        help="Tests shown in prompts: telling (what shows most), per_action (the smallest of each kind of action), or "
        "paper (5 of each type, then 1). Default: telling.",
    ),
]
Refinement = Annotated[
    str | None,
    typer.Option(
        "--refinement",
        help=f"What refinements learn from earlier ones: {', '.join(POLICIES)}. rex: nothing. The others show other "
        "failed tests each time and tell what was tried; where a program comes again, or three refinements gain "
        "nothing, +fresh asks for a first program again, and +conversation goes on in a chat from the best one. "
        f"Default: {LEARNING}.",
    ),
]
DeckGiven = Annotated[
    str | None,
    typer.Option(
        "--deck",
        help="Hidden information: open (the states of the played games are shown and tested) or closed (of each "
        "game only what one player saw and did; played games of your own may lack their states). Default: open.",
    ),
]
InferenceAsked = Annotated[
    str | None,
    typer.Option(
        "--inference",
        help="Hidden information: what the program samples from what a player saw, the whole history or the "
        "present state. Default: history.",
    ),
]
RulesDetail = Annotated[
    str | None,
    typer.Option(
        "--rules-detail",
        help="Registered games: told by the rule book, as to people, or by the specification, which names every field "
        "and every action string. Default: book.",
    ),
]
VocabularyGiven = Annotated[
    str | None,
    typer.Option(
        "--vocabulary",
        help="With a rule book: list the names in the records (keys, words, action strings) beside it, or none. "
        "Default: list, without rules none.",
    ),
]
ChanceGiven = Annotated[
    str | None,
    typer.Option(
        "--chance",
        help="Where no rule says what may be dealt, as in bargaining: listed (the table is handed over) or drawn (the "
        "program works out what the rules allow). Default with a rule book: drawn.",
    ),
]
WordingGiven = Annotated[
    str | None,
    typer.Option(
        "--wording",
        metavar="NAME|FOLDER",
        help="Prompts in other words: hurried, reordered, reworded, unadvised, or a folder of your own with "
        "templates NAME.j2 (_before.j2 comes before every question). Default: the usual words.",
    ),
]
TournamentDeals = Annotated[
    int | None,
    typer.Option(
        "--tournament-deals",
        min=1,
        help="Deals a pairing of value functions, and of priors; default 6. With --tournament-budget at most so many, "
        "default 40.",
    ),
]
TournamentBudget = Annotated[
    float | None,
    typer.Option(
        "--tournament-budget",
        metavar="SECONDS",
        min=0.001,
        help="Seconds of each tournament that chooses among value functions, or priors: every four deals it looks, and "
        "stops when the leader is ahead of every other by twice the standard error; if it never is, the simplest of "
        "those that may be as good is kept.",
    ),
]
HowPriorsPlay = Annotated[
    PriorsPlay,
    typer.Option(
        "--priors-play",
        help="How planners use policy priors, in the tournament and with the finished model: in a tree, or, where "
        "players cooperate by conventions as in Hanabi, as the blueprint that everybody plays and that a search of one "
        "ply leaves where another action is better beyond doubt.",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        min=0.001,
        help="Seconds for one answer of a server; of an answer that comes in pieces, between two of them.",
    ),
]
Stream = Annotated[
    bool | None,
    typer.Option("--stream/--no-stream", help="Take answers in pieces; default, those of more than 4,096 tokens."),
]
Headers = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        metavar="NAME=VALUE",
        help="A further header of every request to a server, may be given several times; never stored or shown.",
    ),
]
Parallel = Annotated[
    int | None,
    typer.Option(
        "--parallel",
        min=1,
        max=64,
        help="Questions under way at once, at most: syntheses of a run, functions beside a model, "
        "players of several games. Changes no result.",
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option("--temperature", min=0, max=2, help="Sampling temperature; default, the provider's."),
]
Effort = Annotated[
    str | None,
    typer.Option(
        "--reasoning-effort", help="How long the model is to think, a word of the provider's, e.g. low, medium, high."
    ),
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
LINE: Final[dict[str, tuple[Any, Any]]] = {
    "timeout": (Timeout, ANSWER_S),
    "stream": (Stream, None),
    "header": (Headers, None),
    "parallel": (Parallel, None),
}
"""Options of the way to a server with their defaults, in the order of the help."""

Returned = TypeVar("Returned")


def takes_caps(command: Callable[..., Returned]) -> Callable[..., Returned]:
    """Gives a command the options of caps, prices and the way to a server where its own parameter `caps` stands.

    The parameter holds what they say.
    """

    @wraps(command)
    def with_options(*given: Any, **named: Any) -> Returned:
        limits = {field: named.pop(option) for option, (field, _) in CAPS.items() if option in named}
        way = {option: named.pop(option) for option in LINE if option in named}
        return command(*given, **named, caps=Caps(**limits, line=line(**way)))

    signature = inspect.signature(command)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        options = [parameter.replace(name=name, annotation=kind, default=None) for name, (_, kind) in CAPS.items()]
        options += [
            parameter.replace(name=name, annotation=kind, default=default) for name, (kind, default) in LINE.items()
        ]
        parameters += options if parameter.name == "caps" else [parameter]
    with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return with_options


def line(
    timeout: float = ANSWER_S,
    stream: bool | None = None,
    header: Sequence[str] | None = None,
    parallel: int | None = None,
) -> Line:
    """Returns how servers are asked; waits between attempts are told on stderr.

    Raises:
        ConfigurationError: a header is none.
    """
    return Line(timeout, stream, headers_of(header or ()), parallel, _told)


def _told(words: str) -> None:
    console.notices.print(Text(words, style="yellow"))


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
