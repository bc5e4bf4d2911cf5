"""Drawn games as files: SVG, animated SVG, a page with a player, PNG, animated PNG."""

import importlib
import struct
import zlib
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources
from types import ModuleType
from typing import Final

from arena.exports.film import Film
from arena.figures import templates
from arena.usage import UsageError
from games.extras import install
from games.yokai.drawing import still

STEP_S: Final = 1.2
"""How long a frame is shown."""
LAST_S: Final = 4.0
"""How long the last frame is shown."""
BOARDS: Final = "".join(
    resources.files(__package__).joinpath(f"{part}.js").read_text(encoding="utf-8") for part in ("boards", "keys")
)
"""Script that lays out the parts of a frame on a page, and gives its player keys."""
_PNG: Final = b"\x89PNG\r\n\x1a\n"


def svg(film: Film, number: int) -> str:
    """Returns one frame as an SVG file."""
    return still(film.canvas, film.frames[number])


def animated_svg(film: Film, standalone: bool = True) -> str:
    """Returns a game as one SVG picture that plays itself over and over, without a script.

    Args:
        film: the game.
        standalone: name the XML namespace, which a file needs and a picture within a page does not.
    """
    canvas = film.canvas
    total = STEP_S * (len(film.frames) - 1) + LAST_S
    body = []
    for number, frame in enumerate(film.frames):
        hidden = ' display="none"' if number else ""
        body.append(f'<g class="frame"{hidden}>{_timing(number, len(film.frames), total)}{frame.body}</g>')
    namespace = 'xmlns="http://www.w3.org/2000/svg" ' if standalone else ""
    end = film.frames[-1]
    return (
        f'<svg {namespace}class="{canvas.name}" role="img" width="{canvas.width}" height="{canvas.height}" '
        f'viewBox="0 0 {canvas.width} {canvas.height}">\n'
        f"<title>{escape(film.name)}: {escape(end.title)}</title>\n<style>\n{canvas.style}</style>\n{canvas.backdrop}\n"
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _timing(number: int, frames: int, total: float) -> str:
    """Returns when a frame is shown, as a part of the whole."""
    if frames == 1:
        return ""
    begin, end = number * STEP_S / total, (number + 1) * STEP_S / total
    if number == 0:
        values, times = "inline;none", f"0;{end:.5f}"
    elif number == frames - 1:
        values, times = "none;inline", f"0;{begin:.5f}"
    else:
        values, times = "none;inline;none", f"0;{begin:.5f};{end:.5f}"
    return (
        f'<animate attributeName="display" values="{values}" keyTimes="{times}" dur="{total:g}s" '
        'calcMode="discrete" repeatCount="indefinite"/>'
    )


def page(film: Film) -> str:
    """Returns a game as one HTML page that needs nothing else: buttons and keys play it, step by step."""
    return templates.page(
        "arena.exports",
        "film.html.j2",
        film=film,
        canvas=film.canvas,
        step_ms=round(STEP_S * 1000),
        boards=BOARDS,
    )


def png(picture: str) -> bytes:
    """Returns an SVG file as a PNG file.

    Raises:
        UsageError: resvg-py is not installed, or finds no font.
    """
    return bytes(_resvg().svg_to_bytes(svg_string=picture))


def pngs(film: Film) -> Iterator[bytes]:
    """Yields the frames as PNG files; see `png`."""
    for number in range(len(film.frames)):
        yield png(svg(film, number))


def require_png() -> None:
    """Checks that PNG files can be written.

    Raises:
        UsageError: resvg-py is not installed, or finds no font.
    """
    resvg = _resvg()
    empty = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'
    letter = '<text y="9" font-family="Verdana, sans-serif">R</text>'
    if resvg.svg_to_bytes(svg_string=empty.format("")) == resvg.svg_to_bytes(svg_string=empty.format(letter)):
        raise UsageError(
            "PNG files need a font, and this machine has none: install one, e.g. DejaVu Sans, or draw svg."
        )


def _resvg() -> ModuleType:
    try:
        return importlib.import_module("resvg_py")
    except ImportError as error:
        raise UsageError(
            f"PNG files need resvg-py, which is not installed: {install('images')}, or draw svg, animated-svg or html."
        ) from error


def apng(frames: Sequence[bytes]) -> bytes:
    """Joins PNG files of one size and kind into an animated PNG that plays over and over.

    Their compressed pixels are taken over as they are; programs without animation show the first frame.

    Raises:
        ValueError: they differ in size or kind.
    """
    heads = {dict(_chunks(frame))[b"IHDR"] for frame in frames}
    if len(heads) != 1:
        raise ValueError(f"expected PNG files of one size and kind, got {len(heads)} sizes or kinds")
    head = heads.pop()
    parts = [_PNG, _chunk(b"IHDR", head), _chunk(b"acTL", struct.pack(">II", len(frames), 0))]
    sequence = 0
    for number, frame in enumerate(frames):
        delay = round(1000 * (LAST_S if number == len(frames) - 1 else STEP_S))
        control = struct.pack(">I8sIIHHBB", sequence, head[:8], 0, 0, delay, 1000, 0, 0)
        parts.append(_chunk(b"fcTL", control))
        sequence += 1
        for kind, data in _chunks(frame):
            if kind == b"IDAT" and number == 0:
                parts.append(_chunk(kind, data))
            elif kind == b"IDAT":
                parts.append(_chunk(b"fdAT", struct.pack(">I", sequence) + data))
                sequence += 1
    return b"".join([*parts, _chunk(b"IEND", b"")])


def _chunks(png_file: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_PNG)
    while at < len(png_file):
        (length,) = struct.unpack_from(">I", png_file, at)
        yield png_file[at + 4 : at + 8], png_file[at + 8 : at + 8 + length]
        at += length + 12


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
