"""A time limit that belongs to the one who answers: what comes late is an answer too, and is marked as late."""

from dataclasses import replace
from typing import Final

from cwm.llm.api import AnswerTimeoutError, Completion, LanguageModel, Request, Usage
from cwm.llm.retry import LOST, lost_calls
from cwm.llm.tokens import reserve_request

LATE: Final = "late_after_s"
"""Key of a completion's metadata: no whole answer came within so many seconds, and the text is not to be used."""


class Punctual:
    """Marks late answers, and turns the error of one that never came into an empty answer so marked.

    Put it inside of `Budgeted`, a recorder and a journal: they keep the mark, so that a resumed or replayed run finds
    the same answer late.
    """

    def __init__(self, model: LanguageModel, timeout_s: float) -> None:
        """Wraps `model`, which should give up at the same limit.

        Args:
            model: whom to ask.
            timeout_s: seconds for one answer.
        """
        self._model = model
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        """Returns the wrapped model's name."""
        return self._model.name

    def complete(self, request: Request) -> Completion:
        """Answers the request; an answer that never came counts with the most tokens that it may have cost.

        Raises:
            LanguageModelError: the call failed for another reason than time.
        """
        try:
            completion = self._model.complete(request)
        except AnswerTimeoutError as error:
            usage = Usage(reserve_request(request), request.max_output_tokens, estimated=True)
            marks = {LATE: self._timeout_s, LOST: max(0, lost_calls(error) - 1)}
            return Completion("", "empty", self.name, usage, self._timeout_s, marks)
        if completion.latency_s <= self._timeout_s:
            return completion
        return replace(completion, metadata={**completion.metadata, LATE: self._timeout_s})
