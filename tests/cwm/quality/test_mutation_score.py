"""The mutation score of a toy game's tests, its coverage, and the games that would add to them."""

from collections.abc import Callable
from dataclasses import asdict, replace

import pytest

from cwm.quality import aimed_games, branch_coverage, mutation, mutation_score
from cwm.quality.aimed_games import Choice, Finds
from cwm.quality.branch_coverage import Branch, instrument
from cwm.quality.mutation import Mutant
from cwm.quality.mutation_score import LOADING, MutationScore, ScoreOptions, Verdict
from cwm.sandbox.inside.program import ProgramGame
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import ProgramSource
from cwm.suite.build import BuildOptions, build
from cwm.suite.types import UnitTest
from cwm.synthesis import candidate
from cwm.trajectories.recorded import collect
from games.api import GameInfo

SANDBOX = Sandbox()
QUICK = ScoreOptions(per_test_s=0.5)
INFO = GameInfo("three_in_a_row", 2, "win_loss_draw", -1.0, 1.0, True, False, ("first", "second"), 9)


@pytest.fixture(scope="module")
def program(program_text: Callable[[str], str]) -> ProgramSource:
    return ProgramSource(program_text("three_in_a_row"), {"board": [None] * 9, "next": "x"}, asdict(INFO))


@pytest.fixture(scope="module")
def toy(program_game: Callable[[str], ProgramGame]) -> ProgramGame:
    return program_game("three_in_a_row")


def games_tests(toy: ProgramGame, games: int, seed: int) -> list[UnitTest]:
    return build(collect(toy, games, seed), BuildOptions())


def mutant(program: ProgramSource, old: str, new: str) -> Mutant:
    assert old in program.source
    return Mutant("by hand", "f", 1, program.source.replace(old, new), (f"-{old}", f"+{new}"))


def test_the_right_program_passes_and_a_broken_one_is_caught_by_a_named_test(
    program: ProgramSource, toy: ProgramGame
) -> None:
    tests = games_tests(toy, 2, 0)
    assert mutation_score.first_failure(program, tests, SANDBOX, QUICK) == (None, "")
    broken = replace(program, source=program.source + "\n\ndef get_legal_actions(state):\n    return []\n")
    name, how = mutation_score.first_failure(broken, tests, SANDBOX, QUICK)
    assert name in {test.id for test in tests}
    assert how == "legal_actions"


@pytest.mark.parametrize(
    ("added", "caught_by", "how"),
    [
        ("\n\n1 / 0\n", LOADING, "model_error"),
        ("\n\ndef get_rewards(state):\n    while True: pass\n", "transition-0-0", "wall_timeout"),
        ("\n\ndef get_rewards(state):\n    import os\n    os._exit(3)\n", "transition-0-0", "crashed"),
    ],
)
def test_a_mutant_that_does_not_load_or_never_answers_is_caught(
    program: ProgramSource, toy: ProgramGame, added: str, caught_by: str, how: str
) -> None:
    tests = build(collect(toy, 1, 0), BuildOptions(kinds=("transition",)))
    broken = replace(program, source=program.source + added)
    assert mutation_score.first_failure(broken, tests, SANDBOX, QUICK) == (caught_by, how)


def test_the_score_does_not_depend_on_the_number_of_workers(program: ProgramSource, toy: ProgramGame) -> None:
    drawn = mutation.draw(program.source, 12, 3)
    tests = games_tests(toy, 2, 0)
    told: list[tuple[int, int]] = []
    alone = mutation_score.score(
        program, drawn.mutants, tests, SANDBOX, QUICK, lambda done, total: told.append((done, total))
    )
    beside = mutation_score.score(program, drawn.mutants, tests, SANDBOX, replace(QUICK, workers=2))
    assert alone == beside
    assert told == [(number, 12) for number in range(1, 13)]
    assert [verdict.mutant for verdict in alone] == list(drawn.mutants)


def test_no_test_catches_nothing_and_more_tests_catch_no_less(program: ProgramSource, toy: ProgramGame) -> None:
    drawn = mutation.draw(program.source, 12, 3)
    scores = [
        MutationScore(tuple(mutation_score.score(program, drawn.mutants, tests, SANDBOX, QUICK)), drawn.places)
        for tests in ([], games_tests(toy, 1, 0), games_tests(toy, 4, 0))
    ]
    assert scores[0].caught == 0
    assert scores[0].caught < scores[1].caught <= scores[2].caught


def test_the_score_is_counted_by_operator_and_by_function_and_survivors_come_smallest_first() -> None:
    verdicts = tuple(
        Verdict(Mutant(operator, function, line, "", (diff,)), caught, "rewards" if caught else "")
        for operator, function, line, diff, caught in [
            ("a", "f", 1, "-long line", None),
            ("a", "g", 2, "-short", None),
            ("b", "f", 3, "-x", "transition-0-1"),
        ]
    )
    score = MutationScore(verdicts, 50)
    assert (score.caught, score.share) == (1, 1 / 3)
    assert score.by_operator() == {"a": (0, 2), "b": (1, 1)}
    assert score.by_function() == {"f": (1, 2), "g": (0, 1)}
    shown = score.to_json()
    assert [survivor["line"] for survivor in shown["survivors"]] == [2, 1]
    assert shown["survivors"][0] == {
        "operator": "a",
        "function": "g",
        "line": 2,
        "diff": ["-short"],
        "caught_by": None,
        "how": "",
    }
    assert (shown["mutants"], shown["places"], MutationScore((), 0).share) == (3, 50, None)


