"""A person at the terminal."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from rich.console import Console
from rich.text import Text

from arena.agents.api import Move, Needs, Turn
from arena.terminal import move_menu
from arena.terminal.game_words import GameWords
from games.api import DEFAULT_VIEW, Action, GameInfo, Observation

Ask: TypeAlias = Callable[[str], str]
"""Shows a prompt and returns one line that the person typed, as the builtin `input` does."""
Read: TypeAlias = Callable[[str, Sequence[Action]], Action | None]
"""Returns the one legal action that a line means, None if it means none of them."""

HELP: Final = (
    "Write a move as it is shown; small words, brackets and capitals do not matter. `moves` lists all moves with ids "
    "(#1, #2, …), which may be typed too, `moves 4` those of card 4; `rules`, `score`, `help`; `quit` leaves the game."
)
_HEIGHT: Final = 24
_BESIDE: Final = 4
"""Lines beside drawing and moves: whose turn it is, what others did, the question."""

Leaving: TypeAlias = Literal["quit", "end of input", "interrupt"]


class HumanQuitError(Exception):
    """The person left the game: nothing is scored.

    Attributes:
        how: by `quit`, since no more lines came, or by Ctrl-C.
    """

    def __init__(self, how: Leaving) -> None:
        super().__init__(_LEFT[how])
        self.how: Leaving = how


_LEFT: dict[Leaving, str] = {
    "quit": "You left the game; it is not scored.",
    "end of input": "The input ended before the game did; it is not scored.",
    "interrupt": "You interrupted the game; it is not scored.",
}


@dataclass(frozen=True)
class Manners:
    """How a person is spoken to.

    Attributes:
        read: reads moves; None for their own text alone.
        words: the game's own.
        rules: returns the rules of the game.
        confirm: ask before a move is played, since none can be taken back, and before the game is left.
        public: (player, action) of all players and of chance so far, where everybody sees them all; None where not.
    """

    read: Read | None = None
    words: GameWords = field(default_factory=GameWords)
    rules: Callable[[], str] = lambda: "Nobody has written the rules of this game down."
    confirm: bool = False
    public: Callable[[], Sequence[tuple[int, Action]]] | None = None


class HumanAgent:
    """Shows a person their own view and asks for actions until one is legal."""

    needs = Needs(legal_actions=True, rendering=True)

    def __init__(
        self, ask: Ask, console: Console, name: str = "human", view: str = DEFAULT_VIEW, manners: Manners | None = None
    ) -> None:
        self.name = name
        self.view = view
        self._ask = ask
        self._console = console
        self._manners = manners or Manners()
        self._info: GameInfo | None = None
        self._seat = 0
        self._told = 0

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self._info, self._seat, self._told = info, seat, 0
        self._say(f"You are {self._player_name} (seat {seat}) in {info.id}. {HELP}")
        note = self._manners.words.note(self.view)
        if note:
            self._say(note)

    def act(self, turn: Turn) -> Move:
        """Asks for a move.

        Raises:
            HumanQuitError: Ctrl-C, the end of the input, or `quit`.
        """
        self._show(turn)
        while True:
            action = self._answered(self._line(self._player_name), turn)
            if action is not None and self._is_meant(action, turn):
                return Move(action)

    def close(self) -> None:
        pass

    @property
    def _player_name(self) -> str:
        return self.name if self._info is None else self._info.player_name(self._seat)

    def _line(self, question: str) -> str:
        try:
            return self._ask(f"{question}> ").strip()
        except EOFError:
            raise HumanQuitError("end of input") from None
        except KeyboardInterrupt:
            raise HumanQuitError("interrupt") from None

    def _answered(self, answer: str, turn: Turn) -> Action | None:
        """Returns the move that an answer means; does what a word asks for, and returns None then."""
        actions = turn.legal_actions
        action = chosen(answer, actions, self._manners.read)
        word, _, rest = answer.lower().partition(" ")
        if action is not None:
            return action
        if answer.lower() in ("q", "quit"):
            if not self._manners.confirm or self._line("Leave the game? It is not scored. y/N").lower() in ("y", "yes"):
                raise HumanQuitError("quit")
        elif word in ("?", "moves"):
            width = self._console.width
            found = move_menu.chosen_rows(actions, rest, width) if rest else []
            self._lines(found or move_menu.numbered(actions, width))
        elif word in ("help", "h"):
            self._say(HELP)
        elif word == "rules":
            self._say(self._manners.rules())
        elif word == "score":
            self._say(self._score(turn.observation))
        else:
            self._say(f"{answer!r} is not legal here. {HELP}", "red")
        return None

    def _is_meant(self, action: Action, turn: Turn) -> bool:
        """Whether a move is to be played: no move can be taken back once it is."""
        if not self._manners.confirm:
            return True
        answer = self._line(f"{action}: Enter plays it, anything else takes it back")
        if answer in ("", "y", "yes") or chosen(answer, turn.legal_actions, self._manners.read) == action:
            return True
        self._say("Taken back.")
        return False

    def _score(self, seen: Observation) -> str:
        if self._manners.words.standing is not None:
            return self._manners.words.standing(seen)
        assert self._info is not None  # a game has started
        ends = f"A return lies between {self._info.min_utility:g} and {self._info.max_utility:g}"
        return f"{ends}; it is told at the end, and `rules` say what it is made of."

    def _show(self, turn: Turn) -> None:
        words = self._manners.words
        self._console.print()
        for sentence in self._others(turn.observation):
            self._say(sentence, "bold")
        text = words.drawing(turn.rendering) if turn.rendering is not None else describe(turn.observation)
        drawing = Text(text)
        for pattern, style in words.colours.items():
            drawing.highlight_regex(pattern, style)
        self._console.print(drawing, no_wrap=False, overflow="fold", soft_wrap=False)
        height = self._console.height if self._console.is_terminal else _HEIGHT
        taken = sum(len(line) // max(1, self._console.width) + 1 for line in text.splitlines())
        self._lines(move_menu.menu(turn.legal_actions, self._console.width, max(4, height - taken - _BESIDE)))

    def _others(self, seen: Observation) -> list[str]:
        """Returns what others did since the last move, as far as this player may know it."""
        assert self._info is not None  # a game has started
        if self._manners.words.told is not None:
            return self._manners.words.told(seen, self._info.player_names)
        if self._manners.public is None:
            return []
        done = self._manners.public()
        new, self._told = done[self._told :], len(done)
        return [f"{self._info.player_name(player)}: {action}" for player, action in new if player != self._seat]

    def _say(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style=style), no_wrap=False, overflow="fold", soft_wrap=False)

    def _lines(self, lines: Sequence[str]) -> None:
        self._console.print(Text("\n".join(lines)), soft_wrap=True)


def chosen(answer: str, actions: Sequence[Action], read: Read | None = None) -> Action | None:
    """Returns the action that an answer means, None if it means none.

    The action's own text first; then its id, `#1` for the first; then what `read` makes of it; a bare number counts as
    an id only where no action holds one, since it could be a card or a cell elsewhere.

    Args:
        answer: what was typed.
        actions: legal ones.
        read: reads other notations.
    """
    if answer in actions:
        return answer
    folded = [action for action in actions if " ".join(action.lower().split()) == " ".join(answer.lower().split())]
    if len(folded) == 1:
        return folded[0]
    plain = not any(character.isdecimal() for action in actions for character in action)
    number = answer.removeprefix("#")
    if number.isdecimal() and (answer.startswith("#") or plain):
        return actions[int(number) - 1] if 1 <= int(number) <= len(actions) else None
    return read(answer, actions) if read is not None and answer else None


def describe(observation: Observation) -> str:
    """Returns an observation as indented text, one field a line."""
    return "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in observation.items())
