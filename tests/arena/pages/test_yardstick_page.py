"""Tables and the page of a language model on the yardstick."""

from dataclasses import replace

from arena.pages import yardstick_page
from arena.yardstick import games
from arena.yardstick.line import Attempt, GameResult, YardstickLine
from arena.yardstick.standings import Placed, standings

EXACT = Attempt(0, "exact", "", 1.0, None, 300, 2, 1234, 400, True, 0.5, 7.0)
NOTHING = Attempt(1, "no program", "no answer held a program, calls used up", calls=50, cost=0.25)
MISSING = Attempt(0, "not recorded", "there is no recording of it")


def line(*results: GameResult) -> YardstickLine:
    return YardstickLine(
        games.load().version, "2.0.2", "careful", "<b>model</b>", "2026-01-02", {"llm": "x:y"}, results
    )


def result(game: str, *attempts: Attempt, hidden: bool = False, group: str = "unprepared") -> GameResult:
    return GameResult(game, group, hidden, "", attempts)


SEVERAL = line(
    result("mnk", EXACT, replace(EXACT, seed=1, transition=0.99996), group="paper"),
    result("pig", EXACT, NOTHING),
    result("oh_hell", replace(EXACT, inference=0.5), NOTHING, hidden=True),
    result("nim", MISSING, replace(MISSING, seed=1)),
)


def test_a_game_is_one_row_and_no_accuracy_rounds_up_to_one() -> None:
    table = yardstick_page.games_table(SEVERAL)
    assert table.columns[:5] == ["game", "exact", "transitions", "inference", "calls"]
    assert [row[:5] for row in table.rows] == [
        ("mnk", "2 of 2, 1.00 [0.34, 1.00]", "0.9999", "–", "2.0"),
        ("pig", "1 of 2, 0.50 [0.09, 0.91]", "0.5000", "–", "26.0 [0.0, 330.9]"),
        ("oh_hell", "1 of 2, 0.50 [0.09, 0.91]", "0.5000", "0.2500", "26.0 [0.0, 330.9]"),
        ("nim", "not recorded", "–", "–", "–"),
    ]
    assert table.rows[0][5:] == ("~2,468", "~800", "1", "14")
    assert [row[0] for row in yardstick_page.games_table(SEVERAL, "paper").rows] == ["mnk"]


def test_one_synthesis_is_exact_or_not() -> None:
    table = yardstick_page.games_table(line(result("pig", EXACT), result("nim", NOTHING)))
    assert [row[:5] for row in table.rows] == [("pig", "yes", "1.0000", "–", "2"), ("nim", "no", "0.0000", "–", "50")]


def test_reasons_are_told_once_for_all_syntheses_that_share_them() -> None:
    table = yardstick_page.reasons_table(SEVERAL)
    assert table is not None
    assert table.rows == [
        ("pig", "s1", "no program", NOTHING.reason),
        ("oh_hell", "s1", "no program", NOTHING.reason),
        ("nim", "s0, s1", "not recorded", MISSING.reason),
    ]
    assert yardstick_page.reasons_table(line(result("pig", EXACT))) is None


def test_other_versions_are_in_a_table_of_their_own() -> None:
    placed = standings([SEVERAL, replace(SEVERAL, yardstick=0)])
    first, second = yardstick_page.standing_tables(placed)
    assert (first.rows[0][:4]) == ("–", "<b>model</b> (careful): 3 of 31 games", "2026-01-02", "3")
    assert second.title == "Not compared: other games"
    assert second.rows[0][1] == "<b>model</b> (careful): version 0 of the yardstick, this is 2"


def test_the_page_escapes_names_and_says_what_is_missing() -> None:
    page = yardstick_page.render(SEVERAL, standings([SEVERAL]))
    assert "<b>model</b>" not in page
    assert "&lt;b&gt;model&lt;/b&gt; (careful) wrote exact models in 4 of 6 syntheses" in page
    assert "2 syntheses are missing" in page
    assert NOTHING.reason in page
    nothing: list[Placed] = []
    assert "nothing is known yet" in yardstick_page.render(line(result("nim", MISSING)), nothing)
