"""`cwm benchmark equivalence`: the planner on each recorded model beside the same planner on the true game."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from arena.comparison import equivalence
from arena.comparison.equivalence import Equivalence, EquivalenceConfig
from arena.figures.intervals import Estimate
from arena.figures.sheet import Sheet
from arena.machine import shipped, user_cache
from arena.machine.runtime import Runtime
from arena.matches.game_source import load_bundle
from arena.matches.tournament import Progress
from arena.pipeline import recorded_models

DEALS: Final = 100
SIMULATIONS: Final = 100
FOLDER: Final = "equivalence"
TITLE: Final = "Planner on the code world model less planner on the true game, same settings"


@dataclass(frozen=True)
class EquivalenceWishes:
    """What is measured.

    Attributes:
        games: registry ids, each with a recorded model.
        deals: deals a game, each in all seatings.
        simulations: simulations a move of both planners.
        rollouts: rollouts a leaf of both.
        minutes: for each game, no further deals are begun after so long; None for no limit.
        seed: of deals and moves.
        model: folder of one model in the place of the recorded ones; None for those.
        folder: keeps the games; None for the cache of replayed models.
    """

    games: Sequence[str]
    deals: int = DEALS
    simulations: int = SIMULATIONS
    rollouts: int = 1
    minutes: float | None = None
    seed: int = 0
    model: Path | None = None
    folder: Path | None = field(default=None)


def run(
    asked: EquivalenceWishes, workers: int, on_game: Callable[[str, Progress], None] = lambda game, state: None
) -> Iterator[Equivalence]:
    """Yields what was found of each game as soon as it is finished; games that were stored are not played again.

    Args:
        asked: what to measure.
        workers: processes; they change no result.
        on_game: told after each game, with its id.

    Raises:
        UsageError: no model is recorded for a game.
        AgentSpecError: a model cannot be read, or is of another game.
        StoreError: the folder is in use, damaged, or of other games.
    """
    kept = asked.folder or user_cache.cache_folder() / FOLDER
    for game in asked.games:
        model = asked.model or recorded_models.folder_of(game)

        def progress(state: Progress, game: str = game) -> None:
            on_game(game, state)

        config = EquivalenceConfig(
            game=game,
            model=str(model),
            deals=asked.deals,
            simulations=asked.simulations,
            rollouts=asked.rollouts,
            seed=asked.seed,
            runtime=Runtime(level=shipped.level_of([load_bundle(model).hash])),
        )
        yield equivalence.run(config, kept, workers, progress, asked.minutes)


def table(found: Sequence[Equivalence]) -> Sheet:
    """Returns what people read: one row a game."""
    made = Sheet(
        TITLE,
        ["game", "measure"],
        [
            "deals",
            "CWM planner",
            "true-game planner",
            "difference, 95 % interval",
            "differing deals",
            "δ",
            "verdict",
            "simulations",
            "forfeits CWM : true",
        ],
    )
    for item in found:
        made.add(
            item.game,
            item.measure,
            str(item.deals),
            _mean(item.cwm),
            _mean(item.true),
            _interval(item.difference),
            str(item.different_deals),
            f"{item.margin.delta:g}",
            item.verdict,
            str(item.settings["simulations"]),
            " : ".join(str(count) for count in item.forfeits.values()),
        )
    return made


def reasons(found: Sequence[Equivalence]) -> list[str]:
    """Returns why each δ is what it is, one line for all games that share a reason."""
    games: dict[tuple[float, str], list[str]] = {}
    for item in found:
        games.setdefault((item.margin.delta, item.margin.reason), []).append(item.game)
    return [f"δ = {delta:g} ({', '.join(ids)}): {reason}" for (delta, reason), ids in games.items()]


def _mean(estimate: Estimate | None) -> str:
    return "–" if estimate is None else f"{estimate.mean:.3f}"


def _interval(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.mean:+.3f}"
    return f"{estimate.mean:+.3f} [{estimate.low:+.3f}, {estimate.high:+.3f}]"
