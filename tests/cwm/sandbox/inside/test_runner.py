"""Broken variants of right programs: each is caught, with the field that is wrong."""

import pytest

from cwm.model.bundle import ModelBundle
from cwm.model.world_model import WorldModel
from cwm.sandbox.wire.api import Outcome
from cwm.suite.build import BuildOptions, build
from cwm.suite.execution import NOT_RUN, RunOptions, run_tests
from cwm.suite.rendering import render
from cwm.suite.selection import select_for_prompt
from cwm.trajectories.recorded import collect

TRANSITIONS = BuildOptions(kinds=("transition",))
INFERENCE = BuildOptions(kinds=("inference",))


@pytest.fixture(scope="module")
def recorded(toy, sandbox):
    """Games of both right programs, by name."""

    def record(name):
        program = toy(name)
        with WorldModel(ModelBundle(program.source, None, program.initial_state, program.info, ""), sandbox) as model:
            return collect(model, 6, 1)

    return {name: record(name) for name in ("tic_tac_toe", "high_card")}


@pytest.fixture(scope="module")
def run(recorded, sandbox, toy):
    """Runs the tests of a game on a broken variant of its program and returns the results that failed."""

    def run(name, build_options, *replacements, **options):
        tests = build(recorded[name], build_options)
        results = run_tests(toy(name, *replacements), tests, sandbox, RunOptions(**options))
        assert [result.id for result in results] == [test.id for test in tests]
        return [result for result in results if result.status != "pass"]

    return run


@pytest.mark.parametrize("name", ["tic_tac_toe", "high_card"])
def test_a_right_program_passes_every_kind_of_test(run, name):
    kinds = ("transition", "random_play") if name == "tic_tac_toe" else ("transition", "inference", "random_play")
    assert run(name, BuildOptions(kinds=kinds)) == []


@pytest.mark.parametrize(
    ("replacement", "field"),
    [
        (('return 0 if state["mark"] == "x" else 1', 'return 1 if state["mark"] == "x" else 0'), "current_player"),
        (('0: "x", 1: "o"', '0: "X", 1: "o"'), "player_name"),
        (('if winner == "x" else [-1.0, 1.0]', 'if winner == "x" else [-1.0, 2.0]'), "rewards"),
        (("return [0.0, 0.0]", "return [0.0]"), "rewards"),
        (("return [0.0, 0.0]", "return [False, False]"), "rewards"),
        (("return [dict(state), dict(state)]", "return [dict(state)]"), "observations"),
        (("return [dict(state), dict(state)]", 'return [{**state, "extra": 1}, dict(state)]'), "observations"),
        (("enumerate(state[\"board\"]) if mark is None]", "enumerate(state[\"board\"]) if mark is None] * 2"),
         "legal_actions"),
        (("if mark is None]", "if mark is None and cell]"), "legal_actions"),
        (("    return []\n\n\ndef get_obs", "    return [('x0', 1.0)]\n\n\ndef get_obs"), "chance_outcomes"),
        (('"mark": "o" if mark == "x" else "x"', '"mark": "o"'), "next_state"),
        (('board = list(state["board"])', 'board = state["board"]'), "mutated_input"),
        (('return {"board": board, "mark"', 'return {"board": tuple(board), 1: 2, "mark"'), "next_state"),
        (('return {"board": board, "mark"', 'return {"board": set(), "mark"'), "next_state"),
    ],
)  # fmt: skip
def test_a_wrong_answer_is_a_failure_of_its_field(run, replacement, field):
    failed = run("tic_tac_toe", TRANSITIONS, replacement)
    assert failed
    assert {result.status for result in failed} == {"fail"}
    assert failed[0].field == field


def test_a_tuple_is_as_good_as_a_list(run):
    assert (
        run("tic_tac_toe", TRANSITIONS, ('return {"board": board, "mark"', 'return {"board": tuple(board), "mark"'))
        == []
    )


