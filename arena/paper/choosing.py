"""Which of several syntheses of a game are played: bad ones are rejected as in the CWM paper's appendix E."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena import shipped_models
from arena.paper import matches, syntheses
from arena.paper.paper_games import BY_ID, Variant
from arena.paper.places import Place
from arena.paper.settings import Scale
from arena.rejection import Contestant, RejectionConfig, RejectionTournament
from arena.runtime import Runtime
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.storage.files import write_whole
from cwm.storage.journal import Journal

FEWEST: Final = 3
"""With two hosts, two models would judge each other alone."""
MATCHES_FILE: Final = "rejection-{variant}.sqlite"
RESULT_FILE: Final = "rejection-{variant}.json"


@dataclass(frozen=True)
class _Kept:
    """Keeps the matches of a comparison in a journal."""

    journal: Journal

    def game(self, key: str) -> Any | None:
        return self.journal.get("games", key)

    def put_game(self, key: str, payload: Any) -> bool:
        return self.journal.put("games", key, payload)


def choose(
    places: Sequence[Place], scale: Scale, seed: int, workers: int, on_match: Callable[[int, int], None]
) -> list[Place]:
    """Returns the syntheses of one game and kind that are played: all but the rejected ones.

    Nothing is rejected where nothing is hidden, as in the paper, nor among fewer than three models.

    Args:
        places: finished syntheses, by seed.
        scale: simulations and rollouts of the planners; repetitions are half as many as matches a seat.
        seed: of the comparison.
        workers: matches at once.
        on_match: told how many matches are finished, and of how many.

    Raises:
        TesterError: a match could not be played through no fault of the models.
    """
    if len(places) < FEWEST or not BY_ID[places[0].game].hidden:
        return list(places)
    root, game, variant = places[0].root, places[0].game, places[0].variant
    known = rejected(root, game, variant)
    if known is None:
        known = _compare(places, scale, seed, workers, on_match)
    return [place for place in places if place.seed not in known]


def work(game: str, syntheses_played: int) -> float:
    """Returns the matches of a comparison for each deal, in units of the four that two opponents and two seats make."""
    compared = BY_ID[game].hidden and syntheses_played >= FEWEST
    # Two hosts, every model at either seat, and half as many repetitions as deals.
    return syntheses_played**2 / 4 if compared else 0.0


def rejected(root: Path, game: str, variant: Variant) -> list[int] | None:
    """Returns the seeds of the rejected syntheses, None if none were compared.

    Raises:
        UsageError: the file that says so is damaged.
    """
    path = root / game / RESULT_FILE.format(variant=variant)
    try:
        standings = json.loads(path.read_text(encoding="utf-8"))["standings"]
        return [int(row["name"]) for row in standings if row["rejected"]]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} cannot be read ({error}); delete it, and it is made anew.") from error


def _compare(
    places: Sequence[Place], scale: Scale, seed: int, workers: int, on_match: Callable[[int, int], None]
) -> list[int]:
    folder, variant = places[0].root / places[0].game, places[0].variant
    contestants = [_contestant(place) for place in places]
    config = RejectionConfig(
        repetitions=max(1, scale.deals // 2), simulations=scale.simulations, rollouts=scale.rollouts, seed=seed
    )
    level = shipped_models.level_of([item.bundle.hash for item in contestants])
    tournament = RejectionTournament(
        contestants, matches.planner(places[0].game, scale), config, Runtime(level, matches.MOVE_SECONDS), workers
    )
    journal = Journal(folder / MATCHES_FILE.format(variant=variant))
    try:
        found = tournament.run(_Kept(journal), on_match)
    finally:
        journal.close()
    text = json.dumps(found.to_json(), indent=1, sort_keys=True, allow_nan=False) + "\n"
    write_whole(folder / RESULT_FILE.format(variant=variant), text)
    return [int(item.name) for item in found.standings if item.rejected]


def _contestant(place: Place) -> Contestant:
    made = syntheses.result(place.folder) or {}
    rates = list(made.get("accuracy", {}).values())
    return Contestant(str(place.seed), ModelBundle.load(place.folder), sum(rates) / len(rates) if rates else None)
