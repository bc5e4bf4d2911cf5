"""Tournaments that a synthesised model decides: of a user's own game, which no registry knows."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from arena.agents.specs import parse
from arena.matches.plan import TournamentConfig
from arena.matches.tournament import plan, prepare
from arena.runs.inputs import Stated, own
from cwm.model.bundle import ModelBundle, describe

AGENTS = ("--agent", "mcts:sims=10,name=planner", "--agent", "random", "--pairing", "cross", "--deals", 2)


@pytest.fixture
def model(own_game: Any, tmp_path: Path) -> Path:
    """Returns the folder of an exact model of a user's own game."""
    inputs = own(own_game.rules, own_game.trajectories, 0, Stated())
    bundle = ModelBundle(own_game.program, None, inputs.initial_state, describe(inputs.info), "")
    bundle.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_model_of_an_own_game_decides_a_tournament(cwm: Any, model: Path) -> None:
    third = f"cwm:{model},sims=5,rollouts=1,name=model"
    ran = cwm("arena", f"cwm:{model}", *AGENTS, "--agent", third, "--workers", 1, "--json")
    assert ran.code == 0, ran.err
    standings = ran.json["standings"]["agents"]
    assert {agent["agent"] for agent in standings} == {"planner", "random", "model"}
    assert sum(agent["cross"]["games"] for agent in standings) == 2 * 12
    assert ran.json["config"]["game"] == f"cwm:{ModelBundle.load(model).hash}"


def test_workers_change_nothing_and_the_folder_goes_on_and_is_verified(cwm: Any, model: Path, tmp_path: Path) -> None:
    words = ["arena", f"cwm:{model}", *AGENTS, "--json"]
    alone = cwm(*words, "--workers", 1, "--run", tmp_path / "cup")
    assert alone.code == 0, alone.err
    both = cwm(*words, "--workers", 2)
    assert timeless(both.json["standings"]) == timeless(alone.json["standings"])
    assert cwm("resume", tmp_path / "cup", "--workers", 1, "--json").out == alone.out
    verified = cwm("verify", tmp_path / "cup", "--json")
    assert verified.code == 0, verified.err
    assert verified.json["games"] == 4
    assert verified.json["problems"] == []


def test_keys_and_deals_depend_on_the_content_of_the_model_and_not_on_its_place(model: Path, tmp_path: Path) -> None:
    def keys(folder: Path) -> list[tuple[str, int]]:
        agents = (parse("random:name=a"), parse("random:name=b"))
        games = plan(prepare(TournamentConfig(f"cwm:{folder}", agents, 2)))
        return [(game.key, game.deal_seed) for game in games]

    shutil.copytree(model, tmp_path / "moved")
    assert keys(tmp_path / "moved") == keys(model)
    bundle = ModelBundle.load(model)
    changed = ModelBundle(bundle.source + "\n# v2\n", None, bundle.initial_state, bundle.info, "")
    changed.save(tmp_path / "moved")
    assert not {key for key, _ in keys(tmp_path / "moved")} & {key for key, _ in keys(model)}


def test_a_changed_model_is_refused_in_the_same_folder(cwm: Any, refused: Any, model: Path, tmp_path: Path) -> None:
    words = ["arena", f"cwm:{model}", *AGENTS, "--workers", 1, "--run", tmp_path / "cup"]
    assert cwm(*words).code == 0
    bundle = ModelBundle.load(model)
    ModelBundle(bundle.source + "\n# v2\n", None, bundle.initial_state, bundle.info, "").save(model)
    again = refused(*words)
    assert again.code == 2
    assert f'game: "cwm:{bundle.hash}" in the record, "cwm:' in again.err
    verified = refused("verify", tmp_path / "cup")
    assert verified.code == 2
    assert "that decides the games has changed" in verified.err


def test_a_model_that_fails_as_a_referee_is_named_and_scores_nobody(cwm: Any, model: Path, tmp_path: Path) -> None:
    bundle = ModelBundle.load(model)
    broken = bundle.source + "\n\ndef get_rewards(state):\n    raise ValueError('no scores today')\n"
    ModelBundle(broken, None, bundle.initial_state, bundle.info, "").save(model)
    ran = cwm("arena", f"cwm:{model}", *AGENTS, "--workers", 1, "--json")
    assert ran.code == 4
    (cause,) = ran.json["faults"]
    assert cause.startswith("the model that decides the game failed: get_rewards failed (model_error): ValueError")
    assert len(ran.json["missing"]) == 4


def test_a_folder_without_a_model_is_refused(refused: Any, tmp_path: Path) -> None:
    ran = refused("arena", f"cwm:{tmp_path}", *AGENTS)
    assert ran.code == 2
    assert "No model can be read from" in ran.err


def timeless(standings: dict[str, Any]) -> str:
    for agent in standings["agents"]:
        agent.pop("seconds")
    return json.dumps(standings, sort_keys=True)
