"""Commands whose modules are imported when they are asked for: `cwm play` waits for no other command's imports."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperGroup

PACKAGE: Final = "arena.commands"
PLACES: Final[Mapping[str, str]] = {
    "synthesize": "synthesize:command",
    "resume": "resume:command",
    "select": "several:command",
    "faster": "faster:command",
    "twin": "twin:command",
    "evaluate": "evaluate:command",
    "play": "play:command",
    "serve": "serve:command",
    "arena": "tournament:command",
    "xp": "xp:command",
    "compare": "compare:command",
    "rate": "decisions.rate:command",
    "judge": "decisions.judge:command",
    "demo": "demo:command",
    "report": "report:command",
    "export": "export:command",
    "benchmark": "benchmark:app",
    "doctor": "doctor:command",
    "verify": "verify:command",
    "paper": "paper:command",
    "games": "games:app",
    "agents": "agents:app",
    "trajectories": "trajectories:app",
    "turns": "decisions.turns:app",
    "llm": "llm:app",
    "sandbox": "sandbox:app",
    "train": "train.group:app",
    "posg": "posg.group:app",
}
"""Module and attribute of every command, or group of commands, in the order of the help."""
EPILOG: Final = "EPILOG"
"""What a command's module may say below its help."""


class LazyCommands(Mapping[str, Any]):
    """The commands by name, each made when it is first looked up."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _made(name, PLACES[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


class LazyGroup(TyperGroup):
    """A group of `LazyCommands`."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = LazyCommands()  # type: ignore[assignment]  # nothing is ever added to it


def _made(name: str, place: str) -> Any:
    module_name, attribute = place.split(":")
    module = import_module(f"{PACKAGE}.{module_name}")
    found = getattr(module, attribute)
    if isinstance(found, typer.Typer):
        group = typer.main.get_group(found)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False)
    alone.command(name, epilog=getattr(module, EPILOG, None))(found)
    return typer.main.get_command(alone)