def test_expected_and_got_are_whole_and_the_path_names_the_first_difference(run):
    (*_, failed) = run(
        "tic_tac_toe", TRANSITIONS, ("board[int(action[1:])] = mark", "board[8 - int(action[1:])] = mark")
    )
    assert failed.path.startswith(".board[")
    assert failed.message.startswith(f"next_state{failed.path}: expected ")
    assert set(failed.expected) == set(failed.got) == {"board", "mark"}
    assert len(failed.got["board"]) == 9


def test_a_chance_probability_off_by_a_millionth_is_found(run):
    failed = run("high_card", TRANSITIONS, ("1.0 / len(actions)", "1.000001 / len(actions)"))
    assert {result.field for result in failed} == {"chance_outcomes"}


def test_an_exception_is_an_error_with_the_programs_traceback(run):
    failed = run("tic_tac_toe", TRANSITIONS, ("    winner = _winner(state[\"board\"])\n    if",
                                              "    winner = _winner(state['bored'])\n    if"))  # fmt: skip
    assert {(result.status, result.field) for result in failed} == {("error", "rewards")}
    assert failed[0].message == "get_rewards raised KeyError: 'bored'"
    assert 'File "program.py", line' in failed[0].traceback
    assert "winner = _winner(state['bored'])" in failed[0].traceback
    assert failed[0].fields["next_state"] == "pass"
    assert failed[0].outcome is Outcome.MODEL_ERROR


def test_what_the_program_printed_comes_with_the_failure(run):
    failed = run("tic_tac_toe", TRANSITIONS, ('    winner = _winner(state["board"])\n    if winner is None',
                                              '    print("a\\n" * 30, "last")\n    winner = 1\n    if winner is None'))  # fmt: skip  # noqa: E501
    assert failed[0].output_tail.splitlines() == ["a"] * 9 + [" last"]


def test_answers_that_depend_on_a_counter_are_not_repeatable(run):
    failed = run("tic_tac_toe", TRANSITIONS, ("def get_observations(state):\n", "CALLS = []\n\n\ndef get_observations(state):\n"  # noqa: E501
                 "    CALLS.append(1)\n    if len(CALLS) % 2 == 0:\n        return [1]\n"))  # fmt: skip
    assert failed
    assert failed[0].field in ("not_repeatable", "observations")


def test_random_answers_are_not_repeatable(run):
    failed = run("tic_tac_toe", TRANSITIONS, ("def get_chance_outcomes(state):\n    return []", "import random\n\n\n"
                 "def get_chance_outcomes(state):\n    return []\n\n\n_legal = get_legal_actions\n\n\n"
                 "def get_rewards(state):\n    return [random.random() * 1e-12, 0.0]"))  # fmt: skip
    assert any(result.field == "not_repeatable" for result in failed)


def test_rewards_kept_in_a_global_from_the_call_before_are_found(run):
    # Right in every game that is played from the start, wrong as soon as a planner asks out of order.
    failed = run(
        "tic_tac_toe",
        TRANSITIONS,
        ("    mark = state[\"mark\"]\n", "    global LAST\n    mark = state[\"mark\"]\n"),
        ('    return {"board": board, "mark"', '    LAST = board\n    return {"board": board, "mark"'),
        ('    winner = _winner(state["board"])\n    if', "    winner = _winner(LAST)\n    if"),
        ("def _winner(board):", "LAST = [None] * 9\n\n\ndef _winner(board):"),
    )  # fmt: skip
    assert {result.field for result in failed} <= {"rewards", "not_repeatable"}
    assert any(result.field == "rewards" for result in failed)


def test_a_resampler_that_returns_one_fixed_sequence_is_rejected(run):
    fixed = ('return ["deal " + card for card in cards] + list(seen["moves"])', 'return ["deal 1", "deal 2"]')
    assert {result.field for result in run("high_card", INFERENCE, fixed)} >= {"resampled_observation"}


