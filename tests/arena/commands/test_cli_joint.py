"""Games of simultaneous moves are written as programs with a joint step, by the same commands as other games."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena.pipeline import function_choice
from cwm.model.bundle import ModelBundle, describe
from cwm.trajectories.recorded import collect, write
from games.registry import make

PROGRAM = (Path(__file__).parents[2] / "data" / "joint_programs" / "cat-dog.py").read_text(encoding="utf-8")
KITCHEN = "overcooked-v2-cramped-room"
WRONG = PROGRAM.replace('"open door": -5.0', '"open door": 5.0')


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl"
    path.write_text("".join(json.dumps(f"```python\n{text}\n```") + "\n" for text in (WRONG, PROGRAM)), "utf-8")
    return f"scripted:{path}"


def test_a_program_is_synthesised_refined_reported_and_verified(cwm: Any, answers: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    few = ("--test-transitions", 20, "--workers", 1)
    made = cwm("synthesize", "cat-dog", "--llm", answers, "--run", run, "--games", 4, *few)
    assert made.code == 0, made.err
    result = cwm("report", run, "--json").json
    assert (result["synthesis"]["calls"], result["synthesis"]["reason"]) == (2, "all_tests_pass")
    assert sorted(result["evaluations"]) == ["test", "train"]
    for split in result["evaluations"].values():
        assert {kind: tally["accuracy"] for kind, tally in split["kinds"].items()} == {
            "distribution": 1.0,
            "joint_play": 1.0,
            "step": 1.0,
        }
        assert split["likelihood_gap"]["nats"] == split["likelihood_gap"]["impossible"] == 0
        assert split["fields"]["observations"]["accuracy"] == split["fields"]["rewards"]["accuracy"] == 1.0
    assert "joint actions, draws, observations and rewards, no states" in (run / "report.html").read_text("utf-8")
    assert cwm("verify", run).code == 0
    assert "faster versions are for models in turns" in cwm("faster", run).err
    for command in (("twin", run), ("export", run, "-o", tmp_path / "game.py"), ("train", "ppo", "--model", run)):
        left = cwm(*command)
        assert (left.code, "has a joint step, and no players who take turns" in left.err) == (2, True)
    refusal = cwm("play", "cat-dog", "--agent", f"cwm:{run},leaf=value", "--agent", "random")
    assert "its model has a joint step, whose planners have no 'leaf' of this kind" in refusal.err


def test_a_program_of_rules_that_are_not_at_hand_is_tested_on_played_games(cwm: Any, tmp_path: Path) -> None:
    """A game that bears a registered one's name, as of another version: nobody knows how likely anything was."""
    model: Any = make("cat-dog")
    info = describe(model.info, model.model.info)
    ModelBundle(PROGRAM, None, None, info | {"max_utility": info["max_utility"] + 1}, "rules").save(tmp_path / "model")
    games = tmp_path / "games.jsonl"
    write(games, collect(model, 2, 0))
    few = ("--trajectories", games, "--contract-games", 0, "--workers", 1)
    found = cwm("evaluate", tmp_path / "model", *few, "--json")
    assert found.code == 0, found.err
    assert {kind: tally["accuracy"] for kind, tally in found.json["kinds"].items()} == {
        "distribution": 1.0,
        "joint_play": 1.0,
        "step": 1.0,
    }
    drawn = found.json["kinds"]["distribution"]["passed"]
    assert drawn > 0
    assert found.json["likelihood_gap"] == {"steps": 0, "nats": 0.0, "impossible": 0, "failed": 0, "unknown": drawn}


def beside(game: str, *names: str) -> list[str]:
    """Returns answers that hold a program and functions beside it."""
    folder = Path(__file__).parents[2] / "data"
    files = [folder / "joint_programs" / f"{game}.py"]
    files += [folder / "joint_functions" / f"{game}-{name}.py" for name in names]
    return [f"```python\n{file.read_text('utf-8')}\n```" for file in files]


