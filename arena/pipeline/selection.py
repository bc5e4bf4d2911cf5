"""Chooses among models of one game that were synthesised independently of each other.

Where everybody sees everything the unit tests tell models apart: the one with the best training accuracy is chosen.
Where information is hidden they do not say enough, and bad models are rejected by matches
(`arena.matches.rejection`); of those that are kept, the one whose planner did best is chosen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from arena.machine.runtime import Runtime
from arena.matches.rejection import Contestant, Matches, Rejection, RejectionConfig, RejectionTournament
from arena.runs.folder import KIND
from arena.runs.settings import RunSettings, planner_config
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle, ModelBundleError
from cwm.record.record import RUN_FILE, RunRecord
from cwm.storage.keys import program_hash
from cwm.synthesis.candidate import SuiteReport

Method: TypeAlias = Literal["training accuracy", "rejection", "no other"]

METADATA: Final = "selection"
"""What is written beside a chosen model of how it was chosen."""


@dataclass(frozen=True)
class Candidate:
    """One of the models to choose from.

    Attributes:
        name: unique among them.
        bundle: the model, None if the synthesis led to none.
        seed: of its synthesis, None if nobody knows.
        calls: of the language model that it took, None if nobody knows.
        accuracy: share of its unit tests that it passes, None if nobody knows.
    """

    name: str
    bundle: ModelBundle | None
    seed: int | None = None
    calls: int | None = None
    accuracy: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns all but the model, of which the hash alone."""
        return {
            "name": self.name,
            "model": None if self.bundle is None else self.bundle.hash,
            "seed": self.seed,
            "calls": self.calls,
            "training_accuracy": self.accuracy,
        }


@dataclass(frozen=True)
class Selection:
    """What was chosen, and why.

    Attributes:
        game: id of the game.
        candidates: all models there were.
        chosen: name of the best, None if there is no model at all.
        kept: names of those that are good enough, the best among them.
        method: what decided.
        reason: in words.
        rejection: the matches, None if none were needed.
    """

    game: str
    candidates: tuple[Candidate, ...]
    chosen: str | None
    kept: tuple[str, ...]
    method: Method
    reason: str
    rejection: Rejection | None = None

    @property
    def best(self) -> Candidate | None:
        """The model that was chosen."""
        return next((item for item in self.candidates if item.name == self.chosen), None)

    def chosen_bundle(self) -> ModelBundle | None:
        """Returns the chosen model with a note on how it was chosen, None if there is none."""
        if self.best is None or self.best.bundle is None:
            return None
        note = {"chosen": self.chosen, "kept": list(self.kept), "of": len(self.candidates), "reason": self.reason}
        bundle = self.best.bundle
        return replace(bundle, metadata={**bundle.metadata, METADATA: note})

    def to_json(self) -> dict[str, Any]:
        """Returns everything but the models themselves as JSON."""
        return {
            "game": self.game,
            "candidates": [item.to_json() for item in self.candidates],
            "chosen": self.chosen,
            "kept": list(self.kept),
            "method": self.method,
            "reason": self.reason,
            "rejection": None if self.rejection is None else self.rejection.to_json(),
        }


def candidate(name: str, folder: Path) -> Candidate:
    """Reads a model to choose from: a run of a synthesis with what its tests said, or a model alone.

    Raises:
        UsageError: there is neither a run nor a model.
        RunRecordError: the run is damaged, or of another kind.
    """
    try:
        bundle = ModelBundle.load(folder)
    except ModelBundleError as error:
        if not (folder / RUN_FILE).exists():
            raise UsageError(f"{error}; give the folders of runs or models, or names of recordings.") from error
        bundle = None
    if not (folder / RUN_FILE).exists():
        calls = bundle.metadata.get("calls") if bundle is not None else None
        return Candidate(name, bundle, calls=calls if isinstance(calls, int) else None)
    with RunRecord.read(folder) as record:
        if record.info.kind != KIND:
            return Candidate(name, bundle)
        return _of_run(name, bundle, record)


