"""Games of a model with an account of what happened in them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cwm.model.arrivals import Arrival
from cwm.model.environment import ModelEnvironment


@dataclass
class Account:
    """What happened in some steps.

    Attributes:
        finished: (place, returns of all players) for each game that ended of itself.
        failures: of the model, by message.
        counts: see `Arrival.counts`.
        seconds: `model` and `encoding` as the worker tells them.
    """

    finished: list[tuple[int, list[float]]] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)

    @property
    def returns(self) -> list[list[float]]:
        """Returns of all players, one list for each finished game."""
        return [paid for _, paid in self.finished]

    def add(self, arrival: Arrival) -> None:
        """Adds a step."""
        self.finished += arrival.finished
        self.failures.update(arrival.failures)
        self.counts.update(arrival.counts)
        _add(self.seconds, arrival.seconds)

    def to_json(self) -> dict[str, Any]:
        """Returns failures and counts that are not 0."""
        return {name: count for name, count in self.counts.items() if count} | (
            {"failures": dict(self.failures)} if self.failures else {}
        )


def _add(total: Counter[str], seconds: Mapping[str, float]) -> None:
    for name, value in seconds.items():
        total[name] += value  # type: ignore[assignment]


class TalliedGames:
    """Steps the games of an environment and keeps the account.

    Args:
        environment: whose games were begun.
    """

    def __init__(self, environment: ModelEnvironment) -> None:
        self._environment = environment
        self._account = Account()

    def step(self, choices: npt.NDArray[np.int32]) -> Arrival:
        """See `ModelEnvironment.step`."""
        arrival = self._environment.step(choices)
        self._account.add(arrival)
        return arrival

    def taken(self) -> Account:
        """Returns the account since it was taken last."""
        account, self._account = self._account, Account()
        return account
