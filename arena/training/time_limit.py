"""When a training of several stages is to stop, so that it goes on another time."""

import time
from collections.abc import Callable


class TimeLimit:
    """The time of one command, over all stages of a training; the first piece is trained whatever it takes.

    A piece is a program that runs on the accelerator to its end. So a limit is kept by beginning none that would pass
    it, judged by the piece before, and no stage once the time is up: its program would have to be compiled.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Begins to count.

        Args:
            seconds: from now on; None for no limit.
            clock: seconds; injected by tests.
        """
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds
        self._worked = False
        self._piece_s = 0.0

    def trained(self, seconds: float, compiled: bool) -> None:
        """Takes note of a piece.

        Args:
            seconds: that it took.
            compiled: whether its program was compiled in that time, so that it says nothing of the next piece.
        """
        self._worked = True
        self._piece_s = 0.0 if compiled else seconds

    def is_up(self) -> bool:
        """Whether nothing more is to be begun."""
        return self._end is not None and self._worked and self._clock() + self._piece_s >= self._end
