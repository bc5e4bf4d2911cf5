"""The page that lies in the folder of played games, of a tournament or of a comparison."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from cwm.storage.files import write_whole

FILE: Final = "report.html"
NOTHING: Final = "no finished game is there to show: no page was written"


def write(folder: Path, games: int, render: Callable[[], str]) -> str:
    """Writes the page of a folder, unless no game is finished; an old one is replaced whole or not at all.

    Args:
        folder: where the games are kept.
        games: finished ones that the page shows.
        render: gives the page.

    Returns:
        What a command says of it.

    Raises:
        OSError: the place cannot be written.
    """
    if not games:
        return NOTHING
    page = folder / FILE
    write_whole(page, render())
    return f"report: {page}"
