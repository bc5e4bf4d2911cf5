"""The paper's tables of returns, ours below its rows."""

from arena.papers.overcooked.published.cells import TABLES
from arena.papers.overcooked.tables import beside
from arena.papers.overcooked.tables.returns import TrainedCross


def cross(game="overcooked-v2-cramped-room", returns=((20.0, 4.0), (8.0, 40.0))):
    figures = {"deliveries": (1.5, 0.25), "wrong": (0.0, 0.0), "button": (0.0, None)}
    return TrainedCross(game, "sp", "reduced", 3_000_000, ("sp-s0", "sp-s1"), returns, figures)


def test_tables_are_the_papers():
    assert [(table.name, len(table.rows)) for table in TABLES] == [("table-1", 10), ("table-2", 24)]
    cells = {(row.layout, row.method): (row.sp, row.xp) for table in TABLES for row in table.rows}
    assert cells["cramped-room", "sp"] == ((259, 1), (257, 2))
    assert cells["counter-circuit", "sa"] == ((184, 15), (140, 38))
    assert cells["demo-cook-simple", "sa"] == ((170, 16), (112, 50))
    best = {}
    for (layout, _), (_, xp) in cells.items():
        best[layout] = max(best.get(layout, -999), xp[0])
    challenges = [row.layout for row in TABLES[1].rows][::4]
    assert [best[layout] for layout in challenges] == [46, 6, 6, 23, 112, 62]


def test_self_play_is_the_diagonal_and_cross_play_the_rest():
    assert cross().sp == (30.0, 10.0)
    assert cross().xp == (6.0, 2.0)
    alone = TrainedCross("overcooked-v2-cramped-room", "sp", "paper", 64, ("sp-s0",), ((20.0,),), {})
    assert (alone.sp, alone.xp) == ((20.0, 0.0), None)


def test_ours_stand_below_the_papers_row_and_what_was_not_trained_says_so():
    one, _, further = beside.sheets([cross(), cross("overcooked-v2-cramped-room,sight=2")])
    assert [row[:6] for row in one.rows[:3]] == [
        ("cramped-room", "sp", "paper", "10", "259 ± 1", "257 ± 2"),
        ("cramped-room", "sp", "ours, reduced, 3M steps", "2", "30 ± 10", "6 ± 2"),
        ("cramped-room", "sa", "paper", "10", "259 ± 0", "255 ± 6"),
    ]
    assert one.rows[1][6:] == ("1.5 | 0.2", "0.0 | 0.0", "0.0 | –")
    assert one.rows[3][2:6] == ("ours", "", "not trained", "not trained")
    assert [row[0] for row in further.rows] == ["cramped-room,sight=2"]
    assert [sheet.title for sheet in beside.sheets([], ["table-2"])] == ["Four methods on the challenges (Table 2)"]
