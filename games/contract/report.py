"""What the contract's checks find, and how they ask a game that may break at any question."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from games.api import Action, Game, Json, State, state_to_json


class ContractError(AssertionError):
    """A game breaks the contract; the message lists every rule that it breaks."""


@dataclass(frozen=True)
class Violation:
    """One broken rule, with the smallest state seen that shows it.

    Attributes:
        rule: short name of the rule, e.g. `apply_action changes its input`.
        message: what was given and what was expected.
        state: the state as JSON, None where there is none.
        actions: the actions from the initial state to it.
        count: how often the rule was seen broken.
    """

    rule: str
    message: str
    state: Json
    actions: tuple[Action, ...]
    count: int = 1

    def __str__(self) -> str:
        return f"{self.rule} ({self.count} times): {self.message}\n  after {list(self.actions)}\n  in {self.state!r}"


class Stop(Exception):
    """This random game cannot go on; the report already says why."""


class Findings:
    """Collects the violations of one game; of each rule it keeps the one with the smallest state.

    Attributes:
        actions: the actions that lead to the state in question.
        state: the state in question as JSON.
    """

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.state: Json = None
        self._by_rule: dict[str, Violation] = {}

    @property
    def violations(self) -> list[Violation]:
        return list(self._by_rule.values())

    def start(self) -> None:
        """Forgets the state in question: a new game begins."""
        self.actions, self.state = [], None

    def bad(self, rule: str, message: str) -> None:
        """Notes that the state in question breaks `rule`."""
        new = Violation(rule, message, self.state, tuple(self.actions))
        old = self._by_rule.get(rule)
        if old is None:
            self._by_rule[rule] = new
            return
        best = new if _size(new) < _size(old) else old
        self._by_rule[rule] = Violation(rule, best.message, best.state, best.actions, old.count + 1)

    def ask(self, what: str, question: Callable[..., Any], *arguments: Any) -> Any:
        """Returns the answer to `question`, put with `arguments`.

        Raises:
            Stop: it raised, which is noted as a violation.
        """
        try:
            return question(*arguments)
        except Stop:
            raise
        except Exception as error:
            self.bad(f"{what} raises", f"{what} raised {type(error).__name__}: {error}")
            raise Stop from error

    def to_text(self, what: str, value: Json, sort_keys: bool = False) -> str:
        """Returns `value` as JSON text; a value that JSON would change is a violation."""
        try:
            text = json.dumps(value, allow_nan=False, sort_keys=sort_keys)
        except (TypeError, ValueError) as error:
            self.bad(f"{what} is not JSON", f"json.dumps refused {value!r}: {error}")
            return repr(value)
        if json.loads(text) != value:
            self.bad(f"{what} is not JSON", f"{value!r} comes back from JSON as {json.loads(text)!r}")
        return text


class Report(Findings):
    """What is found in one game of turns.

    Attributes:
        game: what is checked.
    """

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game

    def look_at(self, state: State) -> str:
        """Makes `state` the one in question and returns its JSON text."""
        text, self.state = self.snapshot(state), self.ask("state_to_json", state_to_json, self.game, state)
        return text

    def ask_twice(self, what: str, question: Callable[..., Any], *arguments: Any) -> Any:
        """Returns the answer to `question`; two different answers are a violation."""
        first, second = self.ask(what, question, *arguments), self.ask(what, question, *arguments)
        if repr(first) != repr(second):
            self.bad(f"{what} is not deterministic", f"asked twice it answered {first!r} and {second!r}")
        return first

    def snapshot(self, state: State) -> str:
        """Returns the JSON text of `state`, to compare with a later one."""
        return self.to_text("state", self.ask("state_to_json", state_to_json, self.game, state))


def _size(violation: Violation) -> tuple[int, int]:
    return len(repr(violation.state)), len(violation.actions)


def list_violations(game_id: str, violations: Sequence[Violation]) -> str:
    """Returns the violations as text for an error message."""
    return f"{game_id} breaks the contract:\n" + "\n".join(map(str, violations))
