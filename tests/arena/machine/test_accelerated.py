import sys

import pytest

from arena.machine import accelerated
from games.api import GameError


@pytest.fixture
def modules_stay():
    """Puts modules back under their packages, where those that are imported anew take their places."""
    before = dict(sys.modules)
    yield
    for name, module in before.items():
        package, _, own = name.rpartition(".")
        if package in before:
            setattr(before[package], own, module)


@pytest.mark.usefixtures("modules_stay")
@pytest.mark.parametrize(
    ("module", "needed", "extra"),
    [
        ("games.batched.yokai.environment", "jax", "batched"),
        ("arena.checkpoints.on_game", "jax", "learn"),
        ("arena.checkpoints.on_game", "flax", "learn"),
        ("search.learn.checkpoint", "safetensors", "learn"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(monkeypatch, module, needed, extra):
    for name in list(sys.modules):
        if name.split(".")[0] == needed or name.startswith(("games.batched", "arena.checkpoints", "search.learn")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, needed, None)
    with pytest.raises(GameError, match=rf"run: pip install -e '.*\[{extra}\]'"):
        accelerated.load(module)


def test_another_missing_module_is_not_explained_away():
    with pytest.raises(ModuleNotFoundError):
        accelerated.load("arena.no_such_module")
