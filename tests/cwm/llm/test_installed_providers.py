"""Providers of other distributions: asked by name, and their keys reach neither games nor programs."""

import sys
from pathlib import Path

import pytest

from arena.agents.api import RandomAgent
from arena.agents.specs import parse
from arena.machine.runtime import Runtime
from arena.matches import match, seating
from cwm.llm.api import ConfigurationError
from cwm.llm.provider_table import key_variables, provider_of
from cwm.llm.providers import factory
from games import plugins, registry
from games.plugins import PluginError

MODULE = """
from cwm.llm.provider_table import Provider

ROW = Provider("echo:MODEL", "echo_module", keys=("ECHO_KEY",), is_free=True)
WRONG = "no row"


class Echo:
    def __init__(self, name, key):
        self.name, self.key = f"echo:{name}", key


def opened(rest, wishes):
    return Echo(rest, wishes.key)
"""
WRONG = Path(__file__).parents[2] / "data" / "own" / "faulty" / "wrong.py"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "echoes-0.3.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: echoes\nVersion: 0.3\n", encoding="utf-8")
    entries = "[cwm.providers]\necho = echo_module:ROW\nwrong = echo_module:WRONG\ngone = echo_module:NOTHING\n"
    (folder / "entry_points.txt").write_text(entries, encoding="utf-8")
    (tmp_path / "echo_module.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "echo_module", raising=False)
    plugins._entries.cache_clear()


def test_a_provider_is_opened_by_its_name_with_its_key() -> None:
    model = factory.make("echo:loud", environment={"ECHO_KEY": "secret"})
    assert (model.name, model.key) == ("echo:loud", "secret")  # type: ignore[attr-defined]
    with pytest.raises(ConfigurationError, match=r"'echo:' lacks what comes after the colon: write echo:MODEL."):
        factory.make("echo:")


def test_its_key_is_known_as_one_beside_those_of_broken_providers() -> None:
    assert "ECHO_KEY" in key_variables()
    assert "OPENAI_API_KEY" in key_variables()


def test_what_is_broken_names_its_distribution() -> None:
    with pytest.raises(PluginError, match=r"^'wrong' of the distribution echoes 0.3 is 'no row', no cwm.llm.provider_"):
        provider_of("wrong:x")
    with pytest.raises(PluginError, match=r"^'gone' of the distribution echoes 0.3 cannot be loaded"):
        provider_of("gone:x")


def test_no_program_inherits_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECHO_KEY", "secret")
    monkeypatch.setenv("SOME_API_KEY", "of nobody")
    game = registry.make("tic_tac_toe")
    text = f"exec:{sys.executable} -S -E {WRONG} keys"
    agent = seating.build(seating.resolve(parse(text), game), game, Runtime())
    record = match.play(game, [agent, RandomAgent()], 0, [1, 2])
    assert record.forfeit is not None
    assert record.forfeit.detail.startswith("'SOME_API_KEY' is not among")
