import textwrap
from pathlib import Path
from typing import Any

import pytest

from arena.agents.kinds import KINDS
from arena.agents.specs import AgentSpecError, parse
from arena.machine.runtime import Runtime
from arena.matches import seating
from arena.matches.plan import TournamentConfig
from arena.matches.seating import build, resolve
from arena.matches.store import MemoryStore
from arena.matches.tournament import plan, prepare, run
from cwm.model.bundle import ModelBundle, describe
from cwm.sandbox.parent import levels
from games import registry
from games.api import state_to_json

KUHN = textwrap.dedent(
    """
    # Players that call themselves first and second: a model which holds nothing but the shape of the game.
    def get_current_player(state):
        return -4 if state.get("over") else state.get("mover", 0)

    def get_player_name(player_id):
        return str(player_id)

    def get_legal_actions(state):
        return [] if state.get("over") else ["Pass", "Bet"]

    def get_chance_outcomes(state):
        return []

    def apply_action(state, action):
        return {"over": True, "mover": 0}

    def get_rewards(state):
        return [0.0, 0.0]

    def get_observations(state):
        return [{}, {}]

    def resample_history(obs_action_history, player_id):
        return []
    """
)


def bundle(game_id: str = "kuhn_poker", **changes: Any) -> ModelBundle:
    game = registry.make(game_id)
    values = {"source": KUHN, "value_source": None, "initial_state": state_to_json(game, game.initial_state())}
    return ModelBundle(**{**values, "info": describe(game.info), "rules_hash": "r", **changes})


def test_model_plays_a_tournament_and_its_level_is_stamped(tmp_path: Path) -> None:
    bundle().save(tmp_path)
    agents = (parse(f"cwm:{tmp_path},sims=5,rollouts=1,name=m"), parse("random"))
    asked = prepare(TournamentConfig("kuhn_poker", agents, 2, pairing="cross"))
    found = run(asked, MemoryStore())
    assert len(found.records) == 4
    assert {record.sandbox for record in found.records} == {levels.default()}
    # The model never recreates what was seen: where it moves first it falls back, as second player it has no action.
    model = found.table.agents[0]
    assert model.forfeits == {"empty": 2}
    assert sum(model.fallbacks.values()) == model.moves - 2 > 0


def test_games_without_a_model_are_stamped_with_no_level() -> None:
    asked = prepare(TournamentConfig("kuhn_poker", (parse("random"),), 1))
    assert [record.sandbox for record in run(asked, MemoryStore()).records] == [None]


def test_same_model_in_another_folder_is_the_same_agent(tmp_path: Path) -> None:
    keys = []
    for folder in ("one", "two"):
        bundle().save(tmp_path / folder)
        asked = prepare(TournamentConfig("kuhn_poker", (parse(f"cwm:{tmp_path / folder},name=m"),), 1))
        keys.append([game.key for game in plan(asked)])
    assert keys[0] == keys[1]
    bundle(source=KUHN + "\n").save(tmp_path / "two")
    asked = prepare(TournamentConfig("kuhn_poker", (parse(f"cwm:{tmp_path / 'two'},name=m"),), 1))
    assert plan(asked)[0].key != keys[0][0]


def test_run_folder_is_taken_for_the_model_in_it(tmp_path: Path) -> None:
    bundle().save(tmp_path / "model")
    assert resolve(parse(f"cwm:{tmp_path}"), registry.make("kuhn_poker")).model_hash == bundle().hash


@pytest.mark.parametrize(
    ("game", "agent", "message"),
    [
        ("leduc_poker", "cwm:{}", "its model is of kuhn_poker, the game is leduc_poker"),
        ("kuhn_poker", "cwm:{},leaf=value", "its model has no value function"),
        ("kuhn_poker", "cwm:{},sims=0", "simulations is 0"),
    ],
)
def test_model_that_does_not_fit_is_refused(tmp_path: Path, game: str, agent: str, message: str) -> None:
    bundle().save(tmp_path)
    with pytest.raises(AgentSpecError, match=message):
        resolve(parse(agent.format(tmp_path)), registry.make(game))


def test_model_of_another_view_is_refused(tmp_path: Path) -> None:
    game = registry.make("yokai-9c-2p", memory=True)
    bundle(info=describe(game.info), initial_state={}).save(tmp_path)
    with pytest.raises(AgentSpecError, match="add view=memory"):
        resolve(parse(f"cwm:{tmp_path}"), registry.make("yokai-9c-2p"))
    assert resolve(parse(f"cwm:{tmp_path},view=memory"), registry.make("yokai-9c-2p")).view == "memory"


def test_model_that_changes_during_a_tournament_is_noticed(tmp_path: Path) -> None:
    game = registry.make("kuhn_poker")
    bundle().save(tmp_path)
    spec = resolve(parse(f"cwm:{tmp_path}"), game)
    bundle(source=KUHN + "\n").save(tmp_path)
    with pytest.raises(AgentSpecError, match="changed while"):
        build(spec, game, Runtime())


def test_damaged_model_is_a_one_sentence_error(tmp_path: Path) -> None:
    bundle().save(tmp_path)
    (tmp_path / "program.py").write_text("tampered")
    with pytest.raises(AgentSpecError, match="no model can be read"):
        resolve(parse(f"cwm:{tmp_path}"), registry.make("kuhn_poker"))


def test_every_kind_of_agent_has_a_seat() -> None:
    assert seating.SEATS.keys() == KINDS.keys()
