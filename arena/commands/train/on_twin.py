"""What commands that train and play policies on twins share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from arena.machine import accelerated
from arena.pipeline import twin as twins
from arena.runs.folder import MODEL
from arena.terminal.bar import counted_bar
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.twins.stored import StoredTwin

GAMES: Final = 1000
"""Of a seating."""


def twin_of(folder: Path, recorded: bool = False) -> tuple[ModelBundle, StoredTwin]:
    """Returns the model of a run, or in a folder of its own, and its twin.

    Args:
        folder: of the run or the model.
        recorded: whether the model was replayed from what ships: then so is its twin, unless it is there.

    Raises:
        StoredTwinError: there is none, or it is damaged.
        UsageError: it is another model's.
    """
    if recorded:
        add_recorded(folder)
    bundle = ModelBundle.load(folder)
    place = folder / MODEL if (folder / MODEL).is_dir() else folder
    twin = StoredTwin.load(place)
    if twin.model != bundle.hash:
        raise UsageError(f"The twin in {place} equals another model than the one beside it: run `cwm twin {folder}`.")
    return bundle, twin


def add_recorded(folder: Path) -> bool:
    """Puts the twin that ships beside a recorded model; see `arena.pipeline.twin.add_recorded`."""
    return twins.add_recorded(folder.parent if folder.name == MODEL else folder)


def played(
    bundle: ModelBundle,
    twin: StoredTwin,
    folders: Sequence[Path],
    games: int = GAMES,
    seed: int = 0,
    greedy: bool = False,
) -> Any:
    """Lets policies that were trained on a twin play with each other there.

    Args:
        bundle: the model.
        twin: its own.
        folders: of the policies.
        games: of a seating.
        seed: of deals, and of what policies draw.
        greedy: take each policy's likeliest action.

    Returns:
        `arena.cooperation_on_twins.cross_play.TwinCrossPlay`.
    """
    playing = accelerated.load("arena.cooperation_on_twins.cross_play")
    courses = accelerated.load("arena.cooperation_on_twins.course")
    policies = playing.load_all(folders, twin)
    players = bundle.game_info.num_players
    with courses.table(bundle, twin) as process, counted_bar("seatings") as told:
        return playing.play(bundle.info["id"], process, players, policies, games, seed, greedy, told)
