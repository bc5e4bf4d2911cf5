"""This project's own source, which programs of a language model are compared with."""

from pathlib import Path
from typing import Final

from cwm.quality.similarity import source_files

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("arena", "cwm", "games", "search")


def files() -> list[tuple[str, str]]:
    """Returns (name, text) of every module, names relative to the folder of the packages."""
    return source_files([ROOT / package for package in PACKAGES], ROOT)
