"""Budgets: hard caps before each call, true counts after it, and nothing lost over a resume."""

import threading

import pytest

from cwm.llm.api import BudgetExceededError, Completion, ConfigurationError, LanguageModelError, Message, Request, Usage
from cwm.llm.budget import FREE, Budget, Budgeted, Price, ShareOfBudget, Tally
from cwm.llm.journaled import Journaled, StoredCall
from cwm.llm.providers.scripted import Scripted
from cwm.llm.retry import Retrying, RetryPolicy, TransientError
from cwm.record.calls import RecordedCalls
from cwm.storage.journal import Journal

PRICE = Price(2.0, 10.0)
INPUT_RESERVED = 100 + 4  # 300 characters at three a token, and four for the message


def request(purpose: str = "transition", cap: int = 1000) -> Request:
    return Request((Message("user", "x" * 300),), purpose, cap)


def answer(sent: int = 70, received: int = 50, outcome: str = "ok") -> Completion:
    return Completion("hi", outcome, "m-1", Usage(sent, received))  # type: ignore[arg-type]


def test_a_cap_on_calls_refuses_the_call_that_would_pass_it() -> None:
    script = Scripted(lambda _: answer())
    model = Budgeted(script, Budget(calls=2))
    model.complete(request())
    model.complete(request())
    with pytest.raises(BudgetExceededError, match="cap of 2 on calls"):
        model.complete(request())
    assert len(script.requests) == 2


def test_output_tokens_are_set_aside_in_full_before_the_call() -> None:
    script = Scripted(lambda _: answer(received=600))
    model = Budgeted(script, Budget(output_tokens=1500))
    model.complete(request(cap=1000))
    with pytest.raises(BudgetExceededError, match="600 used or set aside, up to 1000 for the next call"):
        model.complete(request(cap=1000))
    model.complete(request(cap=900))
    assert len(script.requests) == 2


def test_a_cap_on_input_tokens_is_checked_with_a_high_estimate() -> None:
    with pytest.raises(BudgetExceededError):
        Budgeted(Scripted(["hi"]), Budget(input_tokens=INPUT_RESERVED - 1)).complete(request())
    Budgeted(Scripted(["hi"]), Budget(input_tokens=INPUT_RESERVED)).complete(request())


def test_a_cap_on_money_is_checked_against_the_worst_case() -> None:
    worst = (INPUT_RESERVED * 2.0 + 1000 * 10.0) / 1e6
    with pytest.raises(BudgetExceededError, match="money"):
        Budgeted(Scripted([answer()]), Budget(money=worst * 0.99), PRICE).complete(request())
    budget = Budget(money=worst)
    Budgeted(Scripted([answer()]), budget, PRICE).complete(request())
    assert budget.total().money == pytest.approx((70 * 2.0 + 50 * 10.0) / 1e6, abs=1e-15)


def test_an_unknown_price_under_a_cap_on_money_is_an_error_and_never_zero() -> None:
    with pytest.raises(ConfigurationError, match="price of scripted:list is unknown"):
        Budgeted(Scripted(["hi"]), Budget(money=1.0))


def test_an_unknown_price_makes_the_total_unknown_and_never_zero() -> None:
    budget = Budget()
    Budgeted(Scripted([answer()]), budget, PRICE).complete(request())
    assert budget.total().money is not None
    Budgeted(Scripted([answer()]), budget).complete(request())
    assert budget.total().money is None


def test_seconds_go_on_counting_over_a_resume() -> None:
    now = [100.0]
    first = Budget(seconds=10.0, clock=lambda: now[0])
    now[0] = 106.0
    assert first.elapsed_s() == 6.0
    now[0] = 500.0
    second = Budget(seconds=10.0, clock=lambda: now[0])
    second.restore_from([], {}, elapsed_s=6.0)
    model = Budgeted(Scripted(lambda _: answer()), second)
    now[0] = 503.9
    model.complete(request())
    now[0] = 504.0
    with pytest.raises(BudgetExceededError, match="cap of 10 s"):
        model.complete(request())


def test_use_is_counted_by_purpose_and_outcome() -> None:
    budget = Budget()
    model = Budgeted(Scripted([answer(), answer(outcome="truncated"), answer(outcome="refused")]), budget, FREE)
    for purpose in ("transition", "transition", "value"):
        model.complete(request(purpose))
    assert budget.by_purpose() == {
        "transition": Tally(calls=2, input_tokens=140, output_tokens=100, truncated=1),
        "value": Tally(calls=1, input_tokens=70, output_tokens=50, refused=1),
    }


def test_a_failed_call_that_nobody_bills_gives_everything_back() -> None:
    budget = Budget(calls=1)
    script = Scripted([LanguageModelError("no"), answer()])
    model = Budgeted(script, budget)
    with pytest.raises(LanguageModelError):
        model.complete(request())
    assert budget.total() == Tally()
    model.complete(request())


