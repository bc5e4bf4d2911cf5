"""Entry points of other distributions: found when they are asked for, and named where they are broken."""

from collections.abc import Callable
from pathlib import Path

import pytest

from games import plugins, registry
from games.api import GameError
from games.plugins import PluginError

NIM = Path(__file__).parents[1] / "data" / "own" / "nim.py"
Install = Callable[[str, str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Returns what installs a distribution with one module and one entry point."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def installed(name: str, group: str, entry: str) -> None:
        folder = tmp_path / f"{name}-1.5.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n", encoding="utf-8")
        (folder / "entry_points.txt").write_text(f"[{group}]\n{entry}\n", encoding="utf-8")
        (tmp_path / f"{name}_module.py").write_text(NIM.read_text(encoding="utf-8"), encoding="utf-8")
        plugins._entries.cache_clear()

    return installed


def test_a_distribution_brings_a_game(install: Install) -> None:
    install("heaps", "cwm.games", "nim = heaps_module:Nim")
    assert plugins.names(plugins.GAMES) == ["nim"]
    assert registry.make("nim", heap=3).info.id == "nim"
    assert registry.rules("nim").startswith("One heap")
    assert "nim" not in registry.ids()
    assert registry.content_hash("nim") is None


def test_a_broken_one_is_a_sentence_with_the_name_of_the_distribution(install: Install) -> None:
    install("heaps", "cwm.games", "nim = heaps_module:Nam")
    with pytest.raises(
        PluginError, match=r"^'nim' of the distribution heaps 1.5 cannot be loaded \(AttributeError: .*"
    ):
        registry.make("nim")


def test_two_of_one_name_are_refused(install: Install) -> None:
    install("heaps", "cwm.games", "nim = heaps_module:Nim")
    install("other", "cwm.games", "nim = other_module:Nim")
    with pytest.raises(PluginError, match=r"^heaps 1.5 and other 1.5 bring 'nim' in cwm.games: uninstall all but one."):
        registry.make("nim")


def test_a_name_of_ours_stays_ours(install: Install) -> None:
    install("heaps", "cwm.games", "tic_tac_toe = heaps_module:Nim")
    assert registry.make("tic_tac_toe").info.player_names == ("x", "o")


def test_a_game_that_is_none_is_refused(install: Install) -> None:
    install("heaps", "cwm.games", "nim = heaps_module:RULES")
    with pytest.raises(GameError, match=r"^nim cannot be made with \[\]: "):
        registry.make("nim")
