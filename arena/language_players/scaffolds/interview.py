"""One role asked until its answer can be used; several roles side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from arena.agents.api import AgentFailure, NoAnswerError
from arena.agents.llm_settings import LlmConfig
from arena.language_players import asking
from arena.language_players.turn_record import CallRecord
from arena.machine import threads
from cwm.llm.api import Completion, LanguageModel, Message
from cwm.llm.requests import request_key
from cwm.storage.keys import derive

T = TypeVar("T")


@dataclass(frozen=True)
class Interview(Generic[T]):
    """What is asked of one role.

    Attributes:
        role: its name, once in a decision.
        messages: the question.
        read: reads a whole answer; raises `AgentFailure` where it cannot be used.
    """

    role: str
    messages: list[Message]
    read: Callable[[str], T]


@dataclass(frozen=True)
class Heard(Generic[T]):
    """What came of it.

    Attributes:
        role: who was asked.
        text: the last answer; "" unless it came whole.
        said: what was read; None if no answer could be used.
        failure: why not; None if it could.
        calls: every question, in order.
        completions: their answers.
    """

    role: str
    text: str
    said: T | None
    failure: AgentFailure | None
    calls: tuple[CallRecord, ...]
    completions: tuple[Completion, ...]


class Interviewer:
    """Asks a language model.

    Each question has a seed of its own, made from the move's seed, the role and the number of the attempt: so it has a
    key of its own in a journal and in a recording, in whatever order roles and games are played.

    Args:
        model: whom to ask.
        config: how.
        retry: what is said after a bad answer, of its kind and of what was wrong.
        side_by_side: whether several roles are asked at once.
    """

    def __init__(
        self, model: LanguageModel, config: LlmConfig, retry: Callable[[str, str], str], side_by_side: bool = True
    ) -> None:
        self._model = model
        self._config = config
        self._retry = retry
        self._side_by_side = side_by_side

    def hear(self, interviews: Sequence[Interview[T]], seed: int) -> list[Heard[T]]:
        """Asks several roles and returns what came of each, in their order.

        Args:
            interviews: whom to ask what.
            seed: of the move.

        Raises:
            NoAnswerError: the model could not be asked; raised after all that are under way have come back.
        """
        if len(interviews) == 1 or not self._side_by_side:
            return [self._hear(interview, seed) for interview in interviews]

        def work(job: dict[str, Any]) -> dict[str, Any]:
            try:
                return {"heard": self._hear(interviews[job["number"]], seed)}
            except NoAnswerError as error:  # the other answers are paid for: they are waited for
                return {"error": error}

        jobs = [{"number": number} for number in range(len(interviews))]
        found = {job["number"]: answer for job, answer in threads.run(work, jobs, len(jobs))}
        for number in range(len(jobs)):
            if "error" in found[number]:
                raise found[number]["error"]
        return [found[number]["heard"] for number in range(len(jobs))]

    def _hear(self, interview: Interview[T], move_seed: int) -> Heard[T]:
        messages = interview.messages
        calls: list[CallRecord] = []
        completions: list[Completion] = []
        while True:
            seed = derive("scaffold", move_seed, interview.role, len(calls))
            purpose = asking.PURPOSE if interview.role == asking.PURPOSE else f"{asking.PURPOSE}: {interview.role}"
            question = asking.request(messages, self._config, seed, purpose)
            completion = asking.answered(self._model, question)
            completions.append(completion)
            text, said, failure = "", None, None
            try:
                text = asking.whole_text(completion, self._config)
                said = interview.read(text)
            except AgentFailure as bad:
                failure = bad
            calls.append(
                CallRecord(
                    interview.role,
                    len(calls),
                    request_key(question, self._model.name),
                    purpose,
                    completion.usage.input_tokens,
                    completion.usage.output_tokens,
                    None if failure is None else failure.kind,
                )
            )
            if failure is None or len(calls) > self._config.retries:
                return Heard(interview.role, text, said, failure, tuple(calls), tuple(completions))
            retry = self._retry(failure.kind, failure.detail)
            messages = asking.asked_again(messages, completion.text, failure.kind, retry)
