"""Budgets in calls, tokens, money and time: checked before each call, counted by purpose, kept over a resume."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from cwm.llm.api import BudgetExceededError, Completion, ConfigurationError, LanguageModel, LanguageModelError, Request
from cwm.llm.journaled import StoredCall, is_billed
from cwm.llm.retry import lost_calls
from cwm.llm.tokens import reserve_request
from cwm.storage.settings import known_fields


@dataclass(frozen=True)
class Price:
    """What a model costs, in one currency (the caller's), per million tokens."""

    input_per_million: float
    output_per_million: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Returns the cost of so many tokens."""
        return (input_tokens * self.input_per_million + output_tokens * self.output_per_million) / 1e6


FREE = Price(0.0, 0.0)


@dataclass(frozen=True)
class Tally:
    """What has been used.

    Attributes:
        calls: answered calls and attempts that may have been billed without an answer.
        lost: the latter alone; they count with the tokens that were reserved for them.
        input_tokens: tokens sent.
        output_tokens: tokens received, reasoning included.
        money: cost, None as soon as one call had no known price.
        truncated: answers cut by the length cap.
        refused: answers refused.
        empty: answers without text.
        estimated: some of the tokens are our estimate, not the provider's count.
    """

    calls: int = 0
    lost: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float | None = 0.0
    truncated: int = 0
    refused: int = 0
    empty: int = 0
    estimated: bool = False

    def plus(self, other: "Tally") -> "Tally":
        """Returns the sum of two tallies."""
        known = self.money is not None and other.money is not None
        return Tally(
            calls=self.calls + other.calls,
            lost=self.lost + other.lost,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            money=(self.money or 0.0) + (other.money or 0.0) if known else None,
            truncated=self.truncated + other.truncated,
            refused=self.refused + other.refused,
            empty=self.empty + other.empty,
            estimated=self.estimated or other.estimated,
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the tally as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Tally":
        """Returns the tally that `to_json` wrote; unknown fields of a later version are left out."""
        return cls(**known_fields(cls, data))


class Budget:
    """Hard caps that several models may share. None means no cap. Thread-safe.

    Before a call its worst case is set aside (input tokens estimated on the high side, output tokens at the request's
    cap), and given back when the true count is known; so no cap is passed by calls that run at the same time.
    """

    def __init__(
        self,
        *,
        calls: int | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        money: float | None = None,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Sets the caps.

        Args:
            calls: answered calls in all.
            input_tokens: tokens sent in all.
            output_tokens: tokens received in all.
            money: cost in all, in the currency of the prices.
            seconds: wall-clock time in all, counted while a process with this budget runs.
            clock: seconds; injected by tests.

        Raises:
            ValueError: a cap is negative.
        """
        caps = {
            "calls": calls,
            "input tokens": input_tokens,
            "output tokens": output_tokens,
            "money": money,
            "seconds": seconds,
        }
        for name, cap in caps.items():
            if cap is not None and cap < 0:
                raise ValueError(f"the cap on {name} is {cap}: give a number from 0, or leave it out for no cap")
        self._caps: dict[str, float | None] = dict(caps)
        self._clock = clock
        self._started = clock()
        self._elapsed_before = 0.0
        self._by_purpose: dict[str, Tally] = {}
        self._reserved = Tally()
        self._lock = threading.Lock()
        self._settled = threading.Condition(self._lock)

    @property
    def caps_money(self) -> bool:
        """Returns whether money is capped, so that every price must be known."""
        return self._caps["money"] is not None

    def total(self) -> Tally:
        """Returns what all purposes used together."""
        with self._lock:
            return self._total()

    def by_purpose(self) -> dict[str, Tally]:
        """Returns what each purpose used, by name."""
        with self._lock:
            return dict(sorted(self._by_purpose.items()))

    def elapsed_s(self) -> float:
        """Returns the seconds used, those before a resume included."""
        return self._elapsed_before + self._clock() - self._started

    def left_s(self) -> float | None:
        """Returns the seconds that are left, None if time is not capped."""
        seconds = self._caps["seconds"]
        return None if seconds is None else max(0.0, seconds - self.elapsed_s())

    def reserve(self, request: Request, price: Price | None) -> Tally:
        """Sets the worst case of one call aside, and returns it for `settle`.

        Raises:
            BudgetExceededError: a cap would be passed.
        """
        share = _worst_case(request, price)
        with self._lock:
            self._check(share, self._reserved)
            self._reserved = self._reserved.plus(share)
        return share

    def reserve_in_turn(self, request: Request, price: Price | None) -> Tally:
        """Like `reserve`, but waits where only what is set aside for other calls keeps this one out.

        Raises:
            BudgetExceededError: a cap would be passed whatever comes of the calls under way.
        """
        share = _worst_case(request, price)
        with self._settled:
            while True:
                self._check(share, Tally())
                try:
                    self._check(share, self._reserved)
                except BudgetExceededError:
                    # What is under way ends by its own limits of time, and settles then.
                    self._settled.wait(self.left_s())
                    continue
                self._reserved = self._reserved.plus(share)
                return share

    def settle(self, purpose: str, share: Tally, used: Tally) -> None:
        """Gives a reserved share back and counts what was really used."""
        with self._settled:
            self._reserved = _minus(self._reserved, share)
            self._count(purpose, used)
            self._settled.notify_all()

    def restore_from(
        self, calls: Iterable[StoredCall], prices: Mapping[str, Price | None], *, elapsed_s: float = 0.0
    ) -> None:
        """Goes on from the journal itself, which knows of every call even after a kill.

        Args:
            calls: every call of the run.
            prices: by model name as the user wrote it; a model that is missing has no known price.
            elapsed_s: seconds used so far.
        """
        with self._lock:
            self._elapsed_before = elapsed_s
            self._started = self._clock()
            self._by_purpose = {}
            for call in calls:
                # A call that was sent and never answered may have been billed while the process died.
                lost = call.lost + int(call.status == "sent" and is_billed(call.model))
                used = _used(call.request, call.completion, lost, prices.get(call.model))
                self._count(call.request.purpose, used)

    def _count(self, purpose: str, used: Tally) -> None:
        if used.calls:
            self._by_purpose[purpose] = self._by_purpose.get(purpose, Tally()).plus(used)

    def _total(self) -> Tally:
        total = Tally()
        for tally in self._by_purpose.values():
            total = total.plus(tally)
        return total

    def _check(self, share: Tally, held: Tally) -> None:
        used = self._total()
        for name, before, needed in (
            ("calls", used.calls + held.calls, share.calls),
            ("input tokens", used.input_tokens + held.input_tokens, share.input_tokens),
            ("output tokens", used.output_tokens + held.output_tokens, share.output_tokens),
            ("money", _sum(used.money, held.money), share.money),
        ):
            cap = self._caps[name]
            if cap is None:
                continue
            if before is None or needed is None:
                raise ConfigurationError("money is capped but a call of this run has no known price: give its price")
            if before + needed > cap + 1e-9:
                raise BudgetExceededError(
                    f"The cap of {cap:g} on {name} would be passed: {before:g} used or set aside, up to {needed:g} for "
                    "the next call; raise the cap and resume, or lower the answer's length cap."
                )
        seconds = self._caps["seconds"]
        if seconds is not None and self.elapsed_s() >= seconds:
            raise BudgetExceededError(
                f"The cap of {seconds:g} s is reached ({self.elapsed_s():.0f} s used): raise the cap and resume."
            )


class ShareOfBudget(Budget):
    """The account of one of several runs whose caps are common: it counts its own, and asks a common budget for leave.

    A call waits for what is under way in the other runs where that alone keeps it out.
    """

    def __init__(
        self, common: Budget, clock: Callable[[], float] = time.monotonic, *, calls: int | None = None
    ) -> None:
        """Opens an account under `common`, which has counted what was used before.

        Args:
            common: of all runs.
            clock: seconds; injected by tests.
            calls: a cap of this run's own, None for none. A run asks one question after the other where it has one.
        """
        super().__init__(calls=calls, clock=clock)
        self._common = common

    @property
    def caps_money(self) -> bool:
        """Returns whether money is capped for all together."""
        return self._common.caps_money

    def left_s(self) -> float | None:
        """Returns the seconds that are left to all, None if time is not capped."""
        return self._common.left_s()

    def reserve(self, request: Request, price: Price | None) -> Tally:
        """Sets the worst case of one call aside in the common budget, and returns it for `settle`.

        Raises:
            BudgetExceededError: a common cap would be passed, or the run's own.
        """
        with self._lock:
            self._check(_worst_case(request, price), Tally())
        return self._common.reserve_in_turn(request, price)

    def settle(self, purpose: str, share: Tally, used: Tally) -> None:
        """Gives a reserved share back, and counts what was really used here and in the common budget."""
        self._common.settle(purpose, share, used)
        super().settle(purpose, Tally(), used)


def check_price(model: str, budget: Budget, price: Price | None) -> None:
    """Checks that a cap on money can be kept.

    Raises:
        ConfigurationError: money is capped and the price is unknown.
    """
    if budget.caps_money and price is None:
        raise ConfigurationError(
            f"Money is capped but the price of {model} is unknown, and an unknown price is never taken as "
            "zero: give the options `price_in` and `price_out` per million tokens, or cap calls or tokens instead."
        )


class Budgeted:
    """A model whose every call is checked against a budget first, and counted in it afterwards."""

    def __init__(self, model: LanguageModel, budget: Budget, price: Price | None = None) -> None:
        """Wraps `model`.

        Args:
            model: the model; put `Retrying` inside and `Journaled` outside.
            budget: shared by every model of the run.
            price: of this model, None if unknown.

        Raises:
            ConfigurationError: money is capped and the price is unknown.
        """
        check_price(model.name, budget, price)
        self._model = model
        self._budget = budget
        self._price = price

    @property
    def name(self) -> str:
        """Returns the wrapped model's name."""
        return self._model.name

    def complete(self, request: Request) -> Completion:
        """Answers the request if the budget allows the call.

        Raises:
            BudgetExceededError: a cap would be passed; nothing was sent.
            LanguageModelError: the call failed.
        """
        share = self._budget.reserve(request, self._price)
        used = Tally()
        left_s = self._budget.left_s()
        try:
            completion = self._model.complete(
                request if left_s is None else replace(request, deadline=time.monotonic() + left_s)
            )
            used = _used(request, completion, lost_calls(completion), self._price)
        except LanguageModelError as error:
            used = _used(request, None, lost_calls(error), self._price)
            raise
        finally:
            self._budget.settle(request.purpose, share, used)
        return completion


def _worst_case(request: Request, price: Price | None) -> Tally:
    input_tokens = reserve_request(request)
    money = None if price is None else price.cost(input_tokens, request.max_output_tokens)
    return Tally(
        calls=1, input_tokens=input_tokens, output_tokens=request.max_output_tokens, money=money, estimated=True
    )


def _used(request: Request, completion: Completion | None, lost: int, price: Price | None) -> Tally:
    used = Tally()
    for _ in range(lost):
        used = used.plus(replace(_worst_case(request, price), lost=1))
    if completion is None:
        return used
    usage = completion.usage
    return used.plus(
        Tally(
            calls=1,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            money=None if price is None else price.cost(usage.input_tokens, usage.output_tokens),
            truncated=int(completion.outcome == "truncated"),
            refused=int(completion.outcome == "refused"),
            empty=int(completion.outcome == "empty"),
            estimated=usage.estimated,
        )
    )


def _minus(held: Tally, share: Tally) -> Tally:
    return Tally(
        calls=held.calls - share.calls,
        input_tokens=held.input_tokens - share.input_tokens,
        output_tokens=held.output_tokens - share.output_tokens,
        money=None if held.money is None or share.money is None else held.money - share.money,
    )


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second