MARKED = '''"""A text."""
from __future__ import annotations


def f(a):
    """Says how."""
    for item in a:
        if item > 1:
            return [x for x in a if x > 5]
    return 1 if a else 0
'''


def test_every_branch_is_listed_with_its_line_and_text() -> None:
    branches = instrument(MARKED).branches
    assert {(branch.line, branch.kind, branch.text) for branch in branches} == {
        (5, "entered", "def f"),
        (7, "entered", "for item in a:"),
        *((8, kind, "item > 1") for kind in ("true", "false")),
        *((9, kind, "x > 5") for kind in ("true", "false")),
        *((10, kind, "a") for kind in ("true", "false")),
    }
    assert {branch.function for branch in branches} == {"f"}


@pytest.mark.parametrize(
    ("argument", "value", "missed"),
    [
        ([], 0, {"7 entered", "8 true", "8 false", "9 true", "9 false", "10 true"}),
        ([0], 1, {"8 true", "9 true", "9 false", "10 false"}),
        ([2, 9], [9], {"8 false", "10 true", "10 false"}),
    ],
)
def test_a_marked_program_computes_the_same_and_knows_what_it_took(
    argument: list[int], value: object, missed: set[str]
) -> None:
    marked = instrument(MARKED)
    with SANDBOX.start(ProgramSource(marked.source, {}, asdict(INFO))) as worker:
        assert worker.call("f", [argument], seed=0).value == value
        taken = set(worker.call(branch_coverage.TAKEN, [], seed=0).value)
    left = [branch for branch in marked.branches if branch.number not in taken]
    assert {f"{branch.line} {branch.kind}" for branch in left} == missed


def test_a_program_with_the_name_of_a_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="rename it"):
        instrument(f"{branch_coverage.MARK} = 3\n")


def test_coverage_of_groups_is_apart_and_a_whole_set_of_games_covers_more(
    program: ProgramSource, toy: ProgramGame
) -> None:
    games = collect(toy, 6, 0)
    groups = [build([game], BuildOptions(kinds=("transition",))) for game in games]
    apart = branch_coverage.measure(program, [groups[0][:1], *groups], SANDBOX)
    together = branch_coverage.measure(program, [[test for group in groups for test in group]], SANDBOX)[0]
    assert apart[0].taken < apart[1].taken
    assert frozenset().union(*(coverage.taken for coverage in apart)) == together.taken
    shown = together.to_json()
    assert shown["taken"] + len(shown["missed"]) == shown["branches"] == len(together.branches)
    assert sum(taken for taken, _ in shown["functions"].values()) == shown["taken"]


def test_a_program_that_does_not_load_cannot_be_measured(program: ProgramSource) -> None:
    with pytest.raises(candidate.TesterError, match="branches of a program could not be counted"):
        branch_coverage.measure(replace(program, source="1 / 0"), [[]], SANDBOX)


def test_a_program_that_forges_its_marks_is_not_believed(program: ProgramSource) -> None:
    forged = (
        program.source + "\n\nif get_rewards:\n    pass\nglobals()['branches_' + 'taken_by_now'] = lambda: [10**9]\n"
    )
    with pytest.raises(candidate.TesterError, match="something else"):
        branch_coverage.measure(replace(program, source=forged), [[]], SANDBOX)


def found(branches: set[int], mutants: set[int], steps: int = 9) -> Finds:
    return Finds(frozenset(branches), frozenset(mutants), steps)


def test_games_are_chosen_for_what_they_add_to_those_chosen_before() -> None:
    finds = [found({1, 2}, set()), found({1, 2, 3}, {0}), found({4}, {0, 1}), found({1}, set(), 2)]
    assert aimed_games.rank(finds, frozenset({1}), 3) == [
        Choice(1, frozenset({2, 3}), frozenset({0})),
        Choice(2, frozenset({4}), frozenset({1})),
    ]


def test_of_two_equally_good_games_the_shorter_is_chosen_then_the_first() -> None:
    finds = [found({2}, set(), 9), found({2}, set(), 5), found({2}, set(), 5)]
    assert [choice.index for choice in aimed_games.rank(finds, frozenset(), 1)] == [1]
    assert aimed_games.rank(finds, frozenset({2}), 5) == []


def test_games_that_catch_a_survivor_are_found(program: ProgramSource, toy: ProgramGame) -> None:
    # Only a game in which the second player wins shows that its reward is wrong.
    games = collect(toy, 12, 5)
    wins = [number for number, game in enumerate(games) if game.returns[1] > 0]
    assert 0 < len(wins) < 12
    wrong = mutant(
        program,
        "def get_rewards(state):",
        "def get_rewards(state):\n    return [abs(x) for x in _paid(state)]\n\n\ndef _paid(state):",
    )
    same = mutant(program, "def get_rewards(state):", "def get_rewards(state): # as it was")
    finds = aimed_games.explore(program, [wrong, same], games, SANDBOX, BuildOptions(), QUICK)
    assert all(1 not in one.mutants for one in finds)
    assert {number for number, one in enumerate(finds) if 0 in one.mutants} >= set(wins)
    assert [one.steps for one in finds] == [len(game.steps) for game in games]


def test_a_branch_is_written_as_json() -> None:
    branch = Branch(3, "f", 7, "true", "a > b")
    assert branch.to_json() == {"number": 3, "function": "f", "line": 7, "kind": "true", "text": "a > b"}
