"""Thompson sampling over programs: the formula, which programs may be chosen, and how the posterior moves."""

import random
from collections.abc import Sequence

import pytest

from cwm.llm.api import Completion
from cwm.sandbox.wire.api import Outcome
from cwm.synthesis.attempts import NOTHING, Told
from cwm.synthesis.candidate import Candidate, KindCounts, SuiteReport
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.refiner import Answer, AnswerKind
from cwm.synthesis.tree_search import TreeSearch, beta_parameters


class Writer:
    """Prompts that name what they are about."""

    def synthesis(self, approaches: Told = NOTHING) -> str:
        return "first"

    def refinement(self, candidate: Candidate, attempts: Told = NOTHING) -> str:
        return f"repair {candidate.id}"

    def follow_up(self, candidate: Candidate, num_given: int, turn: int = 0) -> str:
        raise AssertionError("a tree search has no follow-ups")

    def no_program(self) -> str:
        raise AssertionError("a tree search has no follow-ups")


def candidate(
    number: int, passed: int, *, parent: int | None = None, duplicate_of: int | None = None, rejected: bool = False
) -> Candidate:
    counts = {"transition": KindCounts(passed=passed, failed=1000 - passed)}
    outcome = Outcome.REFUSED_STATIC if rejected else Outcome.OK
    problems = ("no",) if rejected else ()
    return Candidate(number, "", str(number), parent, 0, 1, SuiteReport(outcome, problems, counts), duplicate_of)


def answer(kind: AnswerKind = "programs") -> Answer:
    return Answer(kind, Completion("", "ok", "m"))


def searched(first: Sequence[Candidate], **settings: object) -> TreeSearch:
    search = TreeSearch(Writer(), SynthesisConfig.from_json(settings))
    search.observe(search.propose(), answer(), first)
    return search


@pytest.mark.parametrize(
    ("heuristic", "failed", "expected"),
    [(0.0, 0, (1.0, 6.0)), (0.25, 0, (2.25, 4.75)), (0.5, 2, (3.5, 5.5)), (1.0, 0, (6.0, 1.0)), (1.0, 3, (6.0, 4.0))],
)
def test_beta_parameters_are_those_of_rex(heuristic: float, failed: int, expected: tuple[float, float]) -> None:
    assert beta_parameters(heuristic, failed, 5.0) == expected


def test_first_step_asks_for_a_first_program() -> None:
    step = TreeSearch(Writer(), SynthesisConfig()).propose()
    assert (step.messages[0].text, step.parent, step.draws) == ("first", None, {})


def test_posterior_moves_after_a_failed_refinement() -> None:
    search = searched([candidate(0, 500)])
    step = search.propose()
    assert step.parent is not None
    assert step.parent.id == 0
    assert [(arm.failed, arm.succeeded) for arm in search.arms] == [(0, 0)]
    search.observe(step, answer(), [candidate(1, 500, parent=0)])
    assert [(arm.candidate.id, arm.failed, arm.succeeded) for arm in search.arms] == [(0, 1, 0)]
    search.observe(search.propose(), answer("refused"), [])
    assert search.arms[0].failed == 2


def test_refinement_that_gains_is_no_failure_and_becomes_an_arm() -> None:
    search = searched([candidate(0, 500)])
    search.observe(search.propose(), answer(), [candidate(1, 510, parent=0)])
    assert [(arm.candidate.id, arm.failed, arm.succeeded) for arm in search.arms] == [(0, 0, 1), (1, 0, 0)]


def test_gain_below_the_threshold_is_a_failed_refinement() -> None:
    search = searched([candidate(0, 500)])
    search.observe(search.propose(), answer(), [candidate(1, 509, parent=0)])
    assert [(arm.candidate.id, arm.failed) for arm in search.arms] == [(0, 1)]


def test_near_the_top_half_of_what_lacks_is_gain_enough() -> None:
    search = searched([candidate(0, 996)])
    search.observe(search.propose(), answer(), [candidate(1, 997, parent=0)])
    assert [arm.candidate.id for arm in search.arms] == [0]
    search.observe(search.propose(), answer(), [candidate(2, 998, parent=0)])
    assert [arm.candidate.id for arm in search.arms] == [0, 2]


def test_one_good_version_of_several_makes_the_step_a_success() -> None:
    search = searched([candidate(0, 500)])
    versions = [candidate(1, 100, parent=0), candidate(2, 900, parent=0), candidate(3, 0, parent=0, rejected=True)]
    search.observe(search.propose(), answer(), versions)
    assert [(arm.candidate.id, arm.failed, arm.succeeded) for arm in search.arms] == [(0, 0, 1), (2, 0, 0)]


def test_program_that_was_there_before_is_a_failed_refinement() -> None:
    search = searched([candidate(0, 500)])
    search.observe(search.propose(), answer(), [candidate(1, 900, parent=0, duplicate_of=7)])
    assert [(arm.candidate.id, arm.failed) for arm in search.arms] == [(0, 1)]


def test_first_program_below_the_entry_value_is_repaired_twice_and_then_replaced() -> None:
    search = searched([candidate(0, 9)])
    prompts = []
    for number in range(1, 4):
        step = search.propose()
        prompts.append(step.messages[0].text)
        search.observe(step, answer("no_program"), [])
        assert search.arms == [], number
    assert prompts == ["repair 0", "repair 0", "first"]


def test_rejected_program_is_fed_back_but_never_an_arm() -> None:
    search = searched([candidate(0, 0, rejected=True)])
    step = search.propose()
    assert step.messages[0].text == "repair 0"
    search.observe(step, answer(), [candidate(1, 10, parent=0)])
    assert [arm.candidate.id for arm in search.arms] == [1]
    assert search.propose().messages[0].text == "repair 1"


def test_largest_draw_wins() -> None:
    search = searched([candidate(0, 300), candidate(1, 600), candidate(2, 500)])
    for _ in range(20):
        step = search.propose()
        assert step.parent is not None
        assert step.draws[step.parent.id] == max(step.draws.values())
        assert sorted(step.draws) == [0, 1, 2]


def test_better_programs_are_drawn_more_often_and_failures_turn_the_search_away() -> None:
    search = searched([candidate(0, 200), candidate(1, 900)])
    chosen = [search.propose().parent for _ in range(200)]
    before = sum(parent is not None and parent.id == 1 for parent in chosen)
    for _ in range(60):
        step = search.propose()
        if step.parent is not None and step.parent.id == 1:
            search.observe(step, answer(), [])
    chosen = [search.propose().parent for _ in range(200)]
    after = sum(parent is not None and parent.id == 1 for parent in chosen)
    assert before > 180
    assert after < 100


def test_same_seed_draws_alike_and_another_seed_does_not() -> None:
    def draws(seed: int) -> list[dict[int, float]]:
        search = searched([candidate(0, 300), candidate(1, 600)], seed=seed)
        random.seed(99)
        return [search.propose().draws for _ in range(3)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
    first, second, third = draws(1)
    assert first != second != third
