"""What may be wished of a provider; each takes what concerns it."""

from dataclasses import dataclass

from cwm.llm.line import Secret


@dataclass(frozen=True)
class Polling:
    """How to wait for answers.

    Attributes:
        interval_s: seconds between two looks.
        still_s: seconds that an answer's size and time must not change before it is read.
        timeout_s: seconds to wait for one answer.
    """

    interval_s: float = 1.0
    still_s: float = 1.0
    timeout_s: float = 86_400.0


@dataclass(frozen=True)
class Wishes:
    """How a provider is opened.

    Attributes:
        key: for its server, None for a server of the user's own that asks for none.
        base_url: address of that server, None for the provider's own.
        timeout_s: seconds that one attempt may take; where the answer comes in pieces, between two of them.
        stream: take answers piece by piece, where the provider can; None for long ones alone.
        answer_s: seconds that a whole answer may take, in pieces or not; None for no such limit.
        headers: further ones of every request.
        polling: how a folder is watched for answers, None for the default.
        start: how many answers of a script an earlier process used up.
    """

    key: str | None = None
    base_url: str | None = None
    timeout_s: float = 600.0
    stream: bool | None = None
    answer_s: float | None = None
    headers: tuple[tuple[str, Secret], ...] = ()
    polling: Polling | None = None
    start: int = 0
