"""A model that is right on every recorded game and still shows a player what is hidden elsewhere is found out."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena.runs import inputs as run_inputs
from cwm.interface.answers import programs
from cwm.llm import recordings
from cwm.record.record import RunRecord
from cwm.sandbox.inside.program import LoadedCode
from cwm.suite.contract import ContractOptions, Pair
from cwm.trajectories.recorded import collect, write

RULE = "observations show what is hidden"
COIN = (Path(__file__).parents[2] / "data" / "programs" / "hidden_coin.py").read_text(encoding="utf-8")
COIN_INFO = {
    "id": "hidden_coin",
    "num_players": 2,
    "utility": "zero_sum",
    "min_utility": -1.0,
    "max_utility": 1.0,
    "perfect_information": False,
    "has_chance": True,
    "player_names": ["holder", "guesser"],
    "max_length": 3,
}


def scripted(folder: Path, *answers: str) -> str:
    """Returns the name of a model that answers with these programs."""
    lines = "".join(json.dumps(f"```python\n{answer}\n```") + "\n" for answer in answers)
    (folder / "answers.jsonl").write_text(lines, encoding="utf-8")
    return f"scripted:{folder / 'answers.jsonl'}"


@pytest.fixture(scope="module")
def leduc() -> str:
    """Returns a right program, as a language model wrote it."""
    text = recordings.load("leduc_poker").records[0].completion.text
    return programs(text, ("get_observations",), 1)[0]


def leaking(source: str) -> str:
    """Returns a program that shows the second player the first one's high card in deals that no recorded game has.

    Its own resampler passes over these deals, so that no test of inference sees them either.
    """
    inputs = run_inputs.registered("leduc_poker", 5, 0)
    seen = {tuple(step.state["private_cards"]) for trajectory in inputs.train for step in trajectory.steps}
    return f"""{source}

SEEN = {sorted(seen, key=repr)!r}
honest_observations = get_observations


def leaks(cards):
    return None not in cards and cards[0] > 2 and tuple(cards) not in SEEN


def get_observations(state):
    shown = honest_observations(state)
    if leaks(state["private_cards"]):
        shown[1]["private_card"] = state["private_cards"][0]
    return shown


open_resampler = resample_history


def resample_history(obs_action_history, player_id):
    for _ in range(1000):
        actions = open_resampler(obs_action_history, player_id)
        if player_id == 0 or not leaks([int(action[-1]) for action in actions[:2]]):
            break
    return actions
"""


def test_a_leak_that_no_recorded_game_shows_is_fed_back_with_the_smallest_state(
    cwm: Any, leduc: str, tmp_path: Path
) -> None:
    model = scripted(tmp_path, leaking(leduc), leduc)
    words = ["leduc_poker", "--llm", model, "--test-transitions", 0, "--workers", 1, "--run", tmp_path / "run"]
    assert cwm("synthesize", *words).code == 0
    with RunRecord.read(tmp_path / "run") as record:
        first, second = record.calls.calls()
    assert "contract" not in first.request.messages[-1].text.split("tests passed")[0]
    prompt = second.request.messages[-1].text
    assert f"# TODO: fix this wrong answer: {RULE}: player 1 sees {{'player': 1, 'private_card'" in prompt
    assert "which it cannot tell from this" in prompt
    assert "- contract: 0 of 1 tests passed" in prompt


def test_a_leak_of_an_own_game_is_found_by_the_resampler_of_the_model_itself(cwm: Any, tmp_path: Path) -> None:
    loaded = LoadedCode({"source": COIN, "initial_state": {"coin": None, "said": [], "guess": None}, "info": COIN_INFO})
    games = [game for game in collect(loaded.instantiate(), 20, 1) if game.steps[0].action == "heads"]
    write(tmp_path / "games.jsonl", games)
    (tmp_path / "rules.md").write_text("A coin is hidden; the holder and the guesser speak; the guesser guesses it.")
    leak = f"""{COIN}

honest_observations = get_observations


def get_observations(state):
    holder, guesser = honest_observations(state)
    if state["coin"] == "tails":
        guesser["said"] = guesser["said"] + ["tails"]
    return [holder, guesser]


def resample_history(obs_action_history, player_id):
    return ["heads", *(word for word in obs_action_history[-1][0]["said"] if word != "tails")]
"""
    words = ["--rules", tmp_path / "rules.md", "--trajectories", tmp_path / "games.jsonl", "--held-out", 0]
    ran = cwm("synthesize", *words, "--llm", scripted(tmp_path, leak, COIN), "--workers", 1, "--run", tmp_path / "run")
    assert ran.code == 0, ran.err
    with RunRecord.read(tmp_path / "run") as record:
        prompts = [call.request.messages[-1].text for call in record.calls.calls()]
    assert len(prompts) == 2
    assert "# TODO: fix this wrong answer: view default tells apart what the resampler takes for equal" in prompts[1]


def test_no_pairs_are_made_where_nothing_is_hidden_or_nobody_says_what_is() -> None:
    inputs = run_inputs.registered("tic_tac_toe", 2, 0)
    assert run_inputs.hidden_pairs(inputs.game, inputs.train) == []
    assert run_inputs.hidden_pairs(None, inputs.train) == []


def test_pairs_depend_on_the_seed_and_on_nothing_else() -> None:
    inputs = run_inputs.registered("leduc_poker", 5, 0)
    first, second = (run_inputs.hidden_pairs(inputs.game, inputs.train, ContractOptions(swaps=9)) for _ in range(2))
    assert first == second
    assert 0 < len(first) <= 9
    assert all(isinstance(pair, Pair) and pair.real != pair.other for pair in first)
