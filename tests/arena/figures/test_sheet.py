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
    assert [column.justify for column in SHEET.rich().columns] == ["left", "right", "right"]
