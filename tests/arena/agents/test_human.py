import io
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from rich.console import Console

from arena.agents.api import RandomAgent, ScriptedAgent
from arena.agents.human import HumanAgent, HumanQuitError, Manners, chosen
from arena.language_players import notation
from arena.matches.match import play


def person(lines: list[str], manners: Manners | None = None) -> tuple[HumanAgent, Callable[[], str]]:
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

    return HumanAgent(ask, screen, manners=manners), shown


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("red", "red"), ("RED", "red"), ("2", "blue"), ("0", None), ("4", None), ("", None), ("green", None)],
)
def test_answer_is_an_action_or_its_number(answer: str, expected: str | None) -> None:
    assert chosen(answer, ("red", "blue", "end")) == expected


@pytest.mark.parametrize(("answer", "expected"), [("#2", "observe 3"), ("2", None), ("#3", None), ("#0", None)])
def test_a_bare_number_is_no_place_in_a_list_where_it_could_be_a_card(answer: str, expected: str | None) -> None:
    assert chosen(answer, ("observe 1", "observe 3")) == expected


def yokai_reader(text: str, legal: Sequence[str]) -> str | None:
    return notation.read(text, legal, notation.own_notations("yokai-9c-2p"))


@pytest.mark.parametrize(
    "written", ["move 2 2,3", "move 2 to (2,3)", "Move card 2 to row 2, column 3", "MOVE 2 TO 2,3"]
)
def test_a_person_writes_moves_as_a_language_model_does(written: str) -> None:
    assert chosen(written, ("move 2 to 2,3", "move 2 to 3,2", "move 3 to 2,3"), yokai_reader) == "move 2 to 2,3"


def test_a_cell_alone_means_the_one_move_that_has_it() -> None:
    assert chosen("1,2", ("x(0,1)", "x(1,2)"), notation.read) == "x(1,2)"


def test_a_move_is_played_when_it_is_confirmed_and_taken_back_otherwise(pair: Any) -> None:
    agent, shown = person(["red", "no", "blue", ""], Manners(confirm=True))
    found = play(pair, [agent, RandomAgent()], 0, [1, 2])
    assert found.actions[0] == (0, "blue")
    assert "Taken back." in shown()


def test_quitting_asks_first_where_moves_are_confirmed(pair: Any) -> None:
    agent, _ = person(["quit", "n", "red", "red"], Manners(confirm=True))
    assert play(pair, [agent, RandomAgent()], 0, [1, 2]).actions[0] == (0, "red")
    leaving, _ = person(["quit", "y"], Manners(confirm=True))
    with pytest.raises(HumanQuitError):
        play(pair, [leaving, RandomAgent()], 0, [1, 2])


def test_words_answer_without_a_move(pair: Any) -> None:
    agent, shown = person(["rules", "score", "help", "moves", "red"], Manners(rules=lambda: "Say red or blue."))
    play(pair, [agent, RandomAgent()], 0, [1, 2])
    assert "Say red or blue." in shown()
    assert "A return lies between -2 and 4" in shown()
    assert "#1 red   #2 blue  #3 end" in shown()


def test_what_others_did_is_told_where_everybody_sees_it(pair: Any) -> None:
    actions: list[tuple[int, str]] = []
    agent, shown = person(["red"], Manners(public=lambda: actions))
    first = ScriptedAgent(["blue"])
    play(pair, [first, agent], 0, [1, 2], on_action=lambda player, action: actions.append((player, action)))
    assert "player 0: blue" in shown()


def test_action_whose_text_is_a_number_wins_over_the_number_of_an_action() -> None:
    assert chosen("2", ("2", "1")) == "2"


def test_person_is_asked_until_an_action_is_legal(high_card: Any) -> None:
    agent, shown = person(["sing", "?", "again", "1"])
    found = play(high_card, [agent, RandomAgent()], 0, [1, 2])
    assert [action for player, action in found.actions if player == 0] == ["again", "keep"]
    assert "'sing' is not legal here" in shown()
    assert "  #1 keep   #2 again" in shown()


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
