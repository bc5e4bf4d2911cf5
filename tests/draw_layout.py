"""Draws the packages with their imports and writes a row a package, from the code: `python -m tests.draw_layout`."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.test_layout import ORDER, ROOT, imported, modules, package_of, tree

DRAWING: Final = ROOT / "arena" / "docs" / "PACKAGES.md"
TABLE: Final = ROOT / "CONTRIBUTING.md"
BEGIN: Final = "<!-- one row a package: written by `python -m tests.draw_layout` from the docstrings -->"
END: Final = "<!-- end of the rows -->"
INTRODUCTION: Final = """# Packages and their imports

Drawn from the code by `python -m tests.draw_layout`; a test says when it is out of date. An arrow leads from a package
to one that it imports; one that follows from others is left out. Everything leads down. What a package holds stands in
[CONTRIBUTING.md](../../CONTRIBUTING.md). Beside these, `games` imports nothing of ours, `search` and `cwm` the `Game`
protocol (the learners batched games, too), and `arena` all of them.
"""


def arrows(top: str) -> set[tuple[str, str]]:
    """Returns (package, imported package) within `cwm` or `arena`."""
    found = set()
    for name, path in modules().items():
        if name.startswith(f"{top}."):
            for other in imported(path):
                ends = package_of(name), package_of(other) if other.startswith(f"{top}.") else None
                if ends[0] is not None and ends[1] is not None and ends[0] != ends[1]:
                    found.add((ends[0], ends[1]))
    return found


def needed(drawn: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns the arrows without those that a longer way replaces."""

    def reached(start: str, without: tuple[str, str]) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            here = waiting.pop()
            further = {end for begin, end in drawn if begin == here and (begin, end) != without} - seen
            seen |= further
            waiting += further
        return seen

    return sorted(arrow for arrow in drawn if arrow[1] not in reached(arrow[0], arrow))


def drawing() -> str:
    """Returns the page with a drawing of `cwm` and one of `arena`."""
    parts = [INTRODUCTION]
    for top, places in ORDER.items():
        # Names of Mermaid's own, such as `end`, are no names of packages; dots would be taken for links.
        lines = [f'  {_id(place)}["{place}"]' for place in reversed(places)]
        lines += [f"  {_id(begin)} --> {_id(end)}" for begin, end in needed(arrows(top))]
        parts.append("\n".join([f"## {top}", "", "```mermaid", "flowchart TB", *lines, "```", ""]))
    return "\n".join(parts)


def _id(place: str) -> str:
    return "p_" + place.strip("_").replace(".", "_")


def rows() -> Iterator[str]:
    """Yields the table: cwm and arena in their order; of games and search what says what it is."""
    yield "| package, lowest first | what it holds |"
    yield "|---|---|"
    for top in ("games", "search", "cwm", "arena"):
        if top in ORDER:
            names = [f"{top}.{place}" for place in ORDER[top]]
        else:
            names = [name for name, path in modules().items() if path.name == "__init__.py" and sentence(path)]
            names = [name for name in names if name == top or name.startswith(f"{top}.")]
        for name in names:
            path = modules()[name]
            place = path.parent if path.name == "__init__.py" else path
            yield f"| `{place.relative_to(ROOT)}` | {sentence(path)} |"


def sentence(path: Path) -> str:
    """Returns the first sentence of a module's docstring, on one line; empty if it has none."""
    return " ".join((ast.get_docstring(tree(path)) or "").split("\n\n")[0].split()).replace("|", "\\|")


def contributing() -> str:
    """Returns CONTRIBUTING.md with the rows as the code says them."""
    text = TABLE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([f"{before}{BEGIN}", *rows(), f"{END}{after}"])


def main() -> None:
    """Writes both."""
    DRAWING.write_text(drawing(), encoding="utf-8")
    TABLE.write_text(contributing(), encoding="utf-8")


if __name__ == "__main__":
    main()