def test_a_resampler_that_always_guesses_the_same_hidden_card_is_rejected(run):
    lazy = ("other = random.choice([card for card in CARDS if card != seen[\"card\"]])",
            "other = [card for card in CARDS if card != seen[\"card\"]][0]")  # fmt: skip
    failed = run("high_card", INFERENCE, lazy)
    assert {result.field for result in failed} == {"only_one_history"}
    assert "300 calls" in failed[0].message


def test_a_resampler_that_seeds_random_itself_is_rejected(run):
    seeded = ("    seen = obs_action_history[-1][0]\n", "    random.seed(0)\n    seen = obs_action_history[-1][0]\n")
    assert {result.field for result in run("high_card", INFERENCE, seeded)} == {"only_one_history"}


def test_a_sampler_that_rarely_draws_the_second_history_passes(run):
    rare = ("other = random.choice([card for card in CARDS if card != seen[\"card\"]])",
            "rest = [card for card in CARDS if card != seen[\"card\"]]\n"
            "    other = rest[0] if random.random() < 0.9 else rest[1]")  # fmt: skip
    assert run("high_card", INFERENCE, rare) == []


def test_a_resampler_that_ends_too_early_or_too_late_is_rejected(run):
    early = ('+ list(seen["moves"])', "+ []")
    late = ('+ list(seen["moves"])', '+ list(seen["moves"]) + ["bet"]')
    assert {result.field for result in run("high_card", INFERENCE, early)} == {"resampled_end"}
    assert "resampled_end" in {result.field for result in run("high_card", INFERENCE, late)}


def test_a_failed_inference_test_shows_the_last_ten_lines_of_the_replay(run):
    wrong = ("cards = [seen[\"card\"], other] if player_id == 0 else [other, seen[\"card\"]]",
             "cards = [other, seen[\"card\"]]")  # fmt: skip
    failed = run("high_card", INFERENCE, wrong)
    assert failed[0].field == "resampled_observation"
    lines = failed[0].output_tail.splitlines()
    assert lines[0] == "In state {'cards': [], 'moves': []}"
    assert lines[1].startswith("Taking action 'deal ")
    assert len(lines) <= 10


def test_an_illegal_resampled_action_is_rejected(run):
    twice = ("cards = [seen[\"card\"], other] if player_id == 0 else [other, seen[\"card\"]]",
             "cards = [seen[\"card\"], seen[\"card\"]]")  # fmt: skip
    assert {result.field for result in run("high_card", INFERENCE, twice)} == {"resampled_action"}


@pytest.mark.parametrize(
    ("replacements", "field"),
    [
        ((('return state["moves"] == ["pass"] or len(state["moves"]) == 2', 'return state["moves"] == ["pass"] * 99'),
          ("len(state[\"moves\"])\n\n\ndef get_player_name", "0\n\n\ndef get_player_name")), "length"),
        ((("1.0 / len(actions)", "0.1"),), "chance_outcomes"),
        ((('1: ["call", "fold"], -4: []', '1: ["call", "fold"], -4: ["over"]'),), "legal_actions"),
        ((('0: ["bet", "pass"], 1', "0: [], 1"),), "legal_actions"),
        ((("        return [0.0, 0.0]", "        return [0.0]"),), "rewards"),
        ((("return -4 if _over(state) else len(state[\"moves\"])", "return 2"),), "current_player"),
    ],
)  # fmt: skip
def test_random_play_finds_games_that_do_not_work(run, replacements, field):
    failed = run("high_card", BuildOptions(kinds=("random_play",), max_length=50, random_plays=6), *replacements)
    assert field in {result.field for result in failed}


