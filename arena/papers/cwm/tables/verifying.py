"""Whether what a rebuilding's folder holds is what it says: its syntheses, and every match by the true rules."""

from dataclasses import dataclass, replace
from pathlib import Path

from arena.evaluation.verified_run import verify_run
from arena.matches import store
from arena.matches.verification import Problem, verify_games
from arena.papers.cwm.tables import settings
from arena.runs.folder import KIND
from cwm.record.record import RUN_FILE, RunRecord


@dataclass(frozen=True)
class VerifiedPaper:
    """What became of a rebuilding's records.

    Attributes:
        syntheses: that were checked.
        tournaments: that were checked.
        games: stored ones.
        problems: what is not as it should be; places are paths within the folder.
    """

    syntheses: int
    tournaments: int
    games: int
    problems: tuple[Problem, ...]


def verify(root: Path) -> VerifiedPaper:
    """Checks programs, calls and recorded games of every synthesis, and plays every match again; changes nothing.

    Raises:
        UsageError: the folder holds no rebuilding.
        RunRecordError: a record cannot be read.
        StoreError: a file of games is damaged.
    """
    settings.read(root)
    problems: list[Problem] = []
    syntheses = tournaments = games = 0
    for path in sorted(root.glob(f"*/*/{RUN_FILE}")):
        with RunRecord.read(path.parent) as record:
            if record.info.kind == KIND:
                syntheses += 1
                problems += _within(root, path.parent, verify_run(record))
    for path in sorted(root.glob(f"*/*/*/{store.FILE_NAME}")):
        found = verify_games(path.parent)
        tournaments += 1
        games += len(found.records)
        problems += _within(root, path.parent, found.problems)
    return VerifiedPaper(syntheses, tournaments, games, tuple(problems))


def _within(root: Path, folder: Path, problems: list[Problem] | tuple[Problem, ...]) -> list[Problem]:
    place = folder.relative_to(root)
    return [replace(problem, place=f"{place}: {problem.place}") for problem in problems]
