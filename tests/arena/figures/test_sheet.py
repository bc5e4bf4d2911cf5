import io

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from arena.figures import layout
from arena.figures.sheet import Sheet

SHEET = Sheet("A & B", ["name"], ["R", "won"], [("a_<b>", "1.5 ± 0.1", None), ("c", 2, 0.25)], "5 % of [all]")


def test_csv_has_headings_and_values_and_nothing_without_columns() -> None:
    assert SHEET.csv() == "name,R,won\na_<b>,1.5 ± 0.1,\nc,2,0.25\n"
    assert Sheet.of_records([{"x": 1, "y": None}]).csv() == "x,y\n1,\n"
    assert Sheet.of_records([]).csv() == ""


def test_markdown_has_a_line_a_row() -> None:
    assert SHEET.markdown().splitlines()[:3] == [
        "| name | R | won |",
        "| --- | --- | --- |",
        "| a_<b> | 1.5 ± 0.1 | None |",
    ]


def test_html_escapes_every_cell() -> None:
    html = SHEET.html()
    assert html.startswith("<table>\n<caption>A &amp; B</caption>\n<tr><th>name</th><th>R</th><th>won</th></tr>\n")
    assert '<tr><td>a_&lt;b&gt;</td><td class="number">1.5 ± 0.1</td>' in html


def test_latex_escapes_its_own_signs_and_spans_groups() -> None:
    text = SHEET.latex("one", ["both", "both"])
    assert r"\caption{A \& B. 5 \% of {[}all{]}}" in text
    assert r" & \multicolumn{2}{c}{both} \\" in text
    assert r"\begin{tabular}{lrr}" in text


def test_numbers_stand_to_the_right_on_the_terminal() -> None:
    [_, first, second] = [line for line in lines_of(SHEET, 80) if "│" in line or "┃" in line]
    assert first == "│ a_<b> │ 1.5 ± 0.1 │ None │"
    assert second == "│ c     │         2 │ 0.25 │"


WIDE = Sheet(
    "Wide",
    ["lineup", "agent"],
    ["games", "R", "WEE"],
    [("one-agent + other-agent", "one-agent", 12, "1.50 ± 0.10", "0.62 [0.31, 0.86]")],
    names=["one-agent", "other-agent"],
)


def lines_of(sheet: Sheet, width: int) -> list[str]:
    screen = Console(file=io.StringIO(), width=width, highlight=False, markup=False, soft_wrap=True)
    screen.print(sheet)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue().splitlines()


def rows_of(sheet: Sheet, width: int) -> list[str]:
    return [line for line in lines_of(sheet, width) if line.startswith(("│", "┃"))]


def test_a_table_that_fits_is_one_line_a_row() -> None:
    assert rows_of(WIDE, 90)[1:] == [
        "│ one-agent + other-agent │ one-agent │    12 │ 1.50 ± 0.10 │ 0.62 [0.31, 0.86] │"
    ]


def test_texts_break_between_words_before_anything_else_gives_way() -> None:
    assert rows_of(WIDE, 74)[1:] == [
        "│ one-agent +      │ one-agent │    12 │ 1.50 ± 0.10 │ 0.62 [0.31, 0.86] │",
        "│ other-agent      │           │       │             │                   │",
    ]


def test_letters_stand_for_names_that_do_not_fit_and_are_told_below() -> None:
    assert rows_of(WIDE, 60)[-1] == "│ A + B  │ A     │    12 │ 1.50 ± 0.10 │ 0.62 [0.31, 0.86] │"
    assert lines_of(WIDE, 60)[-2:] == ["A = one-agent", "B = other-agent"]


def test_numbers_go_below_each_other_with_the_texts_before_each_part() -> None:
    shown = rows_of(WIDE, 48)
    assert [line.split() for line in shown if "12" in line or "0.62" in line] == [
        ["│", "A", "+", "B", "│", "A", "│", "12", "│", "1.50", "±", "0.10", "│"],
        ["│", "A", "+", "B", "│", "A", "│", "0.62", "[0.31,", "0.86]", "│"],
    ]


def test_a_cell_that_no_part_holds_is_a_line_of_its_own() -> None:
    sheet = Sheet("", ["name"], ["hash"], [("x" * 30, "0" * 64)])
    assert lines_of(sheet, 50) == [f"name: {'x' * 30}", f"hash: {'0' * 64}"]


def test_letters_go_on_after_z() -> None:
    assert [layout.letter(number) for number in (0, 25, 26, 27, 52, 701, 702)] == [
        "A", "Z", "AA", "AB", "BA", "ZZ", "AAA",
    ]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(
        st.from_regex(r"[a-z]{1,20}(:[a-z0-9-]{1,20})?", fullmatch=True), min_size=1, max_size=4, unique=True
    ),
    columns=st.integers(1, 9),
    width=st.integers(40, 140),
    digits=st.integers(1, 9),
)
def test_no_number_and_no_name_is_cut_at_any_width(names: list[str], columns: int, width: int, digits: int) -> None:
    numbers = [f"{10**digits + number}.25 ± {number}.5" for number in range(columns)]
    sheet = Sheet("", ["lineup"], [f"metric {number}" for number in range(columns)], names=names)
    sheet.add(" + ".join(names), *numbers)
    text = "\n".join(lines_of(sheet, width))
    assert "…" not in text
    for told in [*names, *numbers]:
        assert told in text
