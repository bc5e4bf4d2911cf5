"""A person at the terminal."""

import json
from collections.abc import Callable
from typing import Literal, TypeAlias

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from arena.agents.api import Move, Needs, Turn
from games.api import DEFAULT_VIEW, Action, GameInfo, Observation

Ask: TypeAlias = Callable[[str], str]
"""Shows a prompt and returns one line that the person typed, as the builtin `input` does."""

LISTED = 30
"""Legal actions shown before each move; `?` shows all."""

HELP = "Type an action as it is written above, or its number. ? lists all legal actions, q leaves the game."


Leaving: TypeAlias = Literal["quit", "end of input", "interrupt"]


class HumanQuitError(Exception):
    """The person left the game: nothing is scored.

    Attributes:
        how: by `q`, since no more lines came, or by Ctrl-C.
    """

    def __init__(self, how: Leaving) -> None:
        super().__init__(_LEFT[how])
        self.how: Leaving = how


_LEFT: dict[Leaving, str] = {
    "quit": "You left the game; it is not scored.",
    "end of input": "The input ended before the game did; it is not scored.",
    "interrupt": "You interrupted the game; it is not scored.",
}


class HumanAgent:
    """Shows a person their own view and asks for actions until one is legal."""

    needs = Needs(legal_actions=True, rendering=True)

    def __init__(self, ask: Ask, console: Console, name: str = "human", view: str = DEFAULT_VIEW) -> None:
        self.name = name
        self.view = view
        self._ask = ask
        self._console = console
        self._player_name = name

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self._player_name = info.player_name(seat)
        self._console.print(Text(f"You are {self._player_name} (seat {seat}) in {info.id}. {HELP}"))

    def act(self, turn: Turn) -> Move:
        """Asks for a move.

        Raises:
            HumanQuitError: Ctrl-C, the end of the input, or `q`.
        """
        self._show(turn)
        while True:
            try:
                answer = self._ask(f"{self._player_name}> ").strip()
            except EOFError:
                raise HumanQuitError("end of input") from None
            except KeyboardInterrupt:
                raise HumanQuitError("interrupt") from None
            if answer in ("q", "quit") and answer not in turn.legal_actions:
                raise HumanQuitError("quit")
            if answer == "?":
                self._list(turn.legal_actions, len(turn.legal_actions))
                continue
            action = chosen(answer, turn.legal_actions)
            if action is not None:
                return Move(action)
            self._console.print(Text(f"{answer!r} is not legal here. {HELP}", style="red"))

    def close(self) -> None:
        pass

    def _show(self, turn: Turn) -> None:
        drawing = turn.rendering if turn.rendering is not None else describe(turn.observation)
        self._console.print(Panel(Text(drawing), expand=False, title=Text(f"what {self._player_name} sees")))
        self._list(turn.legal_actions, LISTED)

    def _list(self, actions: tuple[Action, ...], count: int) -> None:
        lines = [f"{number:4d}  {action}" for number, action in enumerate(actions[:count], 1)]
        if len(actions) > count:
            lines.append(f"   …  and {len(actions) - count} more: ? lists them all")
        self._console.print(Text("\n".join(lines)))


def chosen(answer: str, actions: tuple[Action, ...]) -> Action | None:
    """Returns the action that an answer means: the action's own text first, then its number from 1; else None."""
    if answer in actions:
        return answer
    folded = [action for action in actions if " ".join(action.lower().split()) == " ".join(answer.lower().split())]
    if len(folded) == 1:
        return folded[0]
    if answer.isdecimal() and 1 <= int(answer) <= len(actions):
        return actions[int(answer) - 1]
    return None


def describe(observation: Observation) -> str:
    """Returns an observation as indented text, one field a line."""
    return "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in observation.items())
