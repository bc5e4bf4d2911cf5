"""Where drawn games are written, and what is left alone there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from arena.exports import film_formats
from arena.exports.film import Film
from arena.usage import UsageError
from cwm.storage.files import write_whole


class Format(StrEnum):
    """What a drawn game can become."""

    HTML = "html"
    SVG = "svg"
    ANIMATED_SVG = "animated-svg"
    PNG = "png"
    APNG = "apng"

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Endings that a file of this format may have; the first is the default."""
        endings = {"animated-svg": (".svg",), "apng": (".png", ".apng"), "html": (".html", ".htm")}
        return endings.get(self.value, (f".{self.value}",))

    @property
    def needs_png(self) -> bool:
        return self in (Format.PNG, Format.APNG)

    @property
    def is_stills(self) -> bool:
        """Whether every frame is a file of its own."""
        return self in (Format.SVG, Format.PNG)


@dataclass(frozen=True)
class Target:
    """What is to be written.

    Attributes:
        form: the format.
        step: number of the only frame wanted, for formats with one file a frame.
        out: file or folder; None: named after the game.
        force: replace what is there.
    """

    form: Format
    step: int | None = None
    out: Path | None = None
    force: bool = False

    @property
    def is_folder(self) -> bool:
        return self.form.is_stills and self.step is None

    def path(self, name: str) -> Path:
        """Returns the file or folder for a game of that name."""
        if self.out is not None:
            return self.out
        if self.is_folder:
            return Path(f"{name}-frames")
        return Path(f"{name}{'' if self.step is None else f'-{self.step:03}'}{self.form.suffixes[0]}")


def write(film: Film, target: Target) -> Path:
    """Writes a drawn game; a file is written whole or not at all.

    Returns:
        The file or folder.

    Raises:
        UsageError: options contradict each other, there is no such step, something is there already, or what PNG
            files need is not installed.
        OSError: the place cannot be written.
    """
    path = target.path(film.name)
    _check(film, target, path)
    if target.is_folder:
        _write_frames(film, target.form, path)
    elif target.step is not None:
        write_whole(path, _frame(film, target.form, target.step))
    else:
        write_whole(path, _whole(film, target.form))
    return path


def _check(film: Film, target: Target, path: Path) -> None:
    form, step = target.form, target.step
    if step is not None and not form.is_stills:
        raise UsageError(
            f"The option `step` draws one frame, but {form} holds the whole game; use the format svg or png."
        )
    if step is not None and not 0 <= step < len(film.frames):
        raise UsageError(f"This game of {film.name} has steps 0 to {len(film.frames) - 1}, not {step}.")
    if not target.is_folder and path.suffix not in form.suffixes:
        endings = " or ".join(form.suffixes)
        raise UsageError(f"{path} ends in {path.suffix or 'nothing'}, but the format {form} writes {endings} files.")
    if path.exists() and path.is_dir() != target.is_folder:
        kind, given = ("a folder", "a file") if target.is_folder else ("a file", "a folder")
        raise UsageError(f"{path} is {given}, but {kind} is to be written; choose another place.")
    taken = any(_frames_in(path, form)) if target.is_folder else path.exists()
    if taken and not target.force:
        what = "holds frames" if target.is_folder else "is there"
        raise UsageError(f"{path} {what} already; give another place, or the option `force` to replace what is there.")
    if form.needs_png:
        film_formats.require_png()


def _frames_in(folder: Path, form: Format) -> Iterator[Path]:
    """Yields the frames that an earlier call wrote."""
    pattern = re.compile(rf"step-\d{{3,}}\.{form}")
    return (file for file in (folder.iterdir() if folder.is_dir() else ()) if pattern.fullmatch(file.name))


def _write_frames(film: Film, form: Format, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    written = set()
    for number in range(len(film.frames)):
        file = folder / f"step-{number:03}.{form}"
        write_whole(file, _frame(film, form, number))
        written.add(file)
    for old in sorted(set(_frames_in(folder, form)) - written):
        old.unlink()


def _frame(film: Film, form: Format, number: int) -> bytes:
    picture = film_formats.svg(film, number)
    return film_formats.png(picture) if form is Format.PNG else picture.encode()


def _whole(film: Film, form: Format) -> bytes:
    if form is Format.HTML:
        return film_formats.page(film).encode()
    if form is Format.ANIMATED_SVG:
        return film_formats.animated_svg(film).encode()
    return film_formats.apng(list(film_formats.pngs(film)))
