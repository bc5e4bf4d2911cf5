"""Options of agents that are not ours: of a class, as it takes them; of a program, how long it may think."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

TIME_NAMES: Final = {"time": "move_s", "start": "start_s"}
"""Options of a program's agent, as the user writes them."""
OURS: Final = ("name", "view")
"""Options of every agent, which no class and no program gets."""


class OwnSettingsError(ValueError):
    """An option has no such value; the message says what is expected."""


@dataclass(frozen=True)
class ProgramConfig:
    """How long a program may take.

    Attributes:
        move_s: seconds for one move.
        start_s: seconds until it says that it is ready.
    """

    move_s: float = 10.0
    start_s: float = 30.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ProgramConfig":
        """Builds a config; keys that a newer version wrote are left out."""
        known = {item.name for item in fields(cls)}
        return replace(cls(), **{name: value for name, value in data.items() if name in known})


def split_command(text: str) -> tuple[str, dict[str, str]]:
    """Splits `COMMAND,NAME=VALUE,…` into the command and what of its end are options of ours.

    A command may hold commas and equals signs itself: only the last parts that name an option are taken from it.

    Raises:
        OwnSettingsError: an option is given twice or has no value.
    """
    options: dict[str, str] = {}
    while True:
        before, comma, last = text.rpartition(",")
        name, equals, value = last.partition("=")
        name = name.strip()
        if not comma or not equals or name not in (*OURS, *TIME_NAMES):
            return text.strip(), options
        if name in options:
            raise OwnSettingsError(f"it sets {name!r} twice.")
        if not value.strip():
            raise OwnSettingsError(f"{last.strip()!r} is no setting; write NAME=VALUE.")
        options[name] = value.strip()
        text = before


def seconds(name: str, text: str) -> float:
    """Returns a time limit.

    Raises:
        OwnSettingsError: it is no number above 0.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise OwnSettingsError(f"{name} is a number of seconds above 0, not {text!r}.")
    return number


def literal(text: str) -> Any:
    """Returns the value of a class's option: a JSON number, true, false or null as such, anything else as text."""
    try:
        value = json.loads(text, parse_constant=str)
    except ValueError:
        return text
    return value if value is None or isinstance(value, bool | int | float) else text
