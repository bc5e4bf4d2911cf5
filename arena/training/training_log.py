"""What training writes down as it goes: one JSON line a report, and the same numbers for TensorBoard."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tensorboardX import SummaryWriter

from cwm.storage.files import write_whole
from search.learn.errors import DivergedError

FILE: Final = "metrics.jsonl"


def read(folder: Path) -> list[dict[str, Any]]:
    """Returns the reports of a training, oldest first; what is none, as a last line that was cut off, is left out."""
    try:
        lines = (folder / FILE).read_text().splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            report = json.loads(line)
        except ValueError:
            continue
        if isinstance(report, dict) and isinstance(report.get("steps"), int):
            found.append(report)
    return found


def check_finite(name: str, updates: int, report: Mapping[str, float | None]) -> None:
    """Refuses to go on with a policy or a belief whose numbers are none any more.

    Args:
        name: of what is trained.
        updates: done so far.
        report: numbers by name.

    Raises:
        DivergedError: one is not finite.
    """
    for number, value in report.items():
        if value is not None and not math.isfinite(value):
            raise DivergedError(
                f"The training of {name} diverged: {number} is {value} after {updates:,} updates. Train in another "
                "folder with other settings, e.g. another seed, a smaller entropy bonus or float32; what was "
                "kept before is kept."
            )


class TrainingLog:
    """Appends reports; a context manager.

    What an earlier process reported after its last checkpoint is dropped, for it will be trained again.
    """

    def __init__(self, folder: Path, steps: int) -> None:
        """Opens the log of a training.

        Args:
            folder: of the training.
            steps: environment steps that the training goes on from.
        """
        kept = [line for line in read(folder) if line["steps"] <= steps]
        path = folder / FILE
        write_whole(path, "".join(json.dumps(line) + "\n" for line in kept))
        self._file = path.open("a", buffering=1)
        self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=steps + 1)

    def report(self, seeds: Sequence[int], steps: int, reports: Sequence[Mapping[str, float | None]]) -> None:
        """Writes down one report a seed.

        Args:
            seeds: of the policies.
            steps: environment steps of each so far.
            reports: numbers by name, None for what cannot be said, in the order of the seeds.
        """
        for seed, report in zip(seeds, reports, strict=True):
            self._file.write(json.dumps({"steps": steps, "seed": seed, **report}) + "\n")
            for name, value in report.items():
                if value is not None:
                    self._board.add_scalar(f"seed_{seed}/{name}", value, steps)

    def close(self) -> None:
        """Closes what is written to; without the context manager, call it at the end."""
        self._file.close()
        self._board.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
