"""Stored games, played again through the true rules: to check them, and to read them."""

from collections.abc import Iterator, Sequence
from typing import Any

from arena.matches.match import GameRecord, chance_action, forfeit_returns
from games.api import (
    CHANCE,
    TERMINAL,
    Action,
    Game,
    IllegalActionError,
    Observation,
    RendersText,
    ReportsOutcome,
    State,
)
from search.api import Position


class RecordError(Exception):
    """A record does not agree with the rules of its game; the message says where."""


def states(game: Game, record: GameRecord) -> Iterator[tuple[State, int, Action | None]]:
    """Yields (state, player, action) from the start; the last action is None.

    Raises:
        RecordError: an action is not legal, or another player was to move.
    """
    state = game.initial_state()
    for number, (player, action) in enumerate(record.actions):
        mover = game.current_player(state)
        if mover != player:
            raise RecordError(f"action {number} of {record.game} is player {player}'s, but player {mover} is to move.")
        if action not in game.legal_actions(state):
            raise RecordError(f"action {number} of {record.game}, {action!r}, is not legal.")
        yield state, player, action
        try:
            state = game.apply_action(state, action)
        except IllegalActionError as error:
            raise RecordError(f"action {number} of {record.game}, {action!r}, was refused: {error}") from error
    yield state, game.current_player(state), None


def make_position(game: Game, actions: Sequence[Action]) -> Position:
    """Returns what the player to move is told after some actions: what it saw and did, and the state if it sees it all.

    Args:
        game: the game.
        actions: from the start on, of players and of chance.

    Raises:
        IllegalActionError: an action is not legal where it is taken, or no player is to move after them.
    """
    state = game.initial_state()
    seen: dict[int, list[tuple[Observation, Action | None]]] = {}
    for action in actions:
        legal, player = game.legal_actions(state), game.current_player(state)
        if action not in legal:
            raise IllegalActionError(f"{action!r} is not legal; legal are {legal}.")
        if player != CHANCE:
            seen.setdefault(player, []).append((game.observations(state)[player], action))
        state = game.apply_action(state, action)
    player = game.current_player(state)
    if player in (CHANCE, TERMINAL):
        why = "the game is over: leave some out" if player == TERMINAL else "chance moves: add one of its outcomes"
        raise IllegalActionError(f"After these {len(actions)} actions {why}.")
    history = (*seen.get(player, ()), (game.observations(state)[player], None))
    return Position(player, history, state if game.info.perfect_information else None)


def verify(game: Game, record: GameRecord) -> None:
    """Checks that a record's actions are legal, that chance did what the deal's seed says, and what came of it.

    Raises:
        RecordError: they are not, or the record says that something else was paid, scored or reached.
    """
    if len(record.seats) != game.info.num_players:
        raise RecordError(f"{record.game} seats {game.info.num_players} players, not {len(record.seats)}.")
    paid = [0.0] * game.info.num_players
    last = TERMINAL
    state = game.initial_state()
    for state, player, _ in states(game, record):
        paid = [total + reward for total, reward in zip(paid, game.rewards(state), strict=True)]
        last = player
    if record.forfeit is None and last != TERMINAL:
        raise RecordError(f"the record of {record.game} stops before the end, and nobody forfeited.")
    if record.forfeit is not None and last != record.forfeit.seat and record.actions:
        raise RecordError(f"player {record.forfeit.seat} of {record.game} forfeits, but player {last} is to move.")
    expected = paid if record.forfeit is None else forfeit_returns(game, record.forfeit.seat, paid)
    for name, stored, true in (("paid", record.paid, paid), ("returns", record.returns, expected)):
        if tuple(stored) != tuple(true):
            raise RecordError(f"{name} of {record.game} is {list(stored)}, but the rules give {list(true)}.")
    length = sum(player != CHANCE for player, _ in record.actions)
    for title, said, real in (
        ("outcome", record.outcome, _as_stored(record.outcome, _outcome(game, record, state))),
        ("length", record.length, length),
    ):
        if said != real:
            raise RecordError(f"{title} of {record.game} is {said}, but the rules give {real}.")
    _check_chance(game, record)


def _outcome(game: Game, record: GameRecord, end: State) -> dict[str, Any] | None:
    reports = record.forfeit is None and isinstance(game, ReportsOutcome)
    return dict(game.outcome(end)) if reports and isinstance(game, ReportsOutcome) else None


def _as_stored(said: dict[str, Any] | None, real: dict[str, Any] | None) -> dict[str, Any] | None:
    """Returns an outcome without the further figures that games did not report yet when `said` was stored."""
    if said is None or real is None:
        return real
    later = {"figures", *real.get("figures", ())}
    return {name: value for name, value in real.items() if name in said or name not in later}


def _check_chance(game: Game, record: GameRecord) -> None:
    number, told = 0, "seed" if record.deck is None else "deck"
    for state, player, action in states(game, record):
        if player != CHANCE or action is None:
            continue
        dealt = chance_action(game, state, record.deal_seed, number, record.deck)
        if action != dealt:
            raise RecordError(f"chance node {number} of {record.game} gave {action!r}, but its {told} gives {dealt!r}.")
        number += 1


def as_text(game: Game, record: GameRecord) -> str:
    """Returns a game to read: who sat where, every action, the table before each player's move, the end.

    Raises:
        RecordError: the record does not agree with the rules.
    """
    lines = [f"{game.info.player_name(seat)}: {name}" for seat, name in enumerate(record.seats)]
    number = 0
    for state, player, action in states(game, record):
        if action is None:
            lines.extend(["", *_drawing(game, state)])
        elif player == CHANCE:
            lines.append(f"chance: {action}")
        else:
            number += 1
            lines.extend(["", *_drawing(game, state), f"{number}. {game.info.player_name(player)}: {action}"])
    lines.append("")
    if record.forfeit is not None:
        forfeit = record.forfeit
        lines.append(f"{game.info.player_name(forfeit.seat)} forfeits ({forfeit.kind}): {forfeit.detail}")
    if record.outcome is not None:
        lines.append(", ".join(f"{name}: {value}" for name, value in record.outcome.items()))
    lines.append(f"returns: {', '.join(f'{value:g}' for value in record.returns)}")
    return "\n".join(lines)


def _drawing(game: Game, state: State) -> list[str]:
    return game.render(state).splitlines() if isinstance(game, RendersText) else []
