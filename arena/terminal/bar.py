"""Bars that show how far work is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from arena.terminal import console


@contextmanager
def counted_bar(what: str, note: str = "") -> Iterator[Callable[[int, int], None]]:
    """Shows how many of all are done, as it is told, and says `note` once the first is: the work has begun then."""
    notes = [note] if note else []
    with _bar(what, MofNCompleteColumn(), "") as show:

        def told(done: int, total: int) -> None:
            while notes:
                console.notices.print(notes.pop())
            show(done, total, "")

        yield told


@contextmanager
def worded_bar(what: str, words: str) -> Iterator[Callable[[int, int, str], None]]:
    """Shows how far work is in words, `words` before there is anything to tell."""
    with _bar(what, TextColumn("{task.fields[words]}"), words) as show:
        yield show


class _TimeLeft(TimeRemainingColumn):
    """The time that is left, nothing where that is not known or where there is none: work may go on behind the bar."""

    def render(self, task: Task) -> Text:
        shown = super().render(task)
        return Text() if shown.plain in ("-:--:--", "0:00:00") else shown


@contextmanager
def _bar(what: str, how_far: ProgressColumn, words: str) -> Iterator[Callable[[int, int, str], None]]:
    columns = (TextColumn(what), BarColumn(), how_far, _TimeLeft())
    with Progress(*columns, console=console.notices, transient=True) as shown:
        task = shown.add_task(what, total=None, words=words)
        yield lambda done, total, words: shown.update(task, completed=done, total=total, words=words)
