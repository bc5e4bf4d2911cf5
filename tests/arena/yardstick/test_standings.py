"""Standings: who is ranked, who is listed apart, and why."""

from dataclasses import replace

from arena.yardstick import tasks
from arena.yardstick.line import Attempt, GameResult, State, YardstickLine
from arena.yardstick.standings import shipped, standings

TASKS = tasks.load()


def whole(model: str, right: int, calls: int = 1, row: str = "") -> YardstickLine:
    """Returns a line of all games, of which the first are exact."""
    games = []
    for number, task in enumerate(TASKS):
        state: State = "exact" if number < right else "not exact"
        accuracy = 1.0 if number < right else 0.5
        fixed = task.fixed(0)
        one = Attempt(0, state, "", accuracy, None, 100, calls, learn=fixed["learn"] or "", held_out=fixed["held_out"])
        games.append(GameResult(task.name, task.group, task.hidden, str(fixed["rule_book"]), (one,)))
    return YardstickLine(TASKS[0].version, "2.0.2", row, model, "2026-01-02", {}, tuple(games))


def test_the_lines_that_ship_can_be_read() -> None:
    assert isinstance(shipped(), list)


def test_more_exact_games_stand_higher_then_fewer_calls_and_equal_ones_share_a_place() -> None:
    lines = [whole("worse", 20), whole("slow", 30, calls=9), whole("best", 30), whole("twin", 30)]
    placed = standings([*lines, lines[0]])
    assert [(one.line.model, one.place) for one in placed] == [("best", 1), ("twin", 1), ("slow", 3), ("worse", 4)]
    assert all(one.comparable and not one.apart for one in placed)


def test_a_line_that_lacks_games_is_not_ranked() -> None:
    full = whole("full", 1)
    some = replace(full, model="some", games=full.games[:3])
    open_end = replace(
        full, model="open", games=(replace(full.games[0], syntheses=(Attempt(0, "unfinished"),)), *full.games[1:])
    )
    nothing = replace(full, games=(replace(full.games[0], syntheses=(Attempt(0, "not recorded"),)),))
    placed = standings([some, full, open_end, nothing])
    assert [(one.line.model, one.place, one.apart) for one in placed] == [
        ("full", 1, ""),
        ("some", None, "3 of 31 games"),
        ("open", None, "30 of 31 games"),
    ]


def test_other_versions_and_other_games_are_listed_apart() -> None:
    full = whole("full", 31)
    first = full.games[0]
    other = replace(first, syntheses=(replace(first.syntheses[0], learn="0" * 64),))
    strange = [
        replace(full, model="old", yardstick=0),
        replace(full, model="told", games=(replace(first, rule_book="0" * 64), *full.games[1:])),
        replace(full, model="seen", games=(other, *full.games[1:])),
        replace(full, model="more", games=(*full.games, replace(first, game="chess"))),
        replace(full, model="seed", games=(replace(first, syntheses=(Attempt(7, "exact"),)), *full.games[1:])),
    ]
    placed = standings([*strange, full])
    assert (placed[0].line.model, placed[0].place) == ("full", 1)
    assert {one.line.model: one.apart for one in placed[1:]} == {
        "old": "version 0 of the yardstick, this is 2",
        "told": "another rule book in tic_tac_toe than version 2 fixes",
        "seen": "other games to learn from in tic_tac_toe than version 2 fixes",
        "more": "chess is no game of version 2",
        "seed": "seed 7, which version 2 does not fix",
    }
    assert not any(one.comparable or one.place for one in placed[1:])
