"""`learned:FOLDER` in the arena: how it is written, resolved and played."""

import json
import shutil

import pytest

from arena.agents.specs import AgentSpec, AgentSpecError, parse
from arena.checkpoints import places
from arena.machine.runtime import Runtime
from arena.matches import seating, tournament
from arena.matches.plan import TournamentConfig
from arena.matches.store import MemoryStore
from games import registry

GAME = registry.make("tic_tac_toe")


def test_spec_names_a_folder_and_how_it_plays():
    spec = parse("learned:runs/ppo")
    assert (spec.kind, spec.model, spec.greedy, spec.name) == ("learned", "runs/ppo", False, "learned:runs/ppo")
    assert parse("learned:runs/ppo,greedy=true,name=pupil") == AgentSpec(
        "learned", "pupil", model="runs/ppo", greedy=True
    )
    assert AgentSpec.from_json(parse("learned:runs/ppo,greedy=true").to_json()).greedy


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learned", "names no training: write learned:FOLDER"),
        ("learned:runs,greedy=often", "greedy is true or false, not 'often'"),
        ("learned:runs,view=memory", "has the view that it was trained on"),
        ("learned:runs,time=3", "takes only greedy=, sims= and name="),
        ("learned:runs,greedy=true,sims=3", "leave out greedy= or sims="),
        ("random:greedy=true", "greedy= goes with ippo and learned alone"),
    ],
)
def test_spec_that_cannot_be_is_refused(text, message):
    with pytest.raises(AgentSpecError, match=message):
        parse(text)


def test_folder_counts_by_its_content(trained):
    folder, _, _ = trained
    spec = seating.resolve(parse(f"learned:{folder}"), GAME)
    assert spec.model_hash == places.seats_hash(folder, 2)
    assert "model" not in spec.identity()


def test_folder_that_does_not_fit_is_refused(trained, tmp_path):
    folder, _, _ = trained
    with pytest.raises(AgentSpecError, match="holds no agent for seat 0"):
        seating.resolve(parse(f"learned:{tmp_path}"), GAME)
    with pytest.raises(AgentSpecError, match=r"ships for kuhn_poker, only for .*leduc_poker, .*tic_tac_toe: train one"):
        seating.resolve(parse("learned:recorded"), registry.make("kuhn_poker"))
    with pytest.raises(AgentSpecError, match="it was trained on tic_tac_toe, the game is connect_four"):
        seating.resolve(parse(f"learned:{folder}"), registry.make("connect_four"))
    changed = AgentSpec("learned", "pupil", model=str(folder), model_hash="0" * 64)
    with pytest.raises(AgentSpecError, match="changed while the games ran"):
        seating.build(changed, GAME, Runtime())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vectors": {}}, "does not say how observations become vectors"),
        ({"vectors": []}, "does not say how observations become vectors"),
        ({"kind": "other"}, "was not trained on a model: it is 'other'"),
        ({"actions": 5}, "is damaged .*restore it"),
        ({"network": 5}, "is damaged .*restore it"),
        ({"seat": 0}, "was trained for seat 0: it cannot play seat 1"),
        ({"info": None}, "lacks the game's `info`"),
    ],
)
def test_damaged_policy_is_refused_before_the_games_begin(trained, tmp_path, change, message):
    folder = tmp_path / "copy"
    shutil.copytree(trained[0], folder)
    path = places.seat_folder(folder, 1) / places.ABOUT
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(AgentSpecError, match=message):
        seating.resolve(parse(f"learned:{folder}"), GAME)
    path.write_bytes((places.seat_folder(trained[0], 1) / places.ABOUT).read_bytes())
    weights = places.seat_folder(folder, 1) / places.POLICY
    weights.write_bytes(weights.read_bytes()[:-9])
    with pytest.raises(AgentSpecError, match="cannot be read as a checkpoint"):
        seating.resolve(parse(f"learned:{folder}"), GAME)


def test_learned_agent_plays_a_tournament(trained):
    folder, _, _ = trained
    agents = (parse(f"learned:{folder},name=pupil,greedy=true"), parse("random"))
    config = tournament.prepare(TournamentConfig("tic_tac_toe", agents, deals=3, seed=1))
    result = tournament.run(config, MemoryStore())
    assert len(result.records) >= 6
    assert all(record.forfeit is None for record in result.records)
    assert {"pupil", "random"} == {name for record in result.records for name in record.seats}
