"""The pages of the documentation site: those of the repository where they lie, and those that the code writes.

MkDocs calls `on_files` (see mkdocs.yml beside this file). A page's source is named by its place in the repository, so
that links between pages lead to the same page on a forge and in the site.
"""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import typer
from mkdocs.structure.files import File, Files

from arena import cli, face
from arena.exports import film as rendering
from arena.exports import film_files, film_sources
from arena.exports.film_files import Format, Target

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final[Mapping[str, str]] = {
    "arena/docs/pages/index.md": "index.html",
    "arena/docs/pages/tutorial.md": "tutorial.html",
    "cwm/TRAJECTORIES.md": "trajectories.html",
    "arena/docs/AGENTS.md": "agents.html",
    "arena/docs/SERVE.md": "serve.html",
    "arena/docs/PAGES.md": "pages.html",
    "arena/docs/LANGUAGE_MODELS.md": "language_models.html",
    "arena/docs/SCAFFOLDS.md": "scaffolds.html",
    "arena/docs/SIMULTANEOUS.md": "simultaneous.html",
    "arena/docs/INTEROP.md": "interop.html",
    "arena/docs/DECISIONS.md": "decisions.html",
    "arena/docs/YARDSTICK.md": "yardstick.html",
    "arena/docs/TWINS.md": "twins.html",
    "arena/docs/LIBRARY.md": "library.html",
    "arena/RESULTS.md": "results.html",
    "arena/papers/cwm/RESULTS.md": "results_cwm.html",
    "arena/papers/yokai/RESULTS.md": "results_yokai.html",
    "arena/papers/hanabi/RESULTS.md": "results_hanabi.html",
    "arena/papers/overcooked/RESULTS.md": "results_overcooked.html",
    "arena/papers/posggym/RESULTS.md": "results_posggym.html",
    "arena/docs/MEASUREMENTS.md": "measurements.html",
    "CONTRIBUTING.md": "contributing.html",
    "arena/docs/PACKAGES.md": "packages.html",
    "SECURITY.md": "security.html",
    "CHANGELOG.md": "changes.html",
}
"""Written pages by their places in the repository, and their addresses in the site."""
GAME: Final = "yokai-9c-2p"
SHOWN: Final = {
    "play": "A game in the browser: `cwm serve`",
    "watch": "A stored game, and what its planner considered",
    "run": "A synthesis, followed while it grows",
    "report": "The page that a run ends with",
}
"""What the gallery shows of stored pictures, by how their names begin."""
DRAWN: Final = {0: "as it was dealt", 8: "after eight actions"}
"""Frames of the gallery's game."""


def on_files(files: Files, config: Any) -> Files:
    """Returns the files of the site: the theme's, the written pages and those that the code writes."""
    for file in list(files.documentation_pages()):
        files.remove(file)
    for place, address in PAGES.items():
        files.append(_at(File.generated(config, place, abs_src_path=str(ROOT / place)), address))
    for address, text in {"commands": commands(), "names": names(), "gallery": gallery()}.items():
        files.append(_at(File.generated(config, f"arena/docs/pages/{address}.md", content=text), f"{address}.html"))
    for picture in pictures():
        place = f"arena/docs/pages/{picture.name}"
        files.append(_at(File.generated(config, place, abs_src_path=str(picture)), picture.name))
    for name, content in drawings().items():
        files.append(_at(File.generated(config, f"arena/docs/pages/{name}", content=content), name))
    return files


def _at(file: File, address: str) -> File:
    file.dest_uri = address
    return file


def commands() -> str:
    """Returns the page of all commands, from their help."""
    root = typer.main.get_command(cli.app)
    return "\n".join(["# Commands", "", *_described("cwm", root, None)])


def _described(name: str, command: Any, above: Any) -> Iterator[str]:
    context = typer.Context(command, info_name=name, parent=above)
    yield from (f"{'##' if above else '## Options of'} `{context.command_path}`", "", _escaped(command.help or ""), "")
    inner = getattr(command, "commands", {})
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from ("```", usage, "```", "")
    rows = [record for option in command.get_params(context) if (record := option.get_help_record(context))]
    if rows:
        yield from ("| option | what it does |", "|---|---|")
        yield from (f"| <code>{_escaped(written)}</code> | {_escaped(said)} |" for written, said in rows)
        yield ""
    for below in inner:
        yield from _described(below, inner[below], context)


def _escaped(text: str) -> str:
    """Returns a text in which nothing is taken for Markdown or HTML."""
    return " ".join(text.split()).translate({ord(character): f"&#{ord(character)};" for character in "\\`*_{}[]<>#&|"})


def names() -> str:
    """Returns the page of the public face, which mkdocstrings fills from the docstrings."""
    parts = ["# Every name of the library", "", "What `import cwm` gives. All else is internal and may move.", ""]
    for name, item in sorted(face.NAMES.items(), key=lambda pair: pair[0].lower()):
        parts += [f"::: {item.__module__}.{item.__qualname__}", "    options:", f"      heading: cwm.{name}", ""]
    return "\n".join(parts)


def gallery() -> str:
    """Returns the page of drawings."""
    parts = ["# Gallery", "", f"A random game of `{GAME}`: the true colours above, what one player sees below.", ""]
    for step, said in DRAWN.items():
        parts += [f"![Yōkai, {said}](yokai-{step}.svg)", "", f"*{said.capitalize()}.*", ""]
    parts += ["[The whole game, played](yokai.html): `cwm games render " + GAME + "`.", ""]
    for name, said in SHOWN.items():
        parts += [f"## {said}", "", *(f"![{said}]({picture.name})\n" for picture in pictures(name))]
    return "\n".join(parts)


def pictures(name: str = "") -> list[Path]:
    """Returns the stored pictures of pages (`python -m tests.draw_pages`) whose names begin so, wide ones first."""
    found = (place for place in (ROOT / "arena" / "docs" / "pages").iterdir() if place.suffix in (".png", ".webp"))
    return sorted((place for place in found if place.stem.startswith(name)), key=lambda place: place.name)


def drawings() -> dict[str, str]:
    """Returns what the gallery shows by file name, drawn anew."""
    with tempfile.TemporaryDirectory() as folder:
        film = rendering.film(*film_sources.load(GAME, 0, 0), None, None)
        film_files.write(film, Target(Format.HTML, out=Path(folder, "yokai.html")))
        for step in DRAWN:
            film_files.write(film, Target(Format.SVG, step, Path(folder, f"yokai-{step}.svg")))
        return {file.name: file.read_text(encoding="utf-8") for file in sorted(Path(folder).iterdir())}
