"""`cwm synthesize --deck closed` and `--inference state`, from prompts to evaluated models that play."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.runs import inputs as run_inputs
from arena.runs.hidden_information import HiddenInformation
from arena.runs.settings import RunSettings
from arena.runs.standard import standard_settings
from arena.runs.task import make_task
from cwm.llm import recordings
from cwm.model.bundle import ModelBundle
from cwm.record.record import RunRecord

PROGRAMS = Path(__file__).resolve().parents[2] / "data" / "hidden_programs"
CHOICE = "random.choice(possible(seen, player_id))"
FEW = ["--test-transitions", 30, "--workers", 1]
UNNAMED = ["--rules-detail", "specification"]
"""The programs go on from the first state, which a rule book does not tell in the closed deck."""
VALUE = """
def value_function(state, player_id):
    return get_rewards(state)[player_id] if get_current_player(state) == -4 else 0.0
"""


def program(game: str, *replacements: tuple[str, str]) -> str:
    text = (PROGRAMS / f"{game}.py").read_text("utf-8")
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return text


def scripted(folder: Path, *answers: str) -> str:
    """Returns the name of a model that answers with these programs."""
    lines = "".join(json.dumps(f"```python\n{answer}\n```") + "\n" for answer in answers)
    (folder / "answers.jsonl").write_text(lines, encoding="utf-8")
    return f"scripted:{folder / 'answers.jsonl'}"


def run_closed(cwm: Any, game: str, folder: Path, *wrong: tuple[str, str]) -> Any:
    model = scripted(folder, program(game, *wrong), program(game))
    return cwm("synthesize", game, "--deck", "closed", *UNNAMED, "--llm", model, *FEW, "--run", folder / "run")


@pytest.mark.parametrize(
    ("game", "wrong", "why"),
    [
        ("kuhn_poker", (CHOICE, "possible(seen, player_id)[0]"), "by the module's own rules several histories fit"),
        ("leduc_poker", ('if end(actions)["money"] == seen["money"]', ""), "resampled_observation.money"),
    ],
)
def test_a_wrong_program_of_the_closed_deck_is_repaired_and_the_right_one_is_evaluated(
    cwm: Any, tmp_path: Path, game: str, wrong: tuple[str, str], why: str
) -> None:
    made = run_closed(cwm, game, tmp_path, wrong)
    assert made.code == 0, made.err
    assert "likelihood bound (test)" in made.out
    run = tmp_path / "run"
    with RunRecord.read(run) as record:
        prompts = [call.request.messages[-1].text for call in record.calls.calls()]
        assert {call.request.purpose for call in record.calls.calls()} == {"closed deck"}
    assert len(prompts) == 2
    assert "# TODO: fix this wrong answer: " in prompts[1]
    assert why in prompts[1]
    result = cwm("report", run, "--json").json
    assert set(result["evaluations"]) == {"train", "test", "online"}
    for found in result["evaluations"].values():
        assert set(found["kinds"]) == {"inference", "random_play"}
        assert [tally["accuracy"] for tally in found["kinds"].values()] == [1.0, 1.0]
        assert found["likelihood"]["bounded"] == found["likelihood"]["games"] > 0
        assert -9.0 < found["likelihood"]["mean"] < found["likelihood"]["mean_distinct"] < 0.0
    bundle = ModelBundle.load(run)
    assert (bundle.deck, bundle.infers) == ("closed", "history")


def test_a_program_that_is_told_nothing_of_states_makes_its_own_first_one(cwm: Any, tmp_path: Path) -> None:
    own_start = "def own(function):\n    return lambda state, *more: function(state or START, *more)\n\n\n"
    text = program("kuhn_poker").replace("INITIAL_STATE", "START")
    names = ("apply_action", "get_current_player", "get_rewards", "get_legal_actions", "get_chance_outcomes")
    wrapped = "".join(f"{name} = own({name})\n" for name in (*names, "get_observations"))
    start = {"private_cards": [None, None], "betting": [], "contributions": [1, 1], "current_player": -1}
    model = scripted(tmp_path, f"START = {start!r}\n\n{own_start}{text}\n{wrapped}")
    run = tmp_path / "run"
    made = cwm("synthesize", "kuhn_poker", "--deck", "closed", "--llm", model, *FEW, "--run", run)
    assert made.code == 0, made.err
    assert ModelBundle.load(run).initial_state == {}
    words = ["evaluate", run, "--transitions", 30, "--workers", 1, "--contract-games", 2]
    found = cwm(*words, "--json").json
    assert {kind: tally["accuracy"] for kind, tally in found["kinds"].items()} == {"inference": 1.0, "random_play": 1.0}
    watched = cwm("play", "kuhn_poker", "--agent", f"cwm:{run},sims=5", "--agent", "random", "--json").json
    assert watched["forfeit"] is None


def test_a_model_of_the_closed_deck_is_evaluated_and_plays(cwm: Any, tmp_path: Path) -> None:
    assert run_closed(cwm, "kuhn_poker", tmp_path).code == 0
    run = tmp_path / "run"
    words = ["evaluate", run, "--transitions", 30, "--workers", 1, "--contract-games", 2, "--run", tmp_path / "figures"]
    tested = cwm(*words)
    assert tested.code == 0, tested.err
    assert "likelihood bound: -" in tested.out
    assert "every rule kept" in tested.out
    found = cwm(*words, "--json").json
    assert set(found["kinds"]) == {"inference", "random_play"}
    assert found["contract"]["hidden_pairs"] == 0
    watched = cwm("play", "kuhn_poker", "--agent", f"cwm:{run},sims=5", "--agent", f"cwm:{run},sims=5", "--json").json
    assert watched["forfeit"] is None
    assert watched["fallbacks"] == [{}, {}]


def test_value_functions_of_the_closed_deck_are_shown_games_of_the_model_itself(cwm: Any, tmp_path: Path) -> None:
    hidden = ('{**state, "private_cards": cards', '{**state, "dealt": sum(cards[:1]), "private_cards": cards')
    text = program("kuhn_poker", hidden)
    model = scripted(tmp_path, text, VALUE)
    words = ["--deck", "closed", *UNNAMED, "--values", 1, "--tournament-deals", 1, "--llm", model, *FEW]
    made = cwm("synthesize", "kuhn_poker", *words, "--run", tmp_path / "run")
    assert made.code == 0, made.err
    with RunRecord.read(tmp_path / "run") as record:
        prompt = list(record.calls.calls())[1].request.messages[-1].text
    assert "'dealt': " in prompt


def test_a_wrong_sampler_of_states_is_repaired_and_the_right_model_plays(cwm: Any, tmp_path: Path) -> None:
    wrong = (f"player_id, {CHOICE})\n    return", "player_id, possible(seen, player_id)[0])\n    return")
    state_only = ("def resample_history", "def sampled_history")
    texts = [program("kuhn_poker", wrong, state_only), program("kuhn_poker", state_only)]
    model = scripted(tmp_path, *texts)
    run = tmp_path / "run"
    made = cwm("synthesize", "kuhn_poker", "--inference", "state", "--llm", model, *FEW, "--run", run)
    assert made.code == 0, made.err
    with RunRecord.read(run) as record:
        prompts = [call.request.messages[-1].text for call in record.calls.calls()]
    assert "300 calls of resample_state all returned the same one" in prompts[1]
    assert "- `resample_state`: " in prompts[1]
    result = cwm("report", run, "--json").json
    assert set(result["evaluations"]) == {"train", "test", "planner", "online"}
    for found in result["evaluations"].values():
        assert {tally["accuracy"] for tally in found["kinds"].values()} == {1.0}
        assert "likelihood" not in found
    watched = cwm("play", "kuhn_poker", "--agent", f"cwm:{run},sims=5", "--agent", f"cwm:{run},sims=5", "--json").json
    assert watched["forfeit"] is None


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["kuhn_poker", "--deck", "shut"], "--deck is 'shut'; give open or closed."),
        (["kuhn_poker", "--inference", "mind"], "--inference is 'mind'; give history or state."),
        (["tic_tac_toe", "--deck", "closed"], "Nothing is hidden in tic_tac_toe: leave out --deck and --inference"),
        (["kuhn_poker", "--deck", "closed", "--inference", "state"], "--inference must be history"),
        (["kuhn_poker", "--inference", "state", "--priors", "1"], "leave out --priors, or infer histories"),
        (["kuhn_poker", "--deck", "closed"], "No recorded completions ship for kuhn_poker with deck closed and"),
    ],
)
def test_what_does_not_go_together_is_named_before_anything_is_made(
    refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = refused("synthesize", *words)
    assert ran.code == 2
    assert named in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "shown", "hidden"),
    [
        (["--deck", "closed"], "last_is_terminal: bool) -> list[Action]", "Test_transition"),
        (["--inference", "state"], "def resample_state(", "def resample_history"),
        ([], "def resample_history(", "last_is_terminal"),
    ],
)
def test_a_dry_run_shows_the_prompt_that_fits(cwm: Any, words: list[str], shown: str, hidden: str) -> None:
    ran = cwm("synthesize", "leduc_poker", *words, "--dry-run", "--llm", "scripted:none")
    assert ran.code == 0, ran.err
    assert shown in ran.out
    assert hidden not in ran.out


def test_recordings_of_what_is_unusual_have_names_of_their_own(
    cwm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording made with `--record` is found again under the game and what the synthesis was told to do."""
    settings = RunSettings("kuhn_poker", True)
    assert settings.recorded == "kuhn_poker"
    assert replace(settings, inference="state").recorded == "kuhn_poker+state"
    assert replace(settings, deck="closed").recorded == "kuhn_poker+closed"
    named = replace(settings, deck="closed", rules_detail="specification").recorded
    recorded = tmp_path / f"{named}.jsonl"
    model = scripted(tmp_path, program("kuhn_poker"))
    words = ["synthesize", "kuhn_poker", "--deck", "closed", *UNNAMED, "--test-transitions", 0, "--workers", 1]
    assert cwm(*words, "--llm", model, "--record", recorded, "--run", tmp_path / "first").code == 0
    before = recordings.bundled_games()
    monkeypatch.setattr(recordings, "_bundled_folder", lambda: tmp_path)
    assert recordings.bundled_games() == ["answers"]
    assert before != ["answers"]
    made = cwm(*words, "--run", tmp_path / "second")
    assert made.code == 0, made.err
    first, second = (ModelBundle.load(tmp_path / name).hash for name in ("first", "second"))
    assert first == second


def test_settings_of_old_runs_are_as_they_were() -> None:
    settings = standard_settings("leduc_poker", None, None, 0)
    assert "deck" not in settings.to_json()
    assert "inference" not in settings.to_json()
    assert RunSettings.from_record(settings.to_json()) == settings
    closed = replace(settings, deck="closed")
    assert closed.to_json() == settings.to_json() | {"deck": "closed", "inference": "history"}
    assert RunSettings.from_record(closed.to_json()) == closed


def test_a_task_is_the_open_decks_unless_somebody_asks() -> None:
    inputs = run_inputs.registered("kuhn_poker", 2, 0)
    assert make_task(inputs).tests == make_task(inputs, HiddenInformation()).tests
    assert make_task(inputs, HiddenInformation("closed")).deck == "closed"
    assert make_task(inputs, HiddenInformation(inference="state")).inference == "state"
