from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from arena.checkpoints import on_game
from search.learn import checkpoint
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig

GAME = "yokai-8c-2p"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with two untrained policies of two methods."""
    shape = NetworkConfig(encoder="mlp", filters=8, layers=1, hidden=8, head_scale=1.0)
    env = on_game.environment(GAME, "memory", shape)
    network = ActorCritic(shape, env.num_actions)
    for seed, method in enumerate(("sp", "op")):
        params = jax.jit(network.init)(jax.random.key(seed), jnp.zeros((1, 1, *env.image_shape)))
        about = {"name": f"{method}-s{seed}", "game": GAME, "view": "memory", "method": method, "seed": seed}
        checkpoint.save_policy(tmp_path / str(seed), params, {**about, "network": shape.to_json()})
    return tmp_path


@pytest.mark.extra("learn")
def test_checkpoints_are_played_in_batches_and_shown_by_method(cwm: Any, folder: Path) -> None:
    page = folder / "xp.html"
    options = (
        "--checkpoint",
        str(folder),
        "--games",
        "6",
        "--probe-colours",
        "5",
        "--own-names",
        "8",
        "--html",
        str(page),
    )
    shown = cwm("xp", GAME, *options).out
    assert "op: share of card colours that linear probes name rightly (chance 0.50; 4 games to learn from" in shown
    for part in ("Self-play", "R of the pair", "Over seeds", "border moves", "R of methods with each other"):
        assert part in shown
    assert "R by the names that mean the same colour to all players (8 games of each policy with itself" in shown
    text = page.read_text(encoding="utf-8")
    assert "<h2>Names of their own</h2>" in text
    assert "<h2>Methods</h2>" in text
    assert "6 games a seating, drawn actions" in text
    assert "sp: share of colours that linear probes name rightly, not observed" in text
    assert "perfect memory</span>" in text


@pytest.mark.slow
def test_checkpoints_print_one_document(cwm: Any, folder: Path) -> None:
    found = cwm("xp", GAME, "--checkpoint", str(folder / "0"), "--games", "5", "--greedy", "--json").json
    assert found["table"]["games"] == 5
    assert found["settings"] == {"games": 5, "seed": 0, "greedy": True}
    assert [method["method"] for method in found["methods"]] == ["sp"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--probe-colours", "4"), "4 games leave none to test on: give 5 or more"),
        (("--html", "nowhere/xp.html"), "There is no folder nowhere for xp.html; make it first"),
        (("--html", "/"), "/ is a folder"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_anything_is_played(
    refused: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    monkeypatch.setattr("arena.policy_play.cross_play.run", lambda *given: pytest.fail("played"))
    assert told in refused("xp", GAME, "--checkpoint", folder, *words).err


def test_options_of_other_agents_do_not_go_with_checkpoints(refused: Any, folder: Path) -> None:
    assert "--checkpoint goes with" in refused("xp", GAME, "--checkpoint", str(folder), "--agent", "random").err
    for words in (["--greedy"], ["--own-names", "5"]):
        assert "are of checkpoints: name them" in refused("xp", GAME, "--agent", "random", *words).err
