"""How a table is laid out in a terminal of any width: nothing is cut, no number is broken.

The first of these that fits is taken: the table as it is; headings and texts wrapped between words; letters for names,
told below; the numbers in several parts below each other, in their order, each with the texts before it; the same with
letters; one line a cell.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

_BETWEEN: Final = 3
"""What a column takes beside its cells: a space on either side and a border."""
_BORDER: Final = 1
_JOIN: Final = r" \+ |: "
"""Between the names of a cell: `a + b`, `a + b: a`."""


@dataclass(frozen=True)
class Cells:
    """A table as text.

    Attributes:
        texts: headings of the first columns, which stand to the left and repeat in every part.
        numbers: headings of the others, which stand to the right and never break where there is a way round it.
        rows: cells of both, in order; a cell may have several lines.
        names: names in texts and headings that letters may stand for.
        section: rows between two lines, 0 for none.
    """

    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: tuple[str, ...] = ()
    section: int = 0

    @property
    def headings(self) -> tuple[str, ...]:
        """All headings."""
        return (*self.texts, *self.numbers)

    def column(self, index: int) -> list[str]:
        """Returns the cells of a column."""
        return [row[index] for row in self.rows]


def parts(cells: Cells, width: int) -> Iterator[RenderableType]:
    """Yields the table in as many parts as it needs, then what its letters mean.

    Args:
        cells: of the table.
        width: columns of the terminal.
    """
    short = _with_letters(cells)
    whole = _natural(cells)
    lettered = short is not cells and cells.names
    if _total(whole) <= width:
        yield _table(cells, range(len(whole)), whole)
        return
    if (found := _wrapped(cells, width)) is not None:
        yield _table(cells, range(len(found)), found)
        return
    if lettered and (found := _wrapped(short, width)) is not None:
        yield _table(short, range(len(found)), found)
        yield _legend(cells)
        return
    for candidate in (cells, short) if lettered else (cells,):
        stacked = _stacked(candidate, width)
        if stacked is not None:
            yield from stacked
            if candidate is not cells:
                yield _legend(cells)
            return
    yield _lines(cells)


def _natural(cells: Cells) -> list[int]:
    return [
        max(map(_widest_line, [heading, *cells.column(index)]), default=0)
        for index, heading in enumerate(cells.headings)
    ]


def _wrapped(cells: Cells, width: int) -> list[int] | None:
    """Returns widths of one part with words wrapped, None if it does not fit."""
    least = [*_least_texts(cells), *_least_numbers(cells)]
    return _widened(least, _natural(cells), width, len(cells.texts)) if _total(least) <= width else None


def _stacked(cells: Cells, width: int) -> list[Table] | None:
    """Returns the numbers in as few parts as fit, None if some column is too wide for any."""
    texts, numbers = _least_texts(cells), _least_numbers(cells)
    room = width - _BORDER - sum(size + _BETWEEN for size in texts)
    if not numbers or max(numbers) + _BETWEEN > room or 2 * _total(texts) > width + _total([]):
        return None
    natural = _natural(cells)
    made: list[Table] = []
    begun = 0
    while begun < len(numbers):
        end, used = begun, 0
        while end < len(numbers) and used + numbers[end] + _BETWEEN <= room:
            used += numbers[end] + _BETWEEN
            end += 1
        chosen = [*range(len(texts)), *range(len(texts) + begun, len(texts) + end)]
        sizes = _widened(texts + numbers[begun:end], [natural[index] for index in chosen], width, len(texts))
        made.append(_table(cells, chosen, sizes))
        begun = end
    return made


def _least_texts(cells: Cells) -> list[int]:
    return [
        max(map(_widest_word, [heading, *cells.column(index)]), default=0) for index, heading in enumerate(cells.texts)
    ]


def _least_numbers(cells: Cells) -> list[int]:
    first = len(cells.texts)
    return [
        max(_widest_word(heading), *map(_widest_piece, cells.column(first + index)), 0)
        for index, heading in enumerate(cells.numbers)
    ]


def _widest_piece(text: str) -> int:
    """Returns what must stay together: a number with its interval; of counts by kind, which begin with a word, each."""
    return _widest_word(text) if text[:1].isalpha() else _widest_line(text)


def _widened(least: Sequence[int], natural: Sequence[int], width: int, texts: int) -> list[int]:
    """Gives what is left of the width to the columns that lack least, texts first: one long text breaks, not all."""
    sizes = list(least)
    spare = width - _total(sizes)
    for group in (range(texts), range(texts, len(sizes))):
        for index in sorted(group, key=natural.__getitem__):
            more = min(spare, natural[index] - sizes[index])
            sizes[index] += more
            spare -= more
    return sizes


def _table(cells: Cells, chosen: Sequence[int], sizes: Sequence[int]) -> Table:
    table = Table()
    for index, size in zip(chosen, sizes, strict=True):
        justify = "left" if index < len(cells.texts) else "right"
        # Text objects: a name in square brackets is no markup.
        table.add_column(Text(cells.headings[index]), justify=justify, width=size, overflow="fold")  # type: ignore[arg-type]
    for number, row in enumerate(cells.rows, 1):
        end = bool(cells.section) and number % cells.section == 0
        table.add_row(*(Text(row[index]) for index in chosen), end_section=end)
    return table


def _lines(cells: Cells) -> Text:
    """Returns one line a cell: the terminal breaks those that are longer than it is wide."""
    blocks = []
    for row in cells.rows:
        named = zip(cells.headings, row, strict=True)
        blocks.append("\n".join(f"{name or '-'}: {' '.join(cell.split())}" for name, cell in named if cell))
    return Text("\n\n".join(blocks))


def letter(number: int) -> str:
    """Returns A to Z, then AA and on, for 0, 1, …"""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def _with_letters(cells: Cells) -> Cells:
    letters = {name: letter(number) for number, name in enumerate(cells.names)}
    if not letters:
        return cells
    names = "|".join(map(re.escape, sorted(letters, key=len, reverse=True)))
    pattern = re.compile(rf"(?:(?<=^)|(?<= \+ )|(?<=: ))({names})(?=$|{_JOIN}| \()")

    def short(text: str) -> str:
        return pattern.sub(lambda found: letters[found[1]], text)

    texts = len(cells.texts)
    rows = tuple((*map(short, row[:texts]), *row[texts:]) for row in cells.rows)
    return replace(cells, numbers=tuple(map(short, cells.numbers)), rows=rows)


def _legend(cells: Cells) -> Text:
    """Returns what the letters of the names that occur mean; an agent has one letter in all tables."""
    texts = [*cells.numbers, *(cell for row in cells.rows for cell in row[: len(cells.texts)])]
    told = [
        f"{letter(number)} = {name}"
        for number, name in enumerate(cells.names)
        if any(name in re.split(rf"{_JOIN}| \(", text) for text in texts)
    ]
    return Text("\n".join(told))


def _total(sizes: Sequence[int]) -> int:
    return sum(size + _BETWEEN for size in sizes) + _BORDER


def _widest_line(text: str) -> int:
    return max(map(cell_len, text.splitlines()), default=0)


def _widest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)