def answering(path: Path, answers: list[str]) -> str:
    path.write_text("".join(json.dumps(text) + "\n" for text in answers), "utf-8")
    return f"scripted:{path}"


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tiger-2a", "cooperative-reaching", KITCHEN])
def test_functions_beside_a_program_are_asked_for_checked_repaired_chosen_and_replayed(
    cwm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    monkeypatch.setattr(function_choice, "JOINT_SIMULATIONS", 4)
    monkeypatch.setattr(function_choice, "JOINT_PARTICLES", 10)
    program, value, policy, inference = beside(game, "value", "policy", "inference")
    wrong = "```python\ndef policy_prior(history, legal, agent):\n    return [-1.0] * len(legal)\n```"
    llm = answering(tmp_path / "answers.jsonl", [program, value, wrong, policy, inference])
    asked = ("--values", 1, "--priors", 1, "--function", "resample=1", "--tournament-deals", 1)
    few = ("--games", 2, "--test-transitions", 20, "--workers", 1, *asked)
    recorded = tmp_path / "recorded.jsonl"
    made = cwm("synthesize", game, "--llm", llm, "--run", tmp_path / "run", "--record", recorded, *few)
    assert made.code == 0, made.err
    result = cwm("report", tmp_path / "run", "--json").json
    for name, calls in (("values", 1), ("priors", 2), ("resamples", 1)):
        (candidate,) = result[name]["candidates"]
        assert (candidate["status"], candidate["report"]["problems"]) == ("checked", [])
        assert result[name]["calls"] == calls
        assert result[name]["none_score"] is not None
    assert cwm("verify", tmp_path / "run").code == 0
    again = cwm("synthesize", game, "--llm", f"replay:{recorded}", "--run", tmp_path / "again", *few)
    assert again.code == 0, again.err
    assert ModelBundle.load(tmp_path / "again").hash == ModelBundle.load(tmp_path / "run").hash
    with_all = ModelBundle.load(tmp_path / "run")
    for kind, text in (("value", value), ("prior", policy), ("resample", inference)):
        with_all = with_all.with_function(kind, text.removeprefix("```python\n").removesuffix("```"))
    with_all.save(tmp_path / "all")
    planner = f"cwm:{tmp_path / 'all'},method=potmmcp,types=prior+uniform,leaf=value,"
    # An inference that draws 400 steps anew at each of them takes ten minutes.
    planner += "sims=4,particles=8,episodes=1" if game == KITCHEN else "belief=inferred,sims=10,particles=20,episodes=2"
    played = cwm("play", game, "--agent", planner, "--agent", "random", "--run", tmp_path / "played", "--json").json
    assert (played["game"], played["forfeit"]) == (game, None)
    assert cwm("verify", tmp_path / "played").code == 0


@pytest.mark.slow
def test_a_finished_program_is_resumed_played_on_and_evaluated_on_games_played_anew(cwm: Any, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(f"```python\n{PROGRAM}\n```") + "\n", "utf-8")
    run, few = tmp_path / "run", ("--workers", 1)
    made = cwm("synthesize", "cat-dog", "--llm", f"scripted:{path}", "--run", run, "--test-transitions", 20, *few)
    assert made.code == 0, made.err
    assert cwm("resume", run, *few).code == 0
    agents = ("--agent", f"cwm:{run},sims=20", "--agent", f"cwm:{run},method=pomcp,belief=exact,sims=20")
    played = cwm("play", "cat-dog", *agents, "--run", tmp_path / "played", "--json").json
    assert (played["game"], played["forfeit"]) == ("cat-dog", None)
    agents = ("--agent", "random", "--agent", f"cwm:{run},sims=5")
    decided = cwm("play", f"cwm:{run}", *agents, "--run", tmp_path / "decided", "--json").json
    assert (decided["game"], decided["forfeit"]) == ("cat-dog", None)
    told = cwm("evaluate", run, "--transitions", 20, "--workers", 1, "--json").json
    assert told["kinds"]["step"]["accuracy"] == 1.0
    assert told["contract"]["violations"] == []


def test_the_first_prompt_knows_no_turns_and_no_states(cwm: Any) -> None:
    shown = cwm("synthesize", "cat-dog", "--llm", "scripted:none", "--dry-run", "--json").json["prompt"]
    assert "def move(state: State, actions: list[Action], choose: Choose)" in shown
    assert "keys in observations: `done`, `pet`" in shown
    for foreign in ("get_current_player", "INITIAL_STATE", "missed", "phase"):
        assert foreign not in shown


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--deck", "closed"), "--deck"),
        (("--further-games", 2), "--further-games"),
        (("--vectors", 1), "--vectors"),
        (("--priors", 1, "--priors-play", "blueprint"), "--priors-play"),
        (("--faster", 1), "--faster"),
        (("--syntheses", 2), "--syntheses"),
    ],
)
def test_options_of_programs_in_turns_are_refused(refused: Any, options: tuple[object, ...], named: str) -> None:
    ran = refused("synthesize", "cat-dog", "--llm", "scripted:none", "--dry-run", *options)
    assert f"{named} is for games in turns" in ran.err
