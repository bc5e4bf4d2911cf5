"""The decisions of stored games, with the states in which they were taken."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.language_players import turn_record
from arena.language_players.turn_record import SCAFFOLD, TurnRecord
from arena.matches import replay, store
from arena.matches.game_source import open_game
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.replay import RecordError
from arena.matches.verification import referee_of
from arena.usage import UsageError
from games.api import Action, Game, State


@dataclass(frozen=True)
class PlayedFolder:
    """The games of one folder.

    Attributes:
        folder: which.
        config: of the tournament.
        name: of the game, as `open_game` takes it.
        games: finished ones by key.
    """

    folder: Path
    config: TournamentConfig
    name: str
    games: dict[str, GameRecord]

    @contextmanager
    def opened(self) -> Iterator[Game]:
        """Opens the game that decided; errors as for `open_game`."""
        with open_game(self.name, self.config.referee, **self.config.params) as game:
            yield game


@dataclass(frozen=True)
class TakenDecision:
    """One decision of a player.

    Attributes:
        key: of the game.
        record: the game.
        number: of the action in the record; of one that gave no move, how many actions there are.
        seat: who decided.
        turn: how many decisions it had taken before.
        action: what it chose; None where it forfeited.
        kept: what a language model said, None where nobody kept it.
    """

    key: str
    record: GameRecord
    number: int
    seat: int
    turn: int
    action: Action | None
    kept: TurnRecord | None

    @property
    def agent(self) -> str:
        """Name of the agent."""
        return self.record.seats[self.seat]

    @property
    def account(self) -> dict[str, Any]:
        """What the agent said of its game."""
        return self.record.accounts.get(str(self.seat), {})

    @property
    def scaffold(self) -> str | None:
        """Name of the scaffold that it plays by, None where there is none."""
        told = self.account.get(SCAFFOLD)
        return str(told["name"]) if isinstance(told, dict) and "name" in told else None

    @property
    def before(self) -> list[Action]:
        """The actions of all players and chance before it."""
        return [action for _, action in self.record.actions[: self.number]]


def played(folder: Path) -> list[PlayedFolder]:
    """Returns the games of a tournament, of `cwm play` or `cwm xp`, or of several of these, folder by folder.

    Raises:
        StoreError: there are no games, or a file is damaged.
        UsageError: none of the folders holds a finished game.
    """
    places = sorted(path.parent for path in folder.rglob(store.FILE_NAME)) or [folder]
    found = []
    for place in places:
        stored = store.read(place)
        config = TournamentConfig.from_json(stored.config)
        name = config.game if config.referee is None else referee_of(place)
        found.append(PlayedFolder(place, config, name, dict(sorted(stored.games.items()))))
    if not any(item.games for item in found):
        raise UsageError(f"{folder} holds no finished game: play some first, or give another folder.")
    return found


def decisions(key: str, record: GameRecord) -> list[TakenDecision]:
    """Returns the decisions of a game in their order, one that gave no move last.

    Raises:
        RecordError: what is kept of a decision is of another form, or not of this game.
    """
    try:
        kept = {item.number: item for item in turn_record.decisions(record.actions, record.accounts)}
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(
            f"game {key} keeps a decision that cannot be read ({type(error).__name__}: {error})."
        ) from error
    taken = [0] * len(record.seats)
    found = []
    for number, (player, action) in enumerate(record.actions):
        if player < 0:
            continue
        said = kept.pop(number, None)
        if said is not None and (said.seat, said.turn.action) != (player, action):
            raise RecordError(f"game {key} keeps another move of action {number} than {action!r}.")
        found.append(TakenDecision(key, record, number, player, taken[player], action, said.turn if said else None))
        taken[player] += 1
    for number, said in kept.items():
        found.append(TakenDecision(key, record, number, said.seat, taken[said.seat], None, said.turn))
    return found


def with_states(game: Game, key: str, record: GameRecord) -> Iterator[tuple[TakenDecision, State]]:
    """Yields the decisions of a game with their states.

    Raises:
        RecordError: the record does not agree with the rules.
    """
    following = {decision.number: decision for decision in decisions(key, record)}
    for number, (state, _, _) in enumerate(replay.states(game, record)):
        if number in following:
            yield following[number], state


def of_agents(found: Sequence[TakenDecision], names: Sequence[str]) -> list[TakenDecision]:
    """Returns the decisions of some agents, of all for no names."""
    return [decision for decision in found if not names or decision.agent in names]


def check_agents(places: Sequence[PlayedFolder], names: Sequence[str]) -> None:
    """Checks that somebody of each name played.

    Raises:
        UsageError: nobody did.
    """
    there = sorted({name for place in places for record in place.games.values() for name in record.seats})
    for name in names:
        if name not in there:
            raise UsageError(f"Nobody called {name!r} played: the agents are {', '.join(there)}.")
