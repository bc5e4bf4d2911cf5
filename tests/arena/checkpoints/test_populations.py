"""Populations: those that ship, files of trained policies, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.agents import posg
from arena.agents.specs import AgentSpecError, parse
from arena.checkpoints import for_planners, populations
from arena.matches import seating
from games import registry as games
from games.posg import registry
from search.api import PlannerConfigError
from search.posg.config import PosgPlannerConfig

REACHING = "cooperative-reaching"


@pytest.mark.parametrize("game_id", [REACHING, "driving", "foraging"])
def test_members_of_shipped_populations_ship_with_the_game(game_id: str) -> None:
    names = populations.shipped_names(game_id)
    assert "P0" in names
    assert set(populations.expanded(game_id, names)) <= posg.policies(registry.make(game_id)).keys()


def test_a_population_stands_for_its_members_once_each() -> None:
    assert populations.expanded(REACHING, ["H2", "P0", "uniform"]) == ("H2", "H1", "H3", "H4", "H5", "uniform")
    spec = seating.resolve(parse("posg:ipomcp,types=P1"), games.make(REACHING))
    assert PosgPlannerConfig.from_json(spec.planner).types == ("H6", "H7", "H8", "H9", "H10", "H11")
    with pytest.raises(AgentSpecError, match="tiger-2a has no policy 'P1'"):
        seating.resolve(parse("posg:ipomcp,types=P1"), games.make("tiger-2a"))


def test_trained_members_are_found_beside_their_file_and_known_by_their_content(
    trained: Callable[..., Path], tmp_path: Path
) -> None:
    folder, path = trained(tmp_path / "runs" / "br-s3", seed=3), tmp_path / "P.json"
    written = populations.write(path, REACHING, ["H1", str(folder)])
    assert [(member.name, member.seed) for member in written] == [("H1", None), ("runs/br-s3", 3)]
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("runs", "P.json"):
        (tmp_path / name).rename(moved / name)
    assert populations.expanded(REACHING, [str(moved / "P.json")]) == ("H1", str(moved / "runs" / "br-s3"))
    trained(moved / "runs" / "br-s3", seed=4)
    with pytest.raises(PlannerConfigError, match=r"br-s3 is not the trained policy that .*P\.json names: restore it"):
        populations.expanded(REACHING, [str(moved / "P.json")])


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ([], "is damaged"),
        ({"game": REACHING}, "it lacks 'members'"),
        ({"game": REACHING, "members": [{"nam": "H1"}]}, "it has 'nam', which is none of name, seed, hash"),
        ({"game": REACHING, "members": [{"name": 5}]}, "the name of a member is 5"),
        ({"game": REACHING, "members": [{"name": "a\0b", "hash": "x"}]}, "the name of a member has a zero byte"),
        ({"game": REACHING, "members": [{"name": "H1", "seed": 3}]}, "names H1 without the hash of its content"),
        ({"game": "driving", "members": []}, "is a population of driving, the game is cooperative-reaching"),
    ],
)
def test_files_that_hold_no_population_of_the_game_are_refused(stored: object, said: str, tmp_path: Path) -> None:
    path = tmp_path / "P.json"
    path.write_text(json.dumps(stored))
    with pytest.raises(PlannerConfigError, match=said):
        populations.expanded(REACHING, [str(path)])


def test_a_file_that_is_nested_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "P.json"
    path.write_text("[" * 200_000)
    with pytest.raises(PlannerConfigError, match="is damaged"):
        populations.expanded(REACHING, [str(path)])


def test_a_trained_member_is_named_with_the_hash_of_its_content(trained: Callable[..., Path], tmp_path: Path) -> None:
    folder, path = trained(tmp_path / "br"), tmp_path / "P.json"
    path.write_text(json.dumps({"game": REACHING, "members": [{"name": str(folder)}]}))
    with pytest.raises(PlannerConfigError, match="br without the hash of its content"):
        populations.expanded(REACHING, [str(path)])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"network": []}, "its network is no object"),
        ({"network": {}}, r"br: planners run networks whose memory is lstm or none, and this one's is None"),
        ({"seat": 2}, "its seat is 2, expected one of 2"),
        ({"seat": float("inf")}, "is damaged"),
        ({"more": float("nan")}, "is damaged"),
        ({"nested": None}, "is damaged"),
    ],
)
def test_a_checkpoint_that_says_what_no_training_writes_is_refused(
    changes: dict[str, object], said: str, trained: Callable[..., Path], tmp_path: Path
) -> None:
    path = trained(tmp_path / "br") / "config.json"
    about = json.dumps(json.loads(path.read_text()) | changes)
    path.write_text(about.replace('"nested": null', f'"nested": {"[" * 200_000}'))
    with pytest.raises(PlannerConfigError, match=said):
        for_planners.load(path.parent, registry.make(REACHING))
