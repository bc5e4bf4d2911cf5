import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from arena.agents.api import RandomAgent
from arena.agents.human import HumanAgent, HumanQuitError, chosen
from arena.matches.match import play


def person(lines: list[str]) -> tuple[HumanAgent, Callable[[], str]]:
    screen = Console(file=io.StringIO(), width=100)
    typed = iter(lines)

    def ask(prompt: str) -> str:
        line = next(typed, None)
        if line is None:
            raise EOFError
        if line == "^C":
            raise KeyboardInterrupt
        return line

    def shown() -> str:
        assert isinstance(screen.file, io.StringIO)
        return screen.file.getvalue()

    return HumanAgent(ask, screen), shown


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("red", "red"), ("RED", "red"), ("2", "blue"), ("0", None), ("4", None), ("", None), ("green", None)],
)
def test_answer_is_an_action_or_its_number(answer: str, expected: str | None) -> None:
    assert chosen(answer, ("red", "blue", "end")) == expected


def test_action_whose_text_is_a_number_wins_over_the_number_of_an_action() -> None:
    assert chosen("2", ("2", "1")) == "2"


def test_person_is_asked_until_an_action_is_legal(high_card: Any) -> None:
    agent, shown = person(["sing", "?", "again", "1"])
    found = play(high_card, [agent, RandomAgent()], 0, [1, 2])
    assert [action for player, action in found.actions if player == 0] == ["again", "keep"]
    assert "'sing' is not legal here" in shown()
    assert "   2  again" in shown()


def test_person_sees_the_games_drawing_of_their_own_view(pair: Any) -> None:
    agent, shown = person(["red"])
    play(pair, [agent, RandomAgent()], 0, [1, 2])
    assert "table of 0:" in shown()
    assert "You are player 0 (seat 0) in pair." in shown()


def test_person_sees_fields_where_the_game_draws_nothing(high_card: Any) -> None:
    agent, shown = person(["keep"])
    found = play(high_card, [agent, RandomAgent()], 0, [1, 2])
    assert f"own card: {found.actions[0][1]}" in shown()


@pytest.mark.parametrize("line", ["^C", "q", None])
def test_person_may_leave_at_any_time(high_card: Any, line: str | None) -> None:
    agent, _ = person([] if line is None else [line])
    with pytest.raises(HumanQuitError, match="not scored"):
        play(high_card, [agent, RandomAgent()], 0, [1, 2])


def test_markup_in_a_game_is_shown_as_it_is(pair: Any) -> None:
    pair.render = lambda state, player=None: "[red]not red[/red]"
    agent, shown = person(["red"])
    play(pair, [agent, RandomAgent()], 0, [1, 2])
    assert "[red]not red[/red]" in shown()
