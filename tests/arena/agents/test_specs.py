import json

import pytest

from arena.agents.specs import AgentSpec, AgentSpecError, parse


def test_planner_with_short_and_full_names() -> None:
    spec = parse("ismcts:sims=3000,leaf=value,exploration=2.5")
    assert spec.kind == "ismcts"
    assert spec.planner == {"simulations": 3000, "leaf": "value", "exploration": 2.5}
    assert spec.name == "ismcts:sims=3000,leaf=value,exploration=2.5"
    config = spec.planner_config(perfect_information=False)
    assert (config.algorithm, config.simulations, config.leaf, config.rollouts) == ("ismcts", 3000, "value", 10)


def test_model_comes_first_and_takes_the_algorithm_of_the_game() -> None:
    spec = parse("cwm:runs/one,sims=50,name=mine,view=memory")
    assert (spec.model, spec.name, spec.view) == ("runs/one", "mine", "memory")
    assert spec.planner_config(True).algorithm == "mcts"
    assert spec.planner_config(False).algorithm == "ismcts"
    assert parse("cwm:x,algorithm=ismcts").planner_config(True).algorithm == "ismcts"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "randm",
            "Unknown agent 'randm': expected one of random, mcts, ismcts, blueprint, posg, cwm, partner, llm, human, "
            "ippo, learned, python, exec; did you mean 'random'?",
        ),
        ("random:sims=3", "Agent 'random' takes only name= and view=, not simulations."),
        ("mcts:sims", "Agent 'mcts:sims': 'sims' is no setting; write NAME=VALUE."),
        ("mcts:sims=", "Agent 'mcts:sims=': 'sims=' is no setting; write NAME=VALUE."),
        ("mcts:sims=many", "Agent 'mcts:sims=many': simulations must be a whole number, not 'many'."),
        ("mcts:c=nan", "Agent 'mcts:c=nan': exploration must be finite and not negative, not nan."),
        ("mcts:simz=3", "Agent 'mcts:simz=3' has no setting 'simz'; did you mean 'sims'?"),
        ("mcts:leaf=guess", "Agent 'mcts:leaf=guess': leaf is rollout or value, not 'guess'."),
        ("mcts:sims=1,simulations=2", "Agent 'mcts:sims=1,simulations=2' sets 'simulations' twice."),
        ("mcts:algorithm=ismcts", "Agent 'mcts' is its own algorithm: leave out algorithm=ismcts."),
        ("ippo", "Agent 'ippo' names no trained policy: write ippo:NAME, one that ships for the game, or ippo:FOLDER."),
        ("ippo:p,greedy=yes", "Agent 'ippo:p,greedy=yes': greedy is true or false, not 'yes'."),
        ("ippo:p,sims=3", "Agent 'ippo' takes only greedy= and name=, not simulations."),
        (
            "ippo:p,view=memory",
            "Agent 'ippo:p,view=memory': a trained policy has the view that it was trained on: leave out view=.",
        ),
        (
            "random:greedy=true",
            "Agent 'random' has no policy that it draws from: greedy= goes with ippo and learned alone.",
        ),
        ("cwm", "Agent 'cwm' names no model: write cwm:FOLDER, a run or a bundle."),
        ("cwm:sims=3", "Agent 'cwm:sims=3' names no model: write cwm:FOLDER, a run or a bundle."),
    ],
)
def test_wrong_description_is_told_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(AgentSpecError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_spec_survives_json_and_tolerates_newer_keys() -> None:
    spec = parse("cwm:runs/one,sims=50")
    data = json.loads(json.dumps(spec.to_json()))
    assert AgentSpec.from_json({**data, "invented later": 1}) == spec


def test_model_counts_by_its_content_not_its_place() -> None:
    one = AgentSpec("cwm", "m", model="here", model_hash="abc")
    two = AgentSpec("cwm", "m", model="there", model_hash="abc")
    assert one.identity() == two.identity()
    assert "model" not in one.identity()


def test_settings_of_priors_and_beliefs_have_short_names() -> None:
    spec = parse("cwm:runs/x,selection=puct,prior=policy,temper=1,mix=0.05,threshold=0.4,reduction=0.1,noise=0.2")
    assert spec.planner == {
        "selection": "puct",
        "prior": "policy",
        "belief_temper": 1.0,
        "belief_mix": 0.05,
        "belief_threshold": 0.4,
        "first_play_reduction": 0.1,
        "root_noise": 0.2,
    }
    with pytest.raises(AgentSpecError, match="selection is ucb or puct, not 'best'"):
        parse("ismcts:selection=best")


def test_workers_are_the_agents_setting_and_not_the_planners() -> None:
    spec = parse("cwm:runs/x,workers=4,sims=100")
    assert (spec.workers, spec.planner) == (4, {"simulations": 100})
    assert AgentSpec.from_json(spec.to_json()) == spec
    assert spec.identity()["workers"] == 4
    assert "workers" not in parse("cwm:runs/x").identity()


@pytest.mark.parametrize("value", ["0", "-1", "two", "65", "1.5"])
def test_number_of_workers_out_of_range_is_refused(value: str) -> None:
    with pytest.raises(AgentSpecError, match="workers must be a whole number from 1 to 64"):
        parse(f"cwm:runs/x,workers={value}")


def test_workers_go_with_models_alone() -> None:
    with pytest.raises(AgentSpecError, match="workers= goes with cwm alone"):
        parse("ismcts:workers=2")


def test_a_trained_policy_is_drawn_from_unless_it_is_to_be_greedy() -> None:
    assert parse("ippo:op-s0").to_json() == parse("ippo:op-s0,greedy=false,name=ippo:op-s0").to_json()
    assert "greedy" not in parse("ippo:op-s0").to_json()
    greedy = parse("ippo:op-s0,greedy=true,name=op")
    assert (greedy.kind, greedy.model, greedy.greedy, greedy.name) == ("ippo", "op-s0", True, "op")
    assert AgentSpec.from_json(greedy.to_json()) == greedy


def test_a_kind_that_nobody_knows_is_refused_when_it_is_asked_about() -> None:
    with pytest.raises(AgentSpecError, match="Unknown agent 'oracle': expected one of random, mcts"):
        AgentSpec("oracle", "o").to_json()


def test_a_planner_is_given_seconds_a_move_and_then_as_many_simulations_as_fit() -> None:
    assert parse("mcts:time=5").planner == {"seconds": 5.0, "simulations": 100_000}
    assert parse("mcts:time=0.5,sims=10").planner == {"seconds": 0.5, "simulations": 10}
    with pytest.raises(AgentSpecError, match="seconds"):
        parse("mcts:time=soon")
