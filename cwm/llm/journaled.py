"""A model behind a journal: every request is stored before it is sent, every answer before it is used."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from cwm.llm.api import Completion, LanguageModel, LanguageModelError, Request
from cwm.llm.provider_table import provider_of
from cwm.llm.requests import Occurrences, request_key
from cwm.llm.retry import lost_calls

CallStatus: TypeAlias = Literal["sent", "answered", "failed"]


def is_billed(model: str) -> bool:
    """Returns whether a call that was cut off may cost something; files answer the same call again for nothing."""
    provider = provider_of(model)
    return provider is None or provider.is_server


@dataclass(frozen=True)
class StoredCall:
    """One call as the store holds it.

    Attributes:
        key: `request_key(request, model)`, 64 hexadecimal digits.
        occurrence: how many equal requests the run made before it.
        model: the model's name as the user wrote it, e.g. `openai:MODEL`.
        request: what was asked.
        status: `sent` (no answer yet, or the process was killed), `answered` or `failed`.
        completion: the answer, None unless `answered`.
        message: why it failed, empty unless `failed`.
        lost: attempts that may have been billed although no answer came of them. In a call that begins: how many
            such attempts a process that died during it has made.
    """

    key: str
    occurrence: int
    model: str
    request: Request
    status: CallStatus = "sent"
    completion: Completion | None = None
    message: str = ""
    lost: int = 0


class CompletionStore(Protocol):
    """Where calls are kept. Every method returns only after its write is durable; all are thread-safe."""

    def begin(self, call: StoredCall) -> Completion | None:
        """Stores a call as `sent` with `lost` 0 unless (key, occurrence) is there; returns its answer where it has one.

        A call that is there as `failed` becomes `sent` again and keeps its `lost`. One that is there as `sent` was
        under way when the process died: it keeps its `lost` and adds `call.lost`, since it may have been billed.
        """
        ...

    def finish(self, key: str, occurrence: int, completion: Completion, lost: int) -> None:
        """Stores the answer: status `answered`, `lost` added to what was there."""
        ...

    def fail(self, key: str, occurrence: int, message: str, lost: int) -> None:
        """Stores a failure: status `failed`, `lost` added to what was there."""
        ...

    def calls(self) -> Iterator[StoredCall]:
        """Yields every call in the order in which they began."""
        ...


class Journaled:
    """Serves what the store has answered without a call, and stores everything else around the call.

    Put it outside of `Budgeted`, so that a served answer is not billed again.
    """

    def __init__(self, model: LanguageModel, store: CompletionStore) -> None:
        """Wraps `model`; the occurrence numbers start at 0, as in the run that filled the store."""
        self._model = model
        self._store = store
        self._occurrences = Occurrences()

    @property
    def name(self) -> str:
        """Returns the wrapped model's name."""
        return self._model.name

    def complete(self, request: Request) -> Completion:
        """Answers from the store, or asks the model once and stores the answer before returning it.

        Raises:
            LanguageModelError: the call failed; the store says so too.
        """
        key = request_key(request, self.name)
        occurrence = self._occurrences.number(request, key)
        numbered = replace(request, occurrence=occurrence)
        interrupted = int(is_billed(self.name))
        answered = self._store.begin(StoredCall(key, occurrence, self.name, numbered, lost=interrupted))
        if answered is not None:
            return answered
        try:
            completion = self._model.complete(numbered)
        except LanguageModelError as error:
            self._store.fail(key, occurrence, str(error), lost_calls(error))
            raise
        self._store.finish(key, occurrence, completion, lost_calls(completion))
        return completion
