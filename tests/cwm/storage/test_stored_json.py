from dataclasses import dataclass
from pathlib import Path

import pytest

from cwm.storage import stored_json


class FolderError(Exception):
    pass


@dataclass(frozen=True)
class Wish:
    game: str
    seed: int = 0


def read(path: Path) -> Wish:
    return stored_json.read(path, stored_json.exactly(Wish), FolderError, "delete it")


def test_file_comes_back_as_what_it_is_made_into(tmp_path: Path) -> None:
    (tmp_path / "wish.json").write_text('{"game": "chess"}')
    assert read(tmp_path / "wish.json") == Wish("chess")


def test_missing_file_is_one_sentence_or_nothing(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match=r"wish\.json cannot be read \(No such file or directory\); delete it\."):
        read(tmp_path / "wish.json")
    assert stored_json.read_if_there(tmp_path / "wish.json", dict, FolderError, "delete it") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"game": "che', "Unterminated string"),
        ("\udcff", "utf-8"),
        ("[1]", "it holds no JSON object"),
        ("{}", "it lacks 'game'"),
        ('{"game": "chess", "sede": 1}', "it has 'sede', which is none of game, seed"),
    ],
)
def test_damaged_file_is_one_sentence_that_says_how(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "wish.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(FolderError, match=rf"wish\.json is damaged \(.*{reason}.*\); delete it\."):
        read(tmp_path / "wish.json")