def test_value_functions_must_be_numbers_and_equal_the_rewards_at_the_end(recorded, sandbox, toy):
    tests = build(recorded["high_card"], BuildOptions(kinds=("value",)))

    def failures(body):
        program = toy("high_card", value_source=f"def value_function(state, player_id):\n    {body}\n")
        return {result.field for result in run_tests(program, tests, sandbox) if result.status != "pass"}

    assert failures("return get_rewards(state)[player_id]") == set()
    assert failures("return 0.0") == {"value"}
    assert failures("return None") == {"value"}
    assert failures("return get_rewards(state)[player_id] + random.random() * 1e-10") == {"not_repeatable"}
    assert failures("state['moves'].append(1); return 0.0") == {"mutated_input"}


def test_an_endless_loop_costs_its_own_test_alone(run):
    slow = ("    winner = _winner(state[\"board\"])\n    if", "    winner = _winner(state[\"board\"])\n"
            "    while state[\"board\"].count(None) == 9 and state[\"mark\"] == \"x\": pass\n    if")  # fmt: skip
    failed = run("tic_tac_toe", TRANSITIONS, slow, per_test_s=0.3, max_deaths=2)
    assert {result.outcome for result in failed} == {Outcome.WALL_TIMEOUT}
    assert [result.id for result in failed[:2]] == ["transition-0-0", "transition-1-0"]
    assert failed[0].message == "no answer within 0.3 seconds"
    assert "in get_rewards" in failed[0].traceback
    assert {result.field for result in failed[3:]} == {NOT_RUN}


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("import os; os._exit(0)", Outcome.CRASHED),
        ("y = [bytearray(1_000_000) for _ in range(1000)]", Outcome.MEMORY_EXCEEDED),
    ],
)
def test_a_death_in_a_test_is_that_tests_error(run, body, outcome):
    replacement = ("    winner = _winner(state[\"board\"])\n    if", f"    winner = _winner(state['board'])\n"
                   f"    if None not in state['board']: {body}\n    if")  # fmt: skip
    failed = run("tic_tac_toe", TRANSITIONS, replacement)
    assert failed
    assert {(result.status, result.outcome) for result in failed} == {("error", outcome)}


def test_a_program_that_does_not_load_fails_every_test_with_its_traceback(run):
    failed = run("tic_tac_toe", TRANSITIONS, ("LINES = [", "LINES = undefined + ["))
    assert len(failed) > 30
    assert all("NameError" in result.message and result.line == 3 for result in failed)


def test_results_do_not_depend_on_the_number_of_workers_or_the_order(recorded, sandbox, toy, monkeypatch):
    monkeypatch.setattr("cwm.suite.execution.CHUNK", 7)
    tests = build(recorded["high_card"], INFERENCE)
    program = toy("high_card", ("CARDS if card != seen", "CARDS if card + '' != seen"),
                  ('    cards = [seen', '    if random.random() < 0.1:\n        raise ValueError(other)\n    cards = [seen'))  # fmt: skip  # noqa: E501
    alone = run_tests(program, tests, sandbox, RunOptions(workers=1))
    assert any(result.status == "error" for result in alone)
    assert any(result.status == "pass" for result in alone)
    assert run_tests(program, tests, sandbox, RunOptions(workers=3)) == alone
    assert sorted(run_tests(program, tests[::-1], sandbox), key=lambda result: result.id) == sorted(
        alone, key=lambda result: result.id
    )


def test_the_repair_prompt_holds_the_whole_of_expected_and_got(recorded, sandbox, toy):
    tests = build(recorded["tic_tac_toe"], TRANSITIONS)
    program = toy("tic_tac_toe", ('"mark": "o" if mark == "x" else "x"', '"mark": "o", "note": "y" * 5000'))
    results = run_tests(program, tests, sandbox)
    chosen = select_for_prompt(tests, results)
    by_id = {result.id: result for result in results}
    text = render(chosen, results)
    assert chosen
    for test in chosen:
        assert f"#   next_state: expected {by_id[test.id].expected!r}" in text
        assert f"#   next_state: got {by_id[test.id].got!r}" in text
    assert "y" * 5000 in text