def choose(
    candidates: Sequence[Candidate],
    config: RejectionConfig,
    runtime: Runtime,
    workers: int = 1,
    kept: Matches | None = None,
    on_match: Callable[[int, int], None] = lambda done, total: None,
) -> Selection:
    """Chooses the best of some models of one game.

    Args:
        candidates: with distinct names; those without a model are never chosen.
        config: how models are compared where information is hidden.
        runtime: limits of programs that are not trusted.
        workers: matches at once; changes no result.
        kept: stored matches, which are not played again.
        on_match: told how many matches are finished, and of how many.

    Raises:
        UsageError: the models are not of one game, or two have one name.
        TesterError: a match could not be played through no fault of the models.
    """
    made = [item for item in candidates if item.bundle is not None]
    game = _checked(candidates, made)
    if len(made) < 2:
        chosen = made[0].name if made else None
        reason = f"{len(made)} of {len(candidates)} syntheses led to a model."
        return Selection(game, tuple(candidates), chosen, tuple(item.name for item in made), "no other", reason)
    first = made[0].bundle
    assert first is not None
    if first.game_info.perfect_information:
        return _by_accuracy(game, candidates, made)
    found = _matches(game, made, config, runtime, workers).run(kept, on_match)
    return _by_matches(game, candidates, made, found)


def _of_run(name: str, bundle: ModelBundle | None, record: RunRecord) -> Candidate:
    settings = RunSettings.from_record(record.info.config)
    calls = sum(call.completion is not None for call in record.calls.calls())
    accuracy = None if bundle is None else _accuracy(record, bundle)
    return Candidate(name, bundle, settings.seed, calls, accuracy)


def _accuracy(record: RunRecord, bundle: ModelBundle) -> float | None:
    """Returns the share of a run's unit tests, over all its suites, that its model passes."""
    reports = [SuiteReport.from_json(stored) for stored in record.test_reports(program_hash(bundle.source))]
    counts = [count for report in reports for count in report.counts.values()]
    total = sum(count.total for count in counts)
    return sum(count.passed for count in counts) / total if total else None


def _checked(candidates: Sequence[Candidate], made: Sequence[Candidate]) -> str:
    """Returns the id of the one game that all models are of."""
    names = [item.name for item in candidates]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"Two models are named {twice[0]!r}: give each once.")
    games = sorted({str(item.bundle.info["id"]) for item in made if item.bundle is not None})
    if len(games) > 1:
        raise UsageError(f"The models are of {' and of '.join(games)}; choose among models of one game.")
    return games[0] if games else ""


def _by_accuracy(game: str, candidates: Sequence[Candidate], made: Sequence[Candidate]) -> Selection:
    unknown = [item.name for item in made if item.accuracy is None]
    if unknown:
        raise UsageError(
            f"Nobody knows how many of its unit tests {unknown[0]} passes, which decides where nothing is hidden; give "
            "the folders of whole runs."
        )
    best = min(made, key=_preference)
    equal = tuple(item.name for item in made if item.accuracy == best.accuracy)
    reason = f"Nothing is hidden in {game}: {best.name} passes {best.accuracy:.4%} of its unit tests" + (
        f", as {len(equal) - 1} more do; among equals fewer calls decide, then the lower seed." if equal[1:] else "."
    )
    return Selection(game, tuple(candidates), best.name, equal, "training accuracy", reason)


def _matches(
    game: str, made: Sequence[Candidate], config: RejectionConfig, runtime: Runtime, workers: int
) -> RejectionTournament:
    contestants = [Contestant(item.name, item.bundle, item.accuracy) for item in made if item.bundle is not None]
    planner = planner_config(None, False, config.simulations)
    return RejectionTournament(contestants, planner, config, runtime, workers)


def _by_matches(game: str, candidates: Sequence[Candidate], made: Sequence[Candidate], found: Rejection) -> Selection:
    payoffs = {standing.name: standing.payoff for standing in found.standings}
    kept = tuple(standing.name for standing in found.standings if not standing.rejected)
    best = min((item for item in made if item.name in kept), key=lambda item: (-payoffs[item.name], *_preference(item)))
    out = [standing.name for standing in found.standings if standing.rejected]
    reason = (
        f"In {found.matches} matches on {' and '.join(found.hosts)} the planner on {best.name} was paid "
        f"{payoffs[best.name]:.3f} on average, the best of {len(made)}; more than {found.tolerated:.3f} "
        f"({found.config.tolerance:.0%} of the observed range) behind it: {', '.join(out) or 'none'}."
    )
    return Selection(game, tuple(candidates), best.name, kept, "rejection", reason, found)


def _preference(item: Candidate) -> tuple[float, float, float]:
    """Returns a key that is lowest for the best training accuracy, then fewest calls, then the lowest seed."""
    known = -1.0 if item.accuracy is None else item.accuracy
    far = float("inf")
    return (-known, far if item.calls is None else item.calls, far if item.seed is None else item.seed)
