"""The published figures of POSGGym, as `results.json` holds them.

Printed ones are those of Tables 2, 4, 5 and 7. The paper's main figures have no numbers: means behind them follow from
the raw results that its authors published (MIT), as far as these are public: RL-BR and Combined everywhere, POTMMCP in
cooperative reaching.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

_DATA: Final[dict[str, Any]] = json.loads(
    resources.files(__package__).joinpath("results.json").read_text(encoding="utf-8")
)
TITLE: Final[str] = _DATA["title"]
RAW: Final[str] = _DATA["raw"]
SECONDS: Final[tuple[float, ...]] = tuple(_DATA["seconds"])
"""Budgets of planners a move."""


@dataclass(frozen=True)
class ExperimentEnvironment:
    """An environment of the experiments (Table 4).

    Attributes:
        name: as printed.
        game: ours.
        seat: agent of ours that the planner is.
        bounds: lowest and highest return, by which the paper normalises.
        reward: `cooperative`, `mixed` or `competitive`.
        states: how many, as printed.
        starts: with support in the planner's first belief, as printed.
        actions: of the planner.
        observations: as printed.
        populations: sizes of P0 and P1.
    """

    name: str
    game: str
    seat: int
    bounds: tuple[float, float]
    reward: str
    states: str
    starts: str
    actions: int
    observations: str
    populations: tuple[int, int]


@dataclass(frozen=True)
class PublishedReturn:
    """A mean return in and out of distribution.

    Attributes:
        environment: its name; "" for the mean of all, normalised to [0, 1].
        method: as printed.
        seconds: budget a move; None for a policy that searches nothing.
        simulations: that the authors' machine did in these; None: not known.
        inside: mean in distribution.
        outside: out of distribution.
        halves: half of the 95 % intervals of both; None where they are not known.
    """

    environment: str
    method: str
    seconds: float | None
    simulations: int | None
    inside: float
    outside: float
    halves: tuple[float, float] | None


@dataclass(frozen=True)
class PublishedBelief:
    """What Combined's belief gives to the truth in distribution, at the least and the largest budget (Figures 12, 13).

    Attributes:
        environment: its name.
        depth: of the search at the largest budget.
        state: probability of the true state.
        state_out: the same out of distribution; one number where they hardly differ, none where it is not known.
        type: of the others' true type.
        action: of their next action.
    """

    environment: str
    depth: int
    state: tuple[float, float]
    state_out: tuple[float, ...]
    type: tuple[float, float]
    action: tuple[float, float]


def _environment(data: dict[str, Any]) -> ExperimentEnvironment:
    return ExperimentEnvironment(**{**data, "bounds": tuple(data["bounds"]), "populations": tuple(data["populations"])})


def _returns() -> list[PublishedReturn]:
    learned = [
        PublishedReturn(name, "RL-BR", None, None, one["in"][0], one["out"][0], (one["in"][1], one["out"][1]))
        for name, one in _DATA["learned"].items()
    ]
    mean = _DATA["learned_mean"]
    learned.append(PublishedReturn("", "RL-BR", None, None, mean["in"], mean["out"], None))
    for row in [*_DATA["planned"], {"method": "Combined", "environment": "", "half": None, **_DATA["planned_mean"]}]:
        counts = _DATA["simulations"][row["method"]].get(row["environment"], [None] * len(SECONDS))
        for number, seconds in enumerate(SECONDS):
            # Only the interval of the largest budget is known.
            halves = tuple(row["half"]) if row["half"] and number == len(SECONDS) - 1 else None
            inside, outside = row["in"][number], row["out"][number]
            learned.append(
                PublishedReturn(row["environment"], row["method"], seconds, counts[number], inside, outside, halves)
            )
    return learned


ENVIRONMENTS: Final = tuple(map(_environment, _DATA["environments"]))
RETURNS: Final = tuple(_returns())


def _belief(data: dict[str, Any]) -> PublishedBelief:
    return PublishedBelief(
        data["environment"],
        data["depth"],
        tuple(data["state"]),
        tuple(data["state_out"]),
        tuple(data["type"]),
        tuple(data["action"]),
    )


BELIEFS: Final = tuple(map(_belief, _DATA["beliefs"]))
SPEEDS: Final[Mapping[str, tuple[str, float]]] = {game: tuple(found) for game, found in _DATA["speeds"].items()}
"""By our game: the environment that was timed, and its steps a second (Table 2)."""
ENDINGS: Final[Mapping[str, Sequence[float]]] = _DATA["endings"]
"""By method: percent of games of driving in distribution that crashed, succeeded and ran out of time (Table 5)."""
STEPS: Final[Mapping[str, Sequence[float | None]]] = _DATA["steps"]
"""By environment: million steps until RL-BR had nine tenths of its gain, for P0 and P1 (of Figure 21)."""
LEARNED_PAYOFFS: Final[Sequence[Mapping[str, Any]]] = _DATA["learned_payoffs"]
"""Payoffs of learned policies (of Figure 20): our game, the row's policy, its co-players and what it got beside each;
those of hand-written ones alone are in `arena.posg.published`."""
SETTINGS: Final[Sequence[tuple[str, str, str, str]]] = [tuple(row) for row in _DATA["settings"]]
"""Our name of a planner's setting, the printed value, what it is, and what has to be known of it (Table 7)."""
