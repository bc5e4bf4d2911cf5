import pytest

from arena.papers.cwm.published.layout import Column
from arena.papers.cwm.published.numbers import Published
from arena.papers.cwm.tables.cells import Cell, Measured, PaperTable, Row
from arena.papers.cwm.tables.drawing import BAR_WIDTH, HEIGHT, TOP, WIDTH, bars, panels


def row(labels: tuple[str, ...], group: str = "", paper: tuple[float | None, ...] = (), **values: float | None) -> Row:
    cells = []
    for index, (name, value) in enumerate(values.items()):
        measured = Measured("not played") if value is None else Measured("measured", value)
        known = paper[index] if paper else None
        published = None if known is None else Published("read", known, f"{known:.2f}", f"{known:.2f}")
        cells.append(Cell(Column(group, name.replace("_", " "), name), measured, published))
    return Row(labels, tuple(cells))


def sheet(*rows: Row, labels: tuple[str, ...] = ("game", "goes", "against")) -> PaperTable:
    return PaperTable("figure-0", "Figure 0: x", labels, tuple(cell.column for cell in rows[0].cells), rows)


def test_outcomes_fill_the_bar() -> None:
    (bar,) = bars(sheet(row(("Quadranto", "first", "random"), win=0.25, draw=0.5, loss=0.25)))
    assert [(kind, x, width) for kind, x, width, _ in bar.parts] == [
        ("win", 0.0, BAR_WIDTH / 4),
        ("draw", BAR_WIDTH / 4, BAR_WIDTH / 2),
        ("loss", BAR_WIDTH * 3 / 4, BAR_WIDTH / 4),
    ]
    assert bar.words == "win 0.25, draw 0.50, loss 0.25"


def test_matches_that_were_not_played_have_no_bar() -> None:
    assert bars(sheet(row(("Quadranto", "first", "random"), win=None, draw=None, loss=None))) == []


def test_the_papers_bar_stands_under_ours_where_it_can_be_read() -> None:
    ours = {"win": 0.25, "draw": 0.5, "loss": 0.25}
    whole = row(("Quadranto", "first", "random"), paper=(0.2, 0.3, 0.5), **ours)
    torn = row(("Quadranto", "second", "random"), paper=(0.2, None, 0.5), **ours)
    assert [(bar.label, bar.words) for bar in bars(sheet(whole, torn))] == [
        ("Quadranto, first, random", "win 0.25, draw 0.50, loss 0.25"),
        ("Quadranto, first, random, the paper", "win 0.20, draw 0.30, loss 0.50"),
        ("Quadranto, second, random", "win 0.25, draw 0.50, loss 0.25"),
    ]


def test_payoffs_share_the_scale_of_their_game() -> None:
    quarters = {"lowest": -2.0, "lower_quarter": 0.0, "median": 1.0, "upper_quarter": 3.0, "highest": 8.0}
    found = bars(
        sheet(
            row(("Leduc poker", "first", "random"), us=1.0, them=-1.0, **quarters),
            row(("Leduc poker", "second", "random"), us=1.0, them=-1.0, **quarters),
        )
    )
    assert [bar.ticks for bar in found] == [(0.0, 0.3 * BAR_WIDTH, BAR_WIDTH)] * 2
    ((_, x, width, title),) = found[0].parts
    assert (x, width) == (0.2 * BAR_WIDTH, 0.3 * BAR_WIDTH)
    assert title.startswith("half of the matches paid 0 to 3")


def test_payoffs_that_are_all_the_same_are_drawn() -> None:
    quarters = dict.fromkeys(("lowest", "lower_quarter", "median", "upper_quarter", "highest"), 0.0)
    (bar,) = bars(sheet(row(("Bargaining", "first", "random"), us=0.0, them=0.0, **quarters)))
    assert bar.parts[0][1:3] == (0.0, 1.0)


def test_payoffs_that_were_not_played_have_no_bar() -> None:
    assert bars(sheet(row(("Bargaining, closed deck", "first", "random"), us=None, them=None))) == []


def test_means_without_a_distribution_are_drawn_from_zero() -> None:
    found = bars(sheet(row(("Bargaining", "first", "random"), "with value function", us=8.0, them=2.0)))
    assert [(bar.label, bar.parts[0][1:3], bar.ticks) for bar in found] == [
        ("Bargaining, first, random, with value function", (0.0, BAR_WIDTH), (BAR_WIDTH / 4,))
    ]


@pytest.mark.parametrize("several", [False, True])
def test_curves_go_from_left_to_right_and_better_is_higher(several: bool) -> None:
    rows = [
        row(("Quadranto", "0", str(call)), "transition accuracy", test=share) for call, share in ((1, 0.5), (2, 1.0))
    ]
    rows += [row(("Quadranto", "1", "1"), "transition accuracy", test=0.0)] if several else []
    (panel,) = panels(sheet(*rows, labels=("game", "synthesis", "calls")))
    assert (panel.title, panel.longest) == ("transition accuracy: test", 2)
    assert [line.name for line in panel.lines] == (["Quadranto, 0", "Quadranto, 1"] if several else ["Quadranto"])
    (first, second) = panel.lines[0].marks
    assert first[0] < second[0] <= WIDTH
    assert HEIGHT > first[1] > second[1] == TOP
