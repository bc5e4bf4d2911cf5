"""The live view of a synthesis: one line an event, and a bar for what is being done now."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console
from rich.status import Status
from rich.text import Text

from cwm.functions.joint.kinds import kind_of
from cwm.functions.types import FunctionChosen, FunctionTested
from cwm.functions.vectors import SCHEMA, VectorsChosen
from cwm.llm.budget import Tally
from cwm.speed.refinement import SpeedTested
from cwm.synthesis.events import AnswerReceived, CandidateTested, Event, Finished, FurtherTested, NodeChosen, PromptSent
from cwm.synthesis.further import describe


class LiveView:
    """Shows events as they come; on a terminal with a spinner that says what is waited for. A context manager."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic, name: str = "") -> None:
        """Prepares the view.

        Args:
            console: where it is shown.
            clock: seconds; injected by tests.
            name: what every line begins with, "" for one synthesis alone.
        """
        self._console = console
        self._before = f"{name}: " if name else ""
        self._clock = clock
        self._words = ""
        self._since = clock()
        self._spent: Callable[[], Tally] = Tally
        self._status = Status(_Waiting(self.waiting), console=console)
        self._live = console.is_terminal

    def __enter__(self) -> "LiveView":
        if self._live:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._status.stop()

    def counts(self, spent: Callable[[], Tally]) -> None:
        """Shows from now on what the language model has cost, beside what is waited for."""
        self._spent = spent

    def waiting(self) -> Text:
        """Returns what is waited for, for how long, and what the language model has cost so far."""
        tally = self._spent()
        cost = f"   so far: {costs(tally)}" if tally.calls else ""
        return Text(f"{self._before}{self._words}   {self._clock() - self._since:.0f} s{cost}")

    def stage(self, text: str) -> None:
        """Says what is done now."""
        self._words, self._since = text, self._clock()
        if not self._live:
            self._console.print(Text(f"{self._before}{text}"))

    def progress(self, what: str, done: int, total: int) -> None:
        """Says how far something is: every step on a terminal, every tenth of the way elsewhere."""
        if self._live or done == total or done * 10 // total > (done - 1) * 10 // total:
            self.stage(f"{what} {done} of {total}")

    def say(self, text: str, style: str = "") -> None:
        """Prints one line that stays."""
        self._console.print(Text(f"{self._before}{text}", style=style))

    def __call__(self, event: Event) -> None:
        """Shows one event."""
        if isinstance(event, NodeChosen) and event.parent is not None:
            among = f", one of {len(event.draws)}" if event.draws else ""
            self.say(f"step {event.step}: refine program {event.parent}{among}")
        elif isinstance(event, PromptSent):
            again = f", attempt {event.attempt}" if event.attempt > 1 else ""
            self.stage(f"call {event.call}: {event.characters:,} characters sent for {event.purpose}{again}")
        elif isinstance(event, AnswerReceived):
            self.say(
                f"call {event.call}: {event.outcome} from {event.model}, {event.num_programs} programs, "
                f"{event.input_tokens:,} tokens in, {event.output_tokens:,} out"
            )
            if event.num_programs:
                self.stage("running the unit tests")
            elif event.outcome == "ok":
                self.say("the answer held no program: no block that starts with ```python was closed by ```", "yellow")
        elif isinstance(event, CandidateTested):
            self._candidate(event)
        elif isinstance(event, FunctionTested):
            speed = "" if event.calls_per_s is None else f", {event.calls_per_s:,.0f} calls/s"
            title = kind_of(event).title
            self.say(f"{title} {event.candidate}: {event.status}{speed}{_because(event.problems)}")
        elif isinstance(event, VectorsChosen):
            shares = ", ".join(f"{SCHEMA if who is None else who}: {score:.4f}" for who, score in event.scores)
            self.say(f"held-out observations that come back from vectors ({shares})")
        elif isinstance(event, FunctionChosen):
            self._chosen(event)
        elif isinstance(event, FurtherTested):
            told = describe(event.games, event.tested, event.failed, event.added)
            self.say(f"further games, round {event.round}: {told}", "yellow" if event.added else "green")
        elif isinstance(event, SpeedTested):
            ratio = "" if event.ratio is None else f", {event.ratio:.2f} times the simulations a second"
            status = event.status.replace("_", " ")
            self.say(f"faster version {event.candidate}: {status}{ratio}{_because(event.problems)}")
        elif isinstance(event, Finished):
            self.say(f"synthesis: {event.message}", "bold")

    def _chosen(self, event: FunctionChosen) -> None:
        scores = ", ".join(f"{'none' if who is None else who}: {score:.2f}" for who, score in event.scores)
        kind = kind_of(event)
        chosen = kind.unused if event.chosen is None else f"{kind.title} {event.chosen} is used"
        how = f"; {event.decided}" if event.decided else ""
        self.say(f"{kind.name} tournament ({scores}): {chosen}{how}")

    def _candidate(self, event: CandidateTested) -> None:
        rates = ", ".join(f"{kind} {rate:.3f}" for kind, rate in event.pass_rates.items())
        style = "green" if event.status == "passed" else "yellow"
        self.say(f"program {event.candidate}: {event.status}, {rates}{_because(event.problems)}", style)


class LiveViews:
    """The live views of several syntheses in one place: every line says whose it is. A context manager."""

    def __init__(self, console: Console) -> None:
        """Prepares them.

        Args:
            console: where they are shown.
        """
        self._console = console
        self._views: dict[str, LiveView] = {}
        self._status = Status(_Waiting(self.waiting), console=console)

    def __enter__(self) -> "LiveViews":
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._status.stop()

    @contextmanager
    def of(self, name: str) -> Iterator[LiveView]:
        """Gives one synthesis its view while it runs."""
        self._views[name] = view = LiveView(self._console, name=name)
        try:
            yield view
        finally:
            del self._views[name]

    def waiting(self) -> Text:
        """Returns what each synthesis waits for, a line each."""
        return Text("\n").join([view.waiting() for view in self._views.copy().values()])


class _Waiting:
    """A line that is written anew whenever the terminal is."""

    def __init__(self, line: Callable[[], Text]) -> None:
        self._line = line

    def __rich__(self) -> Text:
        return self._line()


def costs(tally: Tally) -> str:
    """Returns calls, tokens and money in words; `~` marks tokens that nobody has counted."""
    mark = "~" if tally.estimated else ""
    calls = "1 call" if tally.calls == 1 else f"{tally.calls:,} calls"
    money = "" if not tally.money else f", cost {tally.money:,.4g}"
    return f"{calls}, {mark}{tally.input_tokens:,} tokens in, {mark}{tally.output_tokens:,} out{money}"


def _because(problems: tuple[str, ...]) -> str:
    if not problems:
        return ""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f": {problems[0]}{more}"
