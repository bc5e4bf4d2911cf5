"""Populations: those that ship, files of trained policies, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.agents import posg
from arena.agents.specs import AgentSpecError, parse
from arena.checkpoints import populations
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
        ({"game": "driving", "members": []}, "is a population of driving, the game is cooperative-reaching"),
    ],
)
def test_files_that_hold_no_population_of_the_game_are_refused(stored: object, said: str, tmp_path: Path) -> None:
    path = tmp_path / "P.json"
    path.write_text(json.dumps(stored))
    with pytest.raises(PlannerConfigError, match=said):
        populations.expanded(REACHING, [str(path)])
