"""Options that several commands share, with one wording each."""

from pathlib import Path
from typing import Annotated

import typer

Seed = Annotated[int, typer.Option("--seed", help="Everything random derives from it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Processes that work side by side; changes no result.")]
RunFolder = Annotated[Path | None, typer.Option("--run", help="Folder of the run record; made if it is not there.")]
ModelSpec = Annotated[
    str | None,
    typer.Option(
        "--llm",
        help="Language model: openai:MODEL, google:MODEL, spool:DIR, replay:NAME or scripted:FILE. "
        "Default: the recorded completions that ship with the project.",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", help="Address of a server that speaks OpenAI's API, e.g. http://localhost:11434/v1."),
]
