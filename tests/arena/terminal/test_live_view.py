"""What is waited for, for how long, and at what cost so far."""

import io

import pytest
from rich.console import Console

from arena.terminal.live_view import LiveView, LiveViews, costs
from cwm.llm.budget import Tally
from cwm.synthesis.events import AnswerReceived, PromptSent

SPENT = Tally(calls=3, input_tokens=30_000, output_tokens=4_000, money=0.35)


def test_seconds_and_costs_stand_beside_what_is_waited_for() -> None:
    now = [100.0]
    live = LiveView(Console(file=io.StringIO()), clock=lambda: now[0])
    live.stage("call 1: 26,049 characters sent")
    now[0] += 12.4
    assert live.waiting().plain == "call 1: 26,049 characters sent   12 s"
    live.counts(lambda: SPENT)
    live.stage("call 4: 10 characters sent")
    assert live.waiting().plain == (
        "call 4: 10 characters sent   0 s   so far: 3 calls, 30,000 tokens in, 4,000 out, cost 0.35"
    )


@pytest.mark.parametrize(
    ("tally", "words"),
    [
        (Tally(1, 0, 7, 3, None), "1 call, 7 tokens in, 3 out"),
        (Tally(2, 1, 7, 3, 0.0, estimated=True), "2 calls, ~7 tokens in, ~3 out"),
    ],
)
def test_costs_that_nobody_knows_are_not_told_and_estimates_are_marked(tally: Tally, words: str) -> None:
    assert costs(tally) == words


def test_on_a_terminal_the_line_is_written_anew_by_itself() -> None:
    written = io.StringIO()
    with LiveView(Console(file=written, force_terminal=True, width=120)) as live:
        live.counts(lambda: SPENT)
        live.stage("call 4")
    assert "so far: 3 calls" in written.getvalue()


def test_an_answer_without_a_program_says_what_was_missing() -> None:
    written = io.StringIO()
    live = LiveView(Console(file=written, width=200))
    live(AnswerReceived(0, 1, "ok", "m-1", 0, 7, 3, 0.1))
    assert written.getvalue().splitlines()[-1] == (
        "the answer held no program: no block that starts with ```python was closed by ```"
    )


def test_several_views_in_one_place_say_whose_line_it_is() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    with LiveViews(console) as views, views.of("s0") as first, views.of("s1") as second:
        first.stage("running the unit tests")
        second(PromptSent(0, 2, 1, "transition", 1234, 10))
        assert [line.split("   ")[0] for line in views.waiting().plain.splitlines()] == [
            "s0: running the unit tests",
            "s1: call 2: 1,234 characters sent for transition",
        ]
    assert console.file.getvalue().splitlines() == [  # type: ignore[attr-defined]
        "s0: running the unit tests",
        "s1: call 2: 1,234 characters sent for transition",
    ]
    assert views.waiting().plain == ""
