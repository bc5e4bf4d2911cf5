import pytest

from arena.papers.cwm.published import numbers
from arena.papers.cwm.published.layout import TABLES
from arena.papers.cwm.published.numbers import UNREADABLE


@pytest.mark.parametrize(
    ("table", "game", "column", "value"),
    [
        (1, "gin_rummy", "transition.test", 0.7881),
        (1, "gin_rummy", "inference.test", 0.5189),
        (1, "hand_of_war", "inference.test", 0.9357),
        (1, "leduc_poker", "calls", 4.4),
        (2, "bargaining", "inference.test", 0.67359),
        (2, "gin_rummy", "inference.train", 0.06215),
        (2, "hand_of_war", "calls", 475.4),
        (3, "backgammon", "actions", 1352),
        (3, "gin_rummy", "information", 655),
        (4, "backgammon", "transition.test", 0.99932),
        (4, "army5x5a", "calls", 5.2),
        (5, "connect_four", "calls", 3.2),
        (6, "gin_rummy", "calls", 813.4),
        (6, "quadranto", "inference.online", 0.9876),
    ],
)
def test_number_that_stands_whole_is_read(table: int, game: str, column: str, value: float) -> None:
    found = numbers.cell(table, game, None, column)
    assert (found.state, found.value) == ("read", value)


@pytest.mark.parametrize(
    ("table", "game", "seat", "column", "words"),
    [
        (7, "backgammon", 0, "llm.win_forfeits", "100/100"),
        (7, "backgammon", 0, "true.loss", "0.92"),
        (7, "tic_tac_toe", 0, "llm.draws", "95"),
        (7, "army5x5a", 0, "true.draw", "0.39"),
        (8, "bargaining", 0, "llm.us", "8.90"),
        (8, "gin_rummy", 0, "true.us", "-115.62"),
        (9, "hand_of_war", 1, "random.loss", "0.62"),
        (10, "bargaining", 0, "random.them", "2.72"),
        (11, "hand_of_war", 0, "llm.loss_forfeits", "0/49"),
        (12, "gin_rummy", 1, "llm.them", "63.96"),
        (13, "quadranto", 0, "llm.win", "0.69"),
        (14, "bargaining", 0, "random.them", "0.00"),
        (18, "army5x5a", 0, "llm.win_forfeits", "90/94"),
        (19, "quadranto", 0, "planner.draw", "0.28"),
        (20, "bargaining", 0, "true.them", "4.76"),
        (21, "hand_of_war", 0, "true.loss", "0.69"),
        (22, "bargaining", 0, "random.us", "7.87"),
        (23, "hand_of_war", 0, "planner.win", "1.00"),
        (24, "bargaining", 0, "random.them", "3.81"),
    ],
)
def test_number_of_a_seat_is_read(table: int, game: str, seat: int, column: str, words: str) -> None:
    found = numbers.cell(table, game, seat, column)
    assert (found.state, found.words) == ("read", words)


@pytest.mark.parametrize(
    ("table", "game", "seat", "column", "value"),
    [
        (7, "backgammon", 1, "true.win", 0.07),
        (7, "mnk", 1, "llm.win", 0.93),
        (8, "leduc_poker", 0, "random.us", 0.86),
        (12, "gin_rummy", 0, "true.them", 114.39),
        (13, "quadranto", 1, "true.draw", 0.78),
        (19, "quadranto", 1, "true.loss", 0.58),
    ],
)
def test_number_that_lost_its_point_counts_where_the_row_confirms_it(
    table: int, game: str, seat: int, column: str, value: float
) -> None:
    found = numbers.cell(table, game, seat, column)
    assert (found.state, found.value) == ("confirmed", value)
    assert found.shown.endswith("†")


@pytest.mark.parametrize(
    ("table", "game", "seat", "column"),
    [
        (7, "backgammon", 1, "llm.draw"),  # 0000: a share and a count that ran together
        (7, "tic_tac_toe", 0, "llm.win_forfeits"),  # (o/5): a letter
        (8, "bargaining", 1, "llm.us"),  # 880, with nothing in the row to confirm it
        (8, "leduc_poker", 1, "true.us"),  # 024 beside <024
        (8, "gin_rummy", 1, "llm.us"),  # 19300 beside -123.00
        (9, "quadranto", 0, "llm.draw"),  # 0.0l: a letter
        (9, "hand_of_war", 0, "llm.win"),
        (10, "gin_rummy", 1, "random.them"),  # 4.9, in a table with two decimals
        (12, "gin_rummy", 1, "llm.us"),  # 6396 beside 63.96, whose opposite it is not
        (14, "leduc_poker", 0, "llm.us"),  # the row is lost
        (18, "army5x5a", 1, "llm.loss_forfeits"),  # (0/3) beside 0.05 of 100 matches
        (21, "quadranto", 1, "true.loss"),  # 000, 085 and 012 are not the whole
        (24, "leduc_poker", 1, "planner.us"),
    ],
)
def test_number_that_cannot_be_read_is_marked(table: int, game: str, seat: int, column: str) -> None:
    found = numbers.cell(table, game, seat, column)
    assert (found.state, found.value, found.shown) == ("unreadable", None, UNREADABLE)


def test_size_that_the_paper_does_not_have_is_no_unreadable_one() -> None:
    assert numbers.cell(3, "mnk", None, "information").shown == "–"


def test_every_cell_of_every_table_has_an_answer() -> None:
    for table in TABLES:
        for game, seat in table.rows():
            for column in table.columns:
                found = numbers.cell(table.number, game, seat, column.key)
                assert found.state != "read" or found.words


def test_a_cell_that_is_no_part_of_a_table_is_refused() -> None:
    with pytest.raises(KeyError, match="no row for tic_tac_toe"):
        numbers.cell(1, "tic_tac_toe", None, "calls")
    with pytest.raises(KeyError):
        numbers.cell(1, "gin_rummy", None, "random.win")


def test_read_shares_of_a_row_are_a_whole() -> None:
    for table in (table for table in TABLES if table.kind == "outcomes"):
        for game, seat in table.rows():
            for opponent in dict.fromkeys(column.key.partition(".")[0] for column in table.columns):
                cells = [numbers.cell(table.number, game, seat, f"{opponent}.{end}") for end in ("win", "loss", "draw")]
                values = [cell.value for cell in cells if cell.value is not None]
                if len(values) == 3:
                    assert sum(values) == pytest.approx(1.0, abs=0.0101), (table.number, game, seat, opponent)


def test_read_payoffs_of_zero_sum_games_are_opposite() -> None:
    for number in (8, 10, 12):
        for game in ("leduc_poker", "gin_rummy"):
            for seat in (0, 1):
                for opponent in ("llm", "true", "random"):
                    us, them = (numbers.cell(number, game, seat, f"{opponent}.{side}").value for side in ("us", "them"))
                    if us is not None and them is not None:
                        assert us == -them


def test_every_number_comes_from_the_copy() -> None:
    for table in TABLES:
        for game, seat in table.rows():
            for column in table.columns:
                found = numbers.cell(table.number, game, seat, column.key)
                if found.state in ("read", "confirmed") and found.value is not None:
                    digits = "".join(sign for sign in found.words if sign.isdecimal())
                    assert "".join(sign for sign in found.copy if sign.isdecimal()) == digits
