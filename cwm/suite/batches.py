"""Results of unit tests as they come, batch by batch: an evaluation that was killed goes on behind the last of them."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields
from typing import Any, Protocol

from cwm.sandbox.wire.api import Outcome
from cwm.storage.journal import Journal
from cwm.suite.types import UnitTestResult

_DEFAULTS = {field.name: field.default for field in fields(UnitTestResult) if field.default is not MISSING} | {
    "fields": {}
}


class Batches(Protocol):
    """Keeps the results of batches of tests by a key of all that decides them."""

    def get(self, key: str) -> list[UnitTestResult] | None: ...

    def put(self, key: str, results: Sequence[UnitTestResult]) -> None: ...


class StoredBatches:
    """The batches of one evaluation in the journal of a run. Thread-safe.

    Args:
        journal: open for writing.
        evaluation: the evaluation's key; its batches are dropped together.
    """

    def __init__(self, journal: Journal, evaluation: str) -> None:
        self._journal = journal
        self._evaluation = evaluation

    def get(self, key: str) -> list[UnitTestResult] | None:
        """Returns the stored results of a batch, None if it was not finished."""
        found = self._journal.batch(self._evaluation, key)
        return None if found is None else [_from_json(data) for data in found]

    def put(self, key: str, results: Sequence[UnitTestResult]) -> None:
        """Stores the results of a finished batch.

        Raises:
            RunStorageError: the disk is full or read-only; batches stored before are safe.
        """
        self._journal.put_batch(self._evaluation, key, [_to_json(result) for result in results])

    def clear(self) -> None:
        """Drops all batches: the evaluation that they add up to is stored."""
        self._journal.drop_batches(self._evaluation)


def _to_json(result: UnitTestResult) -> dict[str, Any]:
    """Returns what differs from a result's defaults: nearly all tests of a good model pass, with nothing to tell."""
    return {name: value for name, value in asdict(result).items() if value != _DEFAULTS.get(name, MISSING)}


def _from_json(data: Mapping[str, Any]) -> UnitTestResult:
    return UnitTestResult(**{**data, "outcome": Outcome(data.get("outcome", Outcome.OK))})
