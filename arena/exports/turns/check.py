"""Plays the games of a file of rows again: legal moves, truth, states and scores must be what the rows say."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.exports.turns import files, rows, schema
from arena.exports.turns.schema import Row
from arena.matches.game_source import open_game
from games.api import CHANCE, TERMINAL, Action, Game, GameError, Observation, ReportsOutcome, State, state_to_json

UNFINISHED = "unfinished"
"""As a forfeit: nobody knows how the game went on."""


@dataclass(frozen=True)
class RowProblem:
    """A row that is not what it should be.

    Attributes:
        number: of the row in its file, from 1.
        message: what is wrong with it.
    """

    number: int
    message: str


@dataclass
class CheckedRows:
    """What became of a file.

    Attributes:
        rows: in the file.
        games: in the file.
        replayed: rows that agree with their game played again.
        problems: in the order of the file; of a game the first one alone.
    """

    rows: int = 0
    games: int = 0
    replayed: int = 0
    problems: list[RowProblem] = field(default_factory=list)


def check(path: Path) -> CheckedRows:
    """Checks the form of every row, and plays every game again.

    Args:
        path: a file of `cwm turns export --as logs`, or rewards that hold whole games.

    Raises:
        UsageError: the file cannot be read.
    """
    found = CheckedRows()
    games: dict[str, list[tuple[int, Row]]] = {}
    broken: set[str] = set()
    for number, row, problem in files.read(path):
        found.rows += 1
        problem = problem or schema.problem(row)
        if problem is not None:
            found.problems.append(RowProblem(number, problem))
            if isinstance(row, dict):
                broken.add(str(row.get("game_id")))
            continue
        games.setdefault(row["game_id"], []).append((number, row))
    found.games = len(games.keys() | broken)
    for key, numbered in games.items():
        if key in broken:
            continue  # One of its rows is named already; without it the game cannot be played again.
        disagrees = _game_problem(numbered)
        if disagrees is None:
            found.replayed += len(numbered)
        else:
            found.problems.append(disagrees)
    found.problems.sort(key=lambda one: one.number)
    return found


class PlayedAgain:
    """A game that is played again by its deck and its decisions.

    Attributes:
        state: now: of a decision, or the last one.
        histories: by player, its own decision points before.
        actions: all so far.
    """

    def __init__(self, game: Game, deck: Sequence[Action]) -> None:
        self.game = game
        self.state: State = game.initial_state()
        self.histories: dict[int, list[tuple[Observation, Action | None]]] = {}
        self.actions: list[tuple[int, Action]] = []
        self.paid = list(game.rewards(self.state))
        self._deck = iter(deck)
        self._deal()

    @property
    def player(self) -> int:
        return self.game.current_player(self.state)

    def history(self) -> list[tuple[Observation, Action | None]]:
        """Returns the decision points of the player to move, the last one open."""
        shown = self.game.observations(self.state)[self.player]
        return [*self.histories.get(self.player, []), (shown, None)]

    def act(self, action: Action) -> None:
        """Takes a legal action, and deals what the deck says."""
        history = self.history()
        self.histories[self.player] = [*history[:-1], (history[-1][0], action)]
        self._take(action)
        self._deal()

    def _deal(self) -> None:
        while self.player == CHANCE:
            action = next(self._deck, None)
            if action is None or action not in self.game.legal_actions(self.state):
                raise GameError(f"chance cannot do {action!r}, which the deck says")
            self._take(action)

    def _take(self, action: Action) -> None:
        player = self.player
        self.state = self.game.apply_action(self.state, action)
        self.actions.append((player, action))
        self.paid = [paid + now for paid, now in zip(self.paid, self.game.rewards(self.state), strict=True)]


def _game_problem(numbered: Sequence[tuple[int, Row]]) -> RowProblem | None:
    ordered = sorted(numbered, key=lambda item: item[1]["row"])
    number, first = ordered[0]
    try:
        with open_game(first["variant"]) as game:
            replayed = PlayedAgain(game, first["deck"])
            for place, (number, row) in enumerate(ordered):
                wrong = next(_differences(replayed, row, first, place), None)
                if wrong is not None:
                    return RowProblem(number, wrong)
                if row["action"] is None:
                    break
                replayed.act(row["action"])
            for number, row in ordered:
                wrong = next(_end_differences(replayed, row), None)
                if wrong is not None:
                    return RowProblem(number, wrong)
    except GameError as error:
        return RowProblem(number, f"its game cannot be played again: {error}")
    return None


def _differences(replayed: PlayedAgain, row: Row, first: Row, place: int) -> Iterator[str]:
    """Yields what a row says of its decision that is not so."""
    game, state = replayed.game, replayed.state
    if row["row"] != place:
        yield f"row {place} of its game is missing"
    elif replayed.player != row["seat"]:
        yield f"seat is {row['seat']}, but player {replayed.player} is to move"
    else:
        legal = list(game.legal_actions(state))
        yield from _unequal("legal", row["legal"], legal)
        yield from _unequal("truth", row["truth"], rows.truth_of(game, replayed.history()))
        yield from _unequal("state", _parsed(row["state"]), state_to_json(game, state))
        since = _parsed(rows.since(replayed.actions, row["seat"]))
        yield from _unequal("since", _parsed(row["since"]), since)
        yield from _unequal("turn", row["turn"], len(replayed.histories.get(row["seat"], [])))
        index = None if row["action"] is None else next((n for n, a in enumerate(legal) if a == row["action"]), -1)
        yield from _unequal("action_index", row["action_index"], index)
        for name in ("ratings", "q", "q_se"):
            yield from _unequal(f"the length of {name}", len(row[name]), len(legal)) if row[name] else ()
        for name in ("variant", "deck", "deck_name", "forfeit", "players"):
            yield from _unequal(name, row[name], first[name])


def _end_differences(replayed: PlayedAgain, row: Row) -> Iterator[str]:
    over = replayed.player == TERMINAL
    if over != (row["forfeit"] is None):
        yield "its game has no end" if not over else f"forfeit is {row['forfeit']!r}, but the game came to its end"
        return
    found = rows.ending(replayed.game, replayed.state, row["seat"], replayed.paid, not over)
    # What a forfeit is scored with is the arena's, not the game's.
    counts = ("points", "bombed") if isinstance(replayed.game, ReportsOutcome) else ()
    for name in ("points", "strict", "bombed") if over else counts:
        yield from _unequal(name, row[name], getattr(found, name))


def _unequal(name: str, said: object, true: object) -> Iterator[str]:
    if said != true:
        yield f"{name} is {_short(said)}, but the rules give {_short(true)}"


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}…"