def test_an_attempt_that_may_have_been_billed_counts_with_its_worst_case() -> None:
    late = TransientError("late.", "timeout", maybe_billed=True)
    budget = Budget()
    retrying = Retrying(Scripted([late, answer()]), RetryPolicy(), sleep=lambda _: None)
    Budgeted(retrying, budget, PRICE).complete(request())
    total = budget.total()
    assert (total.calls, total.lost) == (2, 1)
    assert (total.input_tokens, total.output_tokens) == (70 + INPUT_RESERVED, 50 + 1000)
    assert total.estimated


def test_calls_at_the_same_time_cannot_pass_a_cap_together() -> None:
    started, finish = threading.Event(), threading.Event()
    budget = Budget(calls=1)

    def slow(_: Request) -> Completion:
        started.set()
        assert finish.wait(10)
        return answer()

    model = Budgeted(Scripted(slow), budget)
    thread = threading.Thread(target=model.complete, args=(request(),))
    thread.start()
    assert started.wait(10)
    with pytest.raises(BudgetExceededError):
        model.complete(request())
    finish.set()
    thread.join()
    assert budget.total().calls == 1


def test_answers_served_from_the_journal_are_not_billed() -> None:
    store = RecordedCalls(Journal(None))
    Journaled(Budgeted(Scripted([answer()], name="openai:m-1"), Budget()), store).complete(request())
    budget = Budget(calls=1)
    budget.restore_from(store.calls(), {"openai:m-1": PRICE})
    before = budget.total()
    assert (before.calls, before.money) == (1, pytest.approx((70 * 2.0 + 50 * 10.0) / 1e6, abs=1e-15))
    resumed = Journaled(Budgeted(Scripted([], name="openai:m-1"), budget), store)
    assert resumed.complete(request()) == answer()
    assert budget.total() == before


def test_a_call_that_a_kill_cut_off_counts_as_lost_if_it_is_billed() -> None:
    for model, lost in (("openai:m-1", 1), ("spool:here", 0)):
        store = RecordedCalls(Journal(None))
        store.begin(StoredCall("k", 0, model, request()))
        budget = Budget()
        budget.restore_from(store.calls(), {model: PRICE})
        assert (budget.total().calls, budget.total().lost) == (lost, lost)


def test_a_negative_cap_is_refused() -> None:
    with pytest.raises(ValueError, match="cap on calls is -1"):
        Budget(calls=-1)


def test_runs_with_one_budget_pass_no_cap_together_and_wait_for_what_is_set_aside() -> None:
    common = Budget(calls=3, output_tokens=1100)
    answered = threading.Event()
    shares = [ShareOfBudget(common) for _ in range(2)]
    first = shares[0].reserve(request(cap=1000), None)
    got: list[Tally] = []

    def second() -> None:
        got.append(shares[1].reserve(request(cap=1000), None))
        answered.set()

    thread = threading.Thread(target=second)
    thread.start()
    # The cap has no room for both in full, but there is some as soon as the first has used less.
    assert not answered.wait(0.05)
    shares[0].settle("transition", first, Tally(calls=1, output_tokens=50))
    thread.join(30)
    assert [share.output_tokens for share in got] == [1000]
    shares[1].settle("transition", got[0], Tally(calls=1, output_tokens=60))
    assert [share.total().output_tokens for share in shares] == [50, 60]
    assert (common.total().calls, common.total().output_tokens) == (2, 110)
    with pytest.raises(BudgetExceededError, match="110 used or set aside, up to 1000 for the next call"):
        shares[0].reserve(request(cap=1000), None)
    shares[0].reserve(request(cap=500), None)


def test_a_run_among_others_may_have_a_cap_on_calls_of_its_own() -> None:
    common = Budget(calls=5)
    shares = [ShareOfBudget(common, calls=1), ShareOfBudget(common, calls=1)]
    models = [Budgeted(Scripted(lambda _: answer()), share) for share in shares]
    for model in models:
        model.complete(request())
        with pytest.raises(BudgetExceededError, match="cap of 1 on calls"):
            model.complete(request())
    # What a run may not ask leaves nothing set aside.
    assert common.total().calls == 2
    for _ in range(3):
        common.reserve(request(), None)
    with pytest.raises(BudgetExceededError, match="cap of 5 on calls"):
        common.reserve(request(), None)


def test_a_common_cap_on_time_and_on_money_binds_every_share() -> None:
    now = [0.0]
    common = Budget(seconds=10, money=1.0, clock=lambda: now[0])
    share = ShareOfBudget(common)
    assert (share.left_s(), share.caps_money) == (10.0, True)
    with pytest.raises(ConfigurationError, match="price"):
        Budgeted(Scripted(["hi"]), share)
    now[0] = 11.0
    with pytest.raises(BudgetExceededError, match="cap of 10 s"):
        share.reserve(request(), PRICE)
