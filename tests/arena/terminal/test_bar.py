import io

import pytest
from rich.console import Console

from arena.terminal import console
from arena.terminal.bar import counted_bar, worded_bar


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    text = io.StringIO()
    monkeypatch.setattr(console, "notices", Console(file=text, force_terminal=True, width=100, color_system=None))
    return text


def test_a_counted_bar_shows_how_many_of_all_are_done(screen: io.StringIO) -> None:
    with counted_bar("games") as show:
        show(3, 12)
    assert "games" in screen.getvalue()
    assert " 3/12" in screen.getvalue()


def test_a_worded_bar_shows_the_words_that_it_was_told(screen: io.StringIO) -> None:
    with worded_bar("steps", "compiling") as show:
        show(5, 10, "5 of 10, 7 steps/s")
    assert "compiling" in screen.getvalue()
    assert "5 of 10, 7 steps/s" in screen.getvalue()


def test_a_bar_tells_no_time_that_is_not_known_or_not_left(screen: io.StringIO) -> None:
    with worded_bar("steps", "compiling") as show:
        show(10, 10, "10 of 10")
    assert "10 of 10" in screen.getvalue()
    assert "0:00:00" not in screen.getvalue()
    assert "-:--:--" not in screen.getvalue()
