"""Other words for prompts: templates that stand in the place of those of the same name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

import jinja2

from cwm.interface.templates import BEFORE, PACKAGE, SUFFIX, WordingError, names

FOLDER: Final = "wordings"
"""Of the package `prompts`: holds a folder for each wording that ships."""


@dataclass(frozen=True)
class Wording:
    """Templates that are worded otherwise, held whole: a run that is resumed asks the same, whatever became of a file.

    Attributes:
        name: of the wording; "" for the usual words.
        templates: texts by template name.
    """

    name: str = ""
    templates: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Names and texts, as `templates.render` takes them."""
        return tuple(self.templates.items())

    def to_json(self) -> dict[str, Any]:
        """Returns the wording as JSON."""
        return {"name": self.name, "templates": dict(self.templates)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Wording":
        """Reads what `to_json` wrote.

        Raises:
            WordingError: a template is of no known name, or is none.
        """
        wording = cls(str(data["name"]), {str(name): str(text) for name, text in data["templates"].items()})
        wording.check()
        return wording

    def check(self, further: Iterable[str] = ()) -> None:
        """Checks the templates.

        Args:
            further: names of templates that a game brings with it.

        Raises:
            WordingError: a template is of no known name, or is none.
        """
        known = {*names(), *further, BEFORE}
        if not self.templates and self.name:
            raise WordingError(f"The wording {self.name} holds no template (a file NAME{SUFFIX}).")
        for name, text in self.templates.items():
            if name not in known:
                raise WordingError(
                    f"The wording {self.name} has a template {name}{SUFFIX}, which no prompt uses; known: "
                    f"{', '.join(sorted(known))}."
                )
            try:
                jinja2.Environment().parse(text)
            except jinja2.TemplateSyntaxError as error:
                raise WordingError(
                    f"The template {name}{SUFFIX} of the wording {self.name} cannot be read, line {error.lineno}: "
                    f"{error.message}."
                ) from None


USUAL: Final = Wording()


def shipped() -> list[str]:
    """Returns the names of the wordings that ship."""
    return sorted(entry.name for entry in _shipped().iterdir() if entry.is_dir() and not entry.name.startswith("_"))


def load(name_or_folder: str) -> Wording:
    """Returns a wording that ships, or one of the user's own.

    Args:
        name_or_folder: a name of `shipped`, or a folder with files `NAME.j2`.

    Raises:
        WordingError: there is no such wording, or it cannot be used.
    """
    wording = read(name_or_folder)
    wording.check()
    return wording


def read(name_or_folder: str) -> Wording:
    """Returns a wording whose templates nobody has checked yet, else as `load`.

    Raises:
        WordingError: there is no such wording, or a file cannot be read.
    """
    folder: Traversable = Path(name_or_folder)
    if name_or_folder in shipped():
        folder = _shipped() / name_or_folder
    elif not folder.is_dir():
        raise WordingError(
            f"There is no wording {name_or_folder!r}: give one of {', '.join(shipped())}, or a folder with templates."
        )
    found = {}
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(SUFFIX):
            try:
                found[file.name.removesuffix(SUFFIX)] = file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise WordingError(f"The template {file.name} of the wording cannot be read: {error}.") from None
    return Wording(Path(name_or_folder).name, found)


def _shipped() -> Traversable:
    return resources.files(PACKAGE) / FOLDER
