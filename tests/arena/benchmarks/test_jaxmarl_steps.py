"""Steps a second beside JaxMARL's own loop."""

import importlib.util

import pytest

from arena.benchmarks import jaxmarl_steps
from games.api import GameError


def test_without_jaxmarl_one_sentence_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(GameError, match=r"without JaxMARL, which is not installed; run: pip install .*\[jaxmarl\]"):
        next(jaxmarl_steps.run())


@pytest.mark.extra("jaxmarl")
def test_both_loops_play():
    pytest.importorskip("jaxmarl", reason="the extra `jaxmarl` is not installed")
    ours, theirs = jaxmarl_steps.rates("overcooked-v2-cramped-room,steps=3", lanes=2, steps=4)
    assert ours() > 0
    assert theirs() > 0
