"""A bar that shows how many of all are done, for work that counts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from arena.terminal import console


@contextmanager
def counted_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Shows how many of all are done, as it is told."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console.notices, transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)
