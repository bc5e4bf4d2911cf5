"""Everybody plays with everybody on a twin: policies that were trained on it, whole games of each seating at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from arena.checkpoints import on_model
from arena.checkpoints.on_model import SeatPolicy
from arena.checkpoints.places import ABOUT, seat_folder
from arena.cooperation_on_twins.process import TeamProcess
from arena.figures.sheet import Sheet
from arena.policy_play.cross_play import seatings
from arena.usage import UsageError
from cwm.twins.stored import StoredTwin
from search.learn.errors import CheckpointError
from search.learn.networks.config import NetworkConfig

GAMES: Final = 1000
"""Of a seating."""
TWO: Final = 2


@dataclass(frozen=True)
class SeatingCame:
    """What one seating came to.

    Attributes:
        names: of the policies, in the order of the seats.
        mean: return.
        error: standard error of it, over games.
        length: mean number of actions.
        cut: games that were too long.
    """

    names: tuple[str, ...]
    mean: float
    error: float
    length: float
    cut: int

    def to_json(self) -> dict[str, Any]:
        """Returns it as JSON."""
        return {
            "seats": list(self.names),
            "mean": self.mean,
            "error": self.error,
            "length": self.length,
            "cut": self.cut,
        }


@dataclass(frozen=True)
class TwinCrossPlay:
    """All seatings.

    Attributes:
        game: id.
        policies: names.
        seatings: what each came to.
        games: of each.
    """

    game: str
    policies: tuple[str, ...]
    seatings: tuple[SeatingCame, ...]
    games: int

    def mean(self, alone: bool) -> float | None:
        """Returns the mean return of policies with themselves, or with others; None where there is no such seating."""
        found = [came.mean for came in self.seatings if (len(set(came.names)) == 1) == alone]
        return float(np.mean(found)) if found else None

    def to_json(self) -> dict[str, Any]:
        """Returns it as JSON."""
        means = {"self_play": self.mean(alone=True), "cross_play": self.mean(alone=False)}
        rows = [came.to_json() for came in self.seatings]
        return {"game": self.game, "policies": list(self.policies), "games": self.games, **means, "seatings": rows}

    def sheet(self) -> Sheet:
        """Returns mean returns: for two players a matrix, for more a list."""
        parts = {"with themselves": self.mean(alone=True), "with others": self.mean(alone=False)}
        told = ", ".join(f"{name} {value:+.3f}" for name, value in parts.items() if value is not None)
        note = f"Mean return over {self.games:,} games of a seating on the twin: {told}."
        title = f"{self.game}: self-play and cross-play"
        if len(self.seatings[0].names) != TWO:
            rows: list[tuple[Any, ...]] = [(" + ".join(came.names), *_shown(came)) for came in self.seatings]
            return Sheet(title, ("seats",), ("return", "± SE"), rows, note)
        known = {came.names: came for came in self.seatings}
        sheet = Sheet(title, ("first \\ second",), self.policies, note=note, names=self.policies)
        for first in self.policies:
            sheet.add(first, *(_shown(known[first, second])[0] for second in self.policies))
        return sheet


def _shown(came: SeatingCame) -> tuple[str, str]:
    return f"{came.mean:+.2f}", f"{came.error:.2f}"


def load_all(folders: Sequence[Path], twin: StoredTwin) -> dict[str, SeatPolicy]:
    """Reads policies that were trained on a twin, by name; a folder without one stands for those in its folders.

    Raises:
        CheckpointError: there is none, or one is damaged.
        UsageError: one reads other vectors or plays other actions than the twin, one was trained for its seat alone, or
            two have one name.
    """
    found: dict[str, SeatPolicy] = {}
    for folder in (place for given in folders for place in _places(given)):
        policy = on_model.load(seat_folder(folder, 0))
        if policy.about.get("method") is None:
            raise UsageError(
                f"The policies in {folder} were trained each for one seat (`cwm train ppo`), and here one plays all: "
                "give policies of `cwm train ippo`."
            )
        if policy.about.get("vectors") != {"schema": twin.schema} or policy.actions != twin.traced.form.actions:
            raise UsageError(
                f"The policy in {folder} reads other vectors or knows other actions than the twin: give one that was "
                "trained on this model's twin."
            )
        name = str(policy.about.get("name", folder.name))
        if name in found:
            raise UsageError(f"Two policies are named {name}: give each once, or rename one in its {ABOUT}.")
        found[name] = policy
    return found


def _places(folder: Path) -> list[Path]:
    if (seat_folder(folder, 0) / ABOUT).exists():
        return [folder]
    inside = sorted(path.parents[1] for path in folder.glob(f"*/{seat_folder(Path(), 0)}/{ABOUT}"))
    if not inside:
        raise CheckpointError(f"{folder} holds no policy that was trained on a twin: train one with `cwm train ippo`.")
    return inside


def play(
    game: str,
    process: TeamProcess,
    players: int,
    policies: dict[str, SeatPolicy],
    games: int,
    seed: int,
    greedy: bool,
    on_seating: Callable[[int, int], None],
) -> TwinCrossPlay:
    """Plays everybody with everybody.

    Args:
        game: id.
        process: of the twin.
        players: of it.
        policies: by name, at least one.
        games: of a seating.
        seed: of deals, and of what policies draw.
        greedy: take each policy's likeliest action.
        on_seating: told the number of seatings that were played, and that of all.

    Raises:
        TwinProblemError: the process ended, or answered otherwise than it can.
    """
    process.seat([(NetworkConfig.from_json(policy.about["network"]), policy.params) for policy in policies.values()])
    numbers = {name: number for number, name in enumerate(policies)}
    planned = seatings({"": list(policies)}, players, seed)
    came = []
    for done, names in enumerate(planned, start=1):
        found = process.play([numbers[name] for name in names], games, seed, greedy)
        totals = found.total.astype(np.float64)
        error = float(totals.std(ddof=1) / games**0.5) if games > 1 else 0.0
        came.append(SeatingCame(names, float(totals.mean()), error, float(found.length.mean()), int(found.cut.sum())))
        on_seating(done, len(planned))
    return TwinCrossPlay(game, tuple(policies), tuple(came), games)
