"""`cwm synthesize --faster` and `cwm faster`: scripted models, real workers; what decides is injected, no time is."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from arena.pipeline.model_speed import ModelSpeed
from cwm.model.bundle import ModelBundle
from cwm.record.record import RunRecord
from cwm.sandbox.inside.program import LoadedCode
from cwm.sandbox.parent import levels
from cwm.sandbox.wire.api import Outcome, Reply
from cwm.speed.task import Rates, SpeedConfig
from cwm.synthesis import candidate
from cwm.trajectories.recorded import collect
from games.api import GameInfo
from search.api import PlannerConfig

HIDDEN = Path(__file__).resolve().parents[2] / "data" / "hidden_programs"
NARROW = "def resample_history(obs_action_history, player_id, last_is_terminal):\n    return []\n"
HEAD = "def _winner(board):\n"
SLOW = HEAD + "    for _ in range(40):\n        sum(cell is None for cell in board)\n"
WRONG = ("[1.0, -1.0] if winner", "[2.0, -2.0] if winner")


def script(path: Path, *answers: str) -> str:
    path.write_text("".join(json.dumps(f"```python\n{answer}\n```") + "\n" for answer in answers), encoding="utf-8")
    return f"scripted:{path}"


@pytest.fixture
def by_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """The longer of two programs is the slower one."""

    def pairs(self: ModelSpeed, old: str, new: str) -> list[Rates]:
        return [(1.0 / len(old), 1.0 / len(new))] * self.config.pairs

    monkeypatch.setattr(ModelSpeed, "pairs", pairs)


@pytest.fixture
def slow(own_game: Any) -> str:
    text: str = own_game.program.replace(HEAD, SLOW)
    assert text != own_game.program
    return text


def synthesized(cwm: Any, own_game: Any, run: Path, model: str, *words: object) -> Any:
    asked = ["synthesize", "--rules", own_game.rules, "--trajectories", own_game.trajectories]
    return cwm(*asked, "--llm", model, "--run", run, "--workers", 1, *words)


def program(run: Path) -> str:
    return (run / "model" / "program.py").read_text(encoding="utf-8").strip()


@pytest.mark.usefixtures("by_length")
def test_a_run_asked_to_be_faster_keeps_what_is_right_and_faster(
    cwm: Any, own_game: Any, slow: str, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    wrong = own_game.program.replace(*WRONG)
    model = script(tmp_path / "answers.jsonl", slow, wrong, own_game.program)
    made = synthesized(cwm, own_game, run, model, "--faster", 2)
    assert made.code == 0, made.err
    assert program(run) == own_game.program.strip()
    assert "faster version 0: wrong" in made.err
    found = cwm("report", run, "--json").json
    assert [item["status"] for item in found["faster"]["candidates"]] == ["wrong", "kept"]
    assert found["evaluations"]["test"]["kinds"]["transition"]["accuracy"] == 1.0
    assert found["tally"]["faster"]["calls"] == 2
    assert "speed refinement" in cwm("report", run).out
    metadata = json.loads((run / "model" / "model.json").read_text())["metadata"]
    assert metadata["faster"].startswith("1 of 2 versions kept: ")


@pytest.mark.usefixtures("by_length")
def test_a_finished_run_is_made_faster_by_another_model_and_stays_so_on_resuming(
    cwm: Any, own_game: Any, slow: str, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert synthesized(cwm, own_game, run, script(tmp_path / "first.jsonl", slow)).code == 0
    assert program(run) == slow.strip()
    assert "faster" not in json.loads((run / "run.json").read_text())["config"]
    other = script(tmp_path / "other.jsonl", own_game.program)
    assert cwm("faster", run, "--llm", other, "--workers", 1).code == 0
    assert program(run) == own_game.program.strip()
    (tmp_path / "other.jsonl").write_text("")
    assert cwm("resume", run, "--workers", 1).code == 0
    assert program(run) == own_game.program.strip()
    with RunRecord.read(run) as record:
        assert [call.request.purpose for call in record.calls.calls()] == ["transition", "faster"]


@pytest.mark.usefixtures("by_length")
def test_a_cap_on_calls_holds_for_faster_versions_too(cwm: Any, own_game: Any, slow: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    model = script(tmp_path / "answers.jsonl", slow, own_game.program)
    capped = synthesized(cwm, own_game, run, model, "--faster", 1, "--max-calls", 1)
    assert (capped.code, program(run)) == (3, slow.strip())
    assert "a cap is reached" in capped.err
    assert cwm("resume", run, "--max-calls", 2, "--workers", 1).code == 0
    assert program(run) == own_game.program.strip()


@pytest.mark.usefixtures("by_length")
def test_a_version_with_a_sampler_that_knows_less_is_refused(cwm: Any, tmp_path: Path) -> None:
    right = (HIDDEN / "kuhn_poker.py").read_text(encoding="utf-8")
    narrow = right.split("def resample_history")[0] + NARROW
    run = tmp_path / "run"
    words = ["--test-transitions", 20, "--further-games", 0, "--workers", 1, "--faster", 2, "--run", run]
    model = script(tmp_path / "answers.jsonl", right + "# the next one is shorter\n" * 20, narrow, right)
    told = ["--rules-detail", "specification"]
    made = cwm("synthesize", "kuhn_poker", "--deck", "closed", *told, "--llm", model, *words)
    assert made.code == 0, made.err
    found = cwm("report", run, "--json").json["faster"]["candidates"]
    assert [item["status"] for item in found] == ["wrong", "kept"]
    assert "inference: " in found[0]["problems"][0]


def test_a_folder_without_a_synthesis_is_refused(refused: Any, tmp_path: Path) -> None:
    assert refused("faster", tmp_path).code == 2


GAME = GameInfo("noughts", 2, "win_loss_draw", -1.0, 1.0, True, False, ("first", "second"), 9)
INITIAL = {"board": [None] * 9, "next": "x"}
VALUE = "def value_function(state, player_id):\n    return get_rewards(state)[player_id] + 0.0 * len(LINES)\n"


@pytest.fixture
def speed(own_game: Any) -> Callable[..., ModelSpeed]:
    def make(source: str, **changes: Any) -> ModelSpeed:
        plain = {"source": own_game.program, "initial_state": INITIAL, "info": asdict(GAME)}
        games = tuple(collect(LoadedCode(plain).instantiate(), 3, 1))
        bundle = replace(ModelBundle(source, None, INITIAL, asdict(GAME), ""), **changes)
        config = SpeedConfig(positions=4, simulations=10, pairs=5)
        planner = PlannerConfig(algorithm="mcts", simulations=10, rollouts=1)
        return ModelSpeed(bundle, config, planner, games, levels.default())

    return make


def test_the_profile_counts_calls_and_finds_the_wasteful_function_hottest(
    speed: Callable[..., ModelSpeed], slow: str
) -> None:
    first, again = (speed(slow).profile(slow) for _ in range(2))
    assert first.functions[0].name == "_winner"
    assert first.simulations == 40
    assert 0.0 < first.share <= 1.0
    calls = [{function.name: function.calls for function in profile.functions} for profile in (first, again)]
    assert calls[0] == calls[1]
    assert set(calls[0]) >= {"_winner", "apply_action", "get_legal_actions"}


def test_both_programs_are_timed_in_turn_on_the_same_searches(
    speed: Callable[..., ModelSpeed], slow: str, own_game: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.pipeline.model_speed.MEASURED_S", 0.0)
    pairs = speed(slow).pairs(slow, own_game.program)
    assert len(pairs) == 5
    assert all(min(pair) > 0.0 for pair in pairs)
    broken = own_game.program.replace("def get_rewards(state):\n", "def get_rewards(state):\n    state['x']\n")
    assert {new for _, new in speed(slow).pairs(slow, broken)} == {0.0}
    with pytest.raises(candidate.TesterError, match="in place fails under the planner"):
        speed(broken).pairs(broken, slow)


def test_functions_beside_the_program_must_answer_as_before(speed: Callable[..., ModelSpeed], own_game: Any) -> None:
    right: str = own_game.program
    valued = speed(right, value_source=VALUE)
    assert speed(right).differences(right, right.replace("[1.0, -1.0]", "[2.0, -2.0]")) == []
    assert valued.differences(right, right.replace("mark = action[0]", "mark = action[:1]")) == []
    renamed = valued.differences(right, right.replace("LINES", "ROWS"))
    assert "fail with it: NameError" in renamed[0]
    other = valued.differences(right, right.replace("[1.0, -1.0]", "[2.0, -2.0]"))
    assert other[0].startswith("the functions beside the module answered ")


@pytest.mark.parametrize("forged", [None, 3, [], [{"values": [], "policy": []}]])
def test_version_that_writes_other_answers_in_its_worker_is_no_faster_version(
    speed: Callable[..., ModelSpeed], own_game: Any, monkeypatch: pytest.MonkeyPatch, forged: Any
) -> None:
    right: str = own_game.program
    asked = ModelSpeed._asked

    def answered(self: ModelSpeed, source: str, *words: Any) -> Reply:
        reply = asked(self, source, *words)
        return reply if source == right else replace(reply, value=forged)

    monkeypatch.setattr(ModelSpeed, "_asked", answered)
    (told,) = speed(right, value_source=VALUE).differences(right, right + "\n")
    assert "did not answer on every state" in told


def test_answers_that_no_float_holds_are_other_answers(
    speed: Callable[..., ModelSpeed], own_game: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right: str = own_game.program
    asked = ModelSpeed._asked

    def answered(self: ModelSpeed, source: str, *words: Any) -> Reply:
        reply = asked(self, source, *words)
        return (
            reply
            if source == right
            else replace(reply, value=[{"values": [10**400, 0], "policy": []}] * len(reply.value))
        )

    monkeypatch.setattr(ModelSpeed, "_asked", answered)
    (told,) = speed(right, value_source=VALUE).differences(right, right + "\n")
    assert told.startswith("the functions beside the module answered ")


@pytest.mark.parametrize("figures", [{"seconds": -1.0}, {"functions": [["f", 1, 1, 1e308], ["g", 2, 1, 1e308]]}])
def test_profile_that_no_search_has_is_none(
    speed: Callable[..., ModelSpeed], own_game: Any, monkeypatch: pytest.MonkeyPatch, figures: dict[str, Any]
) -> None:
    told = {"simulations": 1, "seconds": 1.0, "functions": []} | figures
    monkeypatch.setattr(ModelSpeed, "_asked", lambda *words: Reply(Outcome.OK, told))
    with pytest.raises(candidate.TesterError, match="cannot be profiled"):
        speed(own_game.program).profile(own_game.program)
