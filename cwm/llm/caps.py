"""Hard caps on what a run may spend, and the time that its earlier processes used."""

import json
import math
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from cwm.llm.budget import Budget
from cwm.llm.line import Line
from cwm.storage import stored_json
from cwm.storage.files import write_whole

ELAPSED_FILE = "elapsed.json"


class CapsError(ValueError):
    """A cap is no number from 0, or what was used of it cannot be read."""


@dataclass(frozen=True)
class Caps:
    """Hard caps of a run; None means no cap.

    Attributes:
        calls: answered calls.
        tokens: output tokens.
        money: in the currency of the prices.
        minutes: wall-clock time.
        price_in: per million input tokens.
        price_out: per million output tokens.
        line: how servers are asked; never stored, since it may hold secrets and changes no result.

    Raises:
        CapsError: a cap is no number from 0.
    """

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    minutes: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    line: Line = Line()  # noqa: RUF009

    def __post_init__(self) -> None:
        for name in ("calls", "tokens", "money", "minutes"):
            cap = getattr(self, name)
            # Not a number is neither above nor below anything: as a cap it would never be reached.
            if cap is not None and not 0 <= cap < math.inf:
                raise CapsError(f"The cap on {name} is {cap}; give a number from 0, or leave it out for no cap.")

    def raised(self, by: "Caps") -> "Caps":
        """Returns these caps with those of `by` that are given in their place, and its line."""
        given = {key: value for key, value in by.to_json().items() if value is not None}
        return replace(self, **given, line=by.line)

    def to_json(self) -> dict[str, Any]:
        """Returns the caps and prices, for a resume."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name != "line"}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Caps":
        """Builds the caps that `to_json` wrote.

        Raises:
            ValueError: a field is unknown, or a cap is no number from 0.
        """
        known = Caps().to_json()
        for name in data:
            if name not in known:
                raise ValueError(f"it has {name!r}, which is none of {', '.join(known)}")
        return cls(**data)


def read_elapsed(folder: Path) -> float:
    """Returns the seconds that a run's earlier processes counted, waits and failed attempts included."""
    remedy = "delete it and set the cap on time anew"
    path = folder / ELAPSED_FILE
    return stored_json.read_if_there(path, lambda data: float(data["seconds"]), CapsError, remedy) or 0.0


def write_elapsed(folder: Path, spent: Budget) -> None:
    """Stores the seconds used so far, for the cap on time of a resumed run."""
    write_whole(folder / ELAPSED_FILE, json.dumps({"seconds": spent.elapsed_s()}) + "\n")


def budget(caps: Caps) -> Budget:
    """Returns the budget of a run, nothing spent."""
    seconds = None if caps.minutes is None else caps.minutes * 60.0
    return Budget(calls=caps.calls, output_tokens=caps.tokens, money=caps.money, seconds=seconds)
