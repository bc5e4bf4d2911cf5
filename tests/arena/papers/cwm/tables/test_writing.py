import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from arena.papers.cwm.published.layout import Column
from arena.papers.cwm.published.numbers import Published
from arena.papers.cwm.tables import page, writing
from arena.papers.cwm.tables.cells import Cell, Measured, PaperTable, Row, number

WIN = Column("random", "win", "random.win")
CALLS = Column("", "calls", "calls", 1)
READ = Published("read", 0.97, "0.97", "0.97")
LOST = Published("unreadable", None, "", "o/5")


def sheet(*cells: Cell) -> PaperTable:
    columns = tuple(cell.column for cell in cells)
    return PaperTable(
        "table-99", "Table 99: a_b & 5 %", ("game",), columns, (Row(("{Odd} game_1",), cells),), ("One note.",)
    )


ONE = sheet(
    Cell(WIN, Measured("measured", 0.5, low=0.25, high=0.75, n=4, unit="matches", sources=("x/y#z",)), READ),
    Cell(CALLS, Measured("not played"), LOST),
)


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.99999, 4, "0.9999"),
        (1.0, 4, "1.0000"),
        (1 - 1e-12, 5, "1.00000"),
        (-0.001, 2, "0.00"),
        (-115.618, 2, "-115.62"),
        (0.997, 2, "1.00"),
        (3.0, 0, "3"),
    ],
)
def test_number_is_shown_with_its_decimals(value: float, digits: int, shown: str) -> None:
    assert number(value, digits) == shown


def test_csv_has_a_line_a_cell() -> None:
    rows = list(csv.DictReader(io.StringIO(writing.csv_text(ONE))))
    assert [row["column"] for row in rows] == ["random.win", "calls"]
    assert rows[0] | {"value": "0.5", "low": "0.25", "high": "0.75", "n": "4", "sources": "x/y#z"} == rows[0]
    assert rows[1] | {"state": "not played", "value": "", "paper_state": "unreadable", "paper_copy": "o/5"} == rows[1]


def test_latex_escapes_what_latex_would_take_for_its_own() -> None:
    text = writing.latex(ONE)
    assert r"\{Odd\} game\_1 & 0.50 {[}0.25, 0.75{]} (0.97) & not played ({[}unreadable{]}) \\" in text
    assert r"Table 99: a\_b \& 5 \%" in text


def test_latex_rows_have_as_many_cells_as_columns(rebuilt: Path) -> None:
    for path in sorted((rebuilt / "tables").glob("*.tex")):
        text = path.read_text(encoding="utf-8")
        (columns,) = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", text)
        body = text.split(r"\hline", 1)[1].rsplit(r"\hline", 1)[0]
        for line in (line for line in body.splitlines() if line.endswith(r" \\")):
            spans = sum(int(width) - 1 for width in re.findall(r"\\multicolumn\{(\d+)\}", line))
            assert len(re.split(r"(?<!\\)&", line)) + spans == len(columns), (path.name, line)
        bare = re.sub(r"\\[{}]", "", text)
        assert bare.count("{") == bare.count("}")
        assert not re.search(r"(?<!\\)[_%#]", bare)


def test_terminal_shows_the_papers_number_under_ours() -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(writing.terminal_table(ONE))
    shown = console.export_text()
    for part in ("0.50 [0.25, 0.75]", "(0.97)", "not played", "([unreadable])", "One note."):
        assert part in shown


def test_table_with_many_columns_has_a_row_for_each_opponent(rebuilt: Path, tmp_path: Path, cwm: Any) -> None:
    text = cwm("paper", "--run", rebuilt, "--tables", "7", "--games", "tic_tac_toe", "--output", tmp_path).out
    assert "against" in text
    assert text.count("│ random") == 2
    assert "…" not in text


class Balance(HTMLParser):
    """Checks that every element that is opened is closed, in order, and notes what is loaded from elsewhere."""

    empty = frozenset({"meta", "br", "rect", "polyline", "circle", "line"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert not {"src", "href"} & {name for name, value in attrs if value and not value.startswith("#")}
        if tag not in self.empty:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.empty:
            assert self.open.pop() == tag


def test_page_is_whole_and_says_in_words_what_would_be_a_picture_of_one_dot(rebuilt: Path) -> None:
    text = (rebuilt / "report.html").read_text(encoding="utf-8")
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert "script" not in parser.seen
    # Each synthesis was one call: its curve has one point.
    assert "figure" not in parser.seen
    assert "Tic-tac-toe, call 1: 1.0000" in text
    assert "svg" in parser.seen


def test_a_curve_of_several_calls_is_drawn() -> None:
    column = Column("", "transition", "transition.test", 4)
    rows = tuple(
        Row(("Tic-tac-toe", "tree", str(call)), (Cell(column, Measured("measured", 0.5 * call), None),))
        for call in (1, 2)
    )
    parser = Balance()
    parser.feed(page.section([PaperTable("figure-6", "Figure 6: x", ("game", "way", "calls"), (column,), rows)]))
    assert parser.seen.count("figure") == 1
    assert parser.seen.count("circle") == 2


@pytest.mark.parametrize(
    ("column", "ours", "paper", "expected"),
    [
        (WIN, Measured("measured", 0.5, low=0.25, high=0.98), 0.97, "agrees"),
        (WIN, Measured("measured", 0.93), 0.97, "agrees"),
        (WIN, Measured("measured", 0.5, low=0.25, high=0.75), 0.97, "worse"),
        (WIN, Measured("measured", 1.0, low=0.99, high=1.0), 0.5, "better"),
        (Column("", "loss", "random.loss"), Measured("measured", 1.0), 0.5, "worse"),
        (Column("", "draw", "random.draw"), Measured("measured", 1.0), 0.5, "differs"),
        (CALLS, Measured("measured", 1.0), 2.0, "better"),
        (CALLS, Measured("measured", 2.04), 2.0, "agrees"),
        (CALLS, Measured("measured", 2.0), None, "no number to compare"),
        (Column("", "drawn", "llm.draws", 0), Measured("measured", 3.0), 95.0, "no number to compare"),
        (CALLS, Measured("not played"), 2.0, "not run"),
    ],
)
def test_a_cell_is_compared_with_the_paper_by_intervals(
    column: Column, ours: Measured, paper: float | None, expected: str
) -> None:
    said = LOST if paper is None else Published("read", paper, f"{paper}", f"{paper}")
    assert page.verdict(Cell(column, ours, said)) == expected


def test_the_page_begins_with_the_scoreboard_and_hides_what_was_not_run() -> None:
    idle = sheet(Cell(WIN, Measured("not trained"), READ))
    text = page.section([ONE, PaperTable("table-18", "Table 18: PPO", ("game",), idle.columns, idle.rows)])
    assert "0 of 1 cells that can be compared agree with the paper; 0 are better, 1 worse." in text
    assert text.index("Scoreboard") < text.index('id="table-99"')
    assert "Not run (not trained): <code>cwm paper --tables 18</code>" in text
    assert "[unreadable]" not in text


def test_markup_in_a_name_stays_text() -> None:
    made = sheet(Cell(WIN, Measured("measured", None, "<b>bold</b>"), None))
    assert "<b>bold" not in page.section([made])
