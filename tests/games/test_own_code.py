"""Games of a user's own file, by `python:FILE:NAME`."""

import os
import re
import sys
from pathlib import Path

import pytest

from games import own_code, registry
from games.api import GameError, RendersText, ResamplesHistory
from games.contract.game import assert_game
from games.own_code import OwnCodeError

NIM = Path(__file__).parents[1] / "data" / "own" / "nim.py"


def copied(folder: Path, *changes: tuple[str, str]) -> Path:
    """Returns a copy of the game's file with some text replaced."""
    text = NIM.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = folder / "nim.py"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_is_a_game_that_keeps_the_contract() -> None:
    game = registry.make(f"python:{NIM}:Nim")
    assert_game(game, games=5)
    assert game.legal_actions(game.initial_state()) == ["take 1", "take 2", "take 3"]


def test_a_game_is_found_again_by_the_id_that_it_bears() -> None:
    game = registry.make(f"python:{NIM}:Nim")
    assert game.info.id == f"python:{NIM}:Nim"
    assert registry.make(game.info.id).info == game.info
    assert registry.rules(game.info.id).startswith("One heap of 7 matches.")


def test_optional_methods_are_told_as_before() -> None:
    game = registry.make(f"python:{NIM}:Nim")
    assert isinstance(game, RendersText)
    assert not isinstance(game, ResamplesHistory)


def test_a_game_takes_the_parameters_of_its_class_alone() -> None:
    assert registry.make(f"python:{NIM}:Nim", heap=2).legal_actions({"heap": 2, "player": 0}) == ["take 1", "take 2"]
    with pytest.raises(GameError, match=r"cannot be made with \['piles'\]: got an unexpected keyword argument 'piles'"):
        registry.make(f"python:{NIM}:Nim", piles=2)


def test_a_relative_file_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = copied(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert registry.absolute("python:nim.py:Nim") == f"python:{file}:Nim"
    assert registry.absolute("scrambled:python:nim.py:Nim") == f"scrambled:python:{file}:Nim"
    assert registry.absolute("tic_tac_toe") == "tic_tac_toe"
    assert registry.make("python:nim.py:Nim").info.id == f"python:{file}:Nim"


def test_the_hash_follows_the_content_and_not_the_place(tmp_path: Path) -> None:
    file = copied(tmp_path)
    assert registry.content_hash(f"python:{file}:Nim") == registry.content_hash(f"python:{NIM}:Nim")
    assert registry.content_hash(f"python:{file}:Other") != registry.content_hash(f"python:{NIM}:Nim")
    copied(tmp_path, ("(1, 2, 3)", "(1, 2)"))
    assert registry.content_hash(f"python:{file}:Nim") != registry.content_hash(f"python:{NIM}:Nim")
    assert registry.content_hash("tic_tac_toe") is None


def test_a_changed_file_is_imported_anew(tmp_path: Path) -> None:
    file = copied(tmp_path)
    assert len(registry.make(f"python:{file}:Nim").legal_actions({"heap": 7, "player": 0})) == 3
    copied(tmp_path, ("(1, 2, 3)", "(1, 2)"))
    assert len(registry.make(f"python:{file}:Nim").legal_actions({"heap": 7, "player": 0})) == 2


def test_its_words_can_be_scrambled(tmp_path: Path) -> None:
    game = registry.make(f"scrambled:python:{NIM}:Nim")
    assert len(game.legal_actions(game.initial_state())) == 3
    assert "take 1" not in game.legal_actions(game.initial_state())


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("Nim", "", "has no 'Nim'; it has no class and no function of its own."),
        ("Nam", "def Nim(): ...\n", "has no 'Nam'; it has Nim."),
        ("Nim", "import nothing_of_this_name\n", "cannot be imported: .*nim.py, line 1: ModuleNotFoundError"),
        ("Nim", "raise SystemExit(3)\n", "cannot be imported: .*nim.py, line 1: SystemExit: 3"),
        ("Nim", "def Nim(:\n", "cannot be imported: SyntaxError"),
        ("Nim", "class Nim: ...\n", "is no game: it lacks initial_state, current_player, .* see the methods"),
        (
            "Nim",
            "def Nim():\n    return 1 / 0\n",
            "cannot be made: .*nim.py, line 2: ZeroDivisionError: division by zero",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / "nim.py").write_text(text, encoding="utf-8")
    with pytest.raises(OwnCodeError, match=message):
        registry.make(f"python:{tmp_path / 'nim.py'}:{name}")


def test_a_game_without_info_is_refused(tmp_path: Path) -> None:
    file = copied(tmp_path, ("self.info = ", "self.facts = "))
    with pytest.raises(OwnCodeError, match=r"it has the info None, which is no games.api.GameInfo"):
        registry.make(f"python:{file}:Nim")


@pytest.mark.parametrize("game", ["python:", "python:nim.py", "python::Nim", "python:nim.py:not a name"])
def test_a_wrong_text_is_refused_with_how_to_write_it(game: str) -> None:
    with pytest.raises(
        OwnCodeError, match=re.escape(f"{game!r} does not name a file and a class in it: write python:")
    ):
        registry.make(game)


def test_a_missing_file_is_told() -> None:
    with pytest.raises(OwnCodeError, match=r"nothing.py cannot be read .No such file or directory."):
        registry.make("python:/nothing.py:Nim")


def test_a_game_without_rules_says_where_to_write_them(tmp_path: Path) -> None:
    file = copied(tmp_path, ("RULES =", "TEXT ="))
    with pytest.raises(OwnCodeError, match="has no rules text: say RULES = "):
        registry.rules(f"python:{file}:Nim")


def test_a_listener_hears_of_every_use_and_errors_name_their_line(tmp_path: Path) -> None:
    heard: list[Path] = []
    file = copied(tmp_path, ("int(action.split()[1])", "int(action)"))
    with own_code.heard_by(heard.append):
        game = registry.make(f"python:{file}:Nim")
        registry.make(f"python:{file}:Nim")
    registry.make(f"python:{file}:Nim")
    assert heard == [file, file]
    with pytest.raises(ValueError, match="invalid literal") as caught:
        game.apply_action({"heap": 7, "player": 0}, "take 1")
    assert own_code.is_to_blame(caught.value)
    assert own_code.described(caught.value).startswith(f"{file}, line 28: ValueError: invalid literal")
    assert not own_code.is_to_blame(ValueError("ours"))


def test_a_change_of_the_same_size_in_the_same_second_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "nim.py"
    text = NIM.read_text(encoding="utf-8")
    for heap in ("7", "5"):
        file.write_text(text.replace("heap=7", f"heap={heap}"), encoding="utf-8")
        os.utime(file, (1_000_000_000, 1_000_000_000))
        assert registry.make(f"python:{file}:Nim").initial_state()["heap"] == int(heap)
    assert not (tmp_path / "__pycache__").exists()
