"""Reads trajectory files: a schema check that names the line, the field, what was found and what was expected."""

import gzip
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from cwm.trajectories.recorded import FORMAT_VERSION, Deck, Step, Trajectory, TrajectoryFormatError
from games.api import CHANCE, TERMINAL, GameInfo, Utility

GZIP: Final = b"\x1f\x8b"
"""First bytes of a compressed file."""
MAX_REPORTED = 20
"""More problems than this are counted, not listed."""

CHANCE_TOLERANCE = 1e-9


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _list_of(check: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def _is_outcome(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and _is_number(value[1])


Check: TypeAlias = tuple[Callable[[object], bool], str]
"""What a value must keep to, and the same in words."""

SCHEMA: dict[str, Check] = {
    "version": (lambda value: value == FORMAT_VERSION, f"the number {FORMAT_VERSION}"),
    "game": (lambda value: isinstance(value, str) and bool(value), "the game's name, a string"),
    "trajectory": (lambda value: type(value) is int and value >= 0, "the number of the game in this file, from 0"),
    "step": (lambda value: type(value) is int and value >= 0, "the number of the step in its game, from 0"),
    "player": (
        lambda value: type(value) is int and (value >= 0 or value in (CHANCE, TERMINAL)),
        f"a player's number from 0, {CHANCE} for chance, or {TERMINAL} at the end",
    ),
    "action": (lambda value: value is None or isinstance(value, str), "a string, or null at the end"),
    "state": (lambda value: isinstance(value, dict), "an object (games without states are for a closed deck)"),
    "observations": (_list_of(lambda item: isinstance(item, dict)), "a list with one object a player"),
    "legal_actions": (_list_of(lambda item: isinstance(item, str)), "a list of strings"),
    "rewards": (_list_of(_is_number), "a list with one finite number a player"),
}
OPTIONAL: dict[str, Check] = {
    "chance": (_list_of(_is_outcome), "a list of [action, probability], empty where no chance acts"),
    "seed": (lambda value: value is None or type(value) is int, "a whole number or null"),
    "player_names": (_list_of(lambda item: isinstance(item, str)), "a list with one string a player"),
}
CLOSED_SCHEMA = {name: check for name, check in SCHEMA.items() if name != "state"} | {
    "observations": (
        _list_of(lambda item: item is None or isinstance(item, dict)),
        "a list with one object a player, null for players whose view was not recorded",
    ),
    "rewards": (
        _list_of(lambda item: item is None or _is_number(item)),
        "a list with one finite number a player, null for players whose view was not recorded",
    ),
}
CLOSED_OPTIONAL = OPTIONAL | {
    "state": (lambda value: value is None or isinstance(value, dict), "an object or null"),
    "seat": (
        lambda value: value is None or (type(value) is int and value >= 0),
        "the number of the one player whose view of the game was recorded, from 0, or null",
    ),
}
"""In the closed deck nothing needs the states, and a game may have been recorded by one of its players."""
SCHEMAS: dict[Deck, tuple[dict[str, Check], dict[str, Check]]] = {
    "open": (SCHEMA, OPTIONAL),
    "closed": (CLOSED_SCHEMA, CLOSED_OPTIONAL),
}


def read(path: Path, deck: Deck = "open") -> list[Trajectory]:
    """Reads and checks a file of trajectories.

    Args:
        path: JSON lines, compressed by gzip or not.
        deck: in the closed deck states may be missing, and so may all but one player's side of a game.

    Raises:
        TrajectoryFormatError: the file cannot be read or breaks the schema; every problem is named with its line.
    """
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data.startswith(GZIP) else data).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise TrajectoryFormatError(f"{path} cannot be read: {error}. Give a UTF-8 file of JSON lines.") from None
    problems, games = _checked(text, deck)
    if problems and _is_record(text):
        raise TrajectoryFormatError(
            f"{path} holds games of the arena without their states; `cwm trajectories from FOLDER` makes training "
            "games of the folder that they are from."
        )
    if problems and deck == "open" and not _checked(text, "closed")[0]:
        raise TrajectoryFormatError(
            f"{path} looks like games for the closed deck ({problems[0]}): read it with the option `deck` closed, or "
            "give every step its state and every player's side."
        )
    if problems:
        raise TrajectoryFormatError(_summary(path, problems))
    return [_trajectory(index, [record for _, record in rows]) for index, rows in sorted(games.items())]


def _is_record(text: str) -> bool:
    """Whether a file holds games of the arena, one a line, instead of steps."""
    try:
        # A list of them has its bracket on a line of its own.
        first = json.loads(text.removeprefix("[\n").split("\n", 1)[0].removesuffix(","))
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and {"deal_seed", "seats", "actions"} <= first.keys()


def problems_of(records: Iterable[Mapping[str, Any]], deck: Deck = "open") -> list[str]:
    """Returns what is wrong with the steps of games, by line as if they stood in a file."""
    lines = "\n".join(json.dumps(record) for record in records)
    return _checked(lines, deck)[0]


_Rows: TypeAlias = list[tuple[int, dict[str, Any]]]
"""Steps of a game with the numbers of their lines."""


def _checked(text: str, deck: Deck) -> tuple[list[str], dict[int, _Rows]]:
    """Returns what is wrong with a file, and its games by number.

    What follows from a line that is none is not told: the games that it may belong to are not checked further.
    """
    problems: list[str] = []
    games: dict[int, _Rows] = {}
    broken: set[int] = set()
    before: int | None = None
    lost = False
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        record, faults = _check_line(line, *SCHEMAS[deck])
        problems += [f"line {number}: {fault}" for fault in faults]
        named = None if record is None else record.get("trajectory")
        game = named if type(named) is int else None
        if faults:
            broken |= {index for index in (game, before if game is None else None) if index is not None}
        elif record is not None and game is not None:
            games.setdefault(game, []).append((number, record))
        if lost and game is not None:
            broken.add(game)
        lost = game is None
        before = before if game is None else game
    whole = {index: rows for index, rows in games.items() if index not in broken}
    for rows in whole.values():
        problems += _check_game(rows)
    problems += _check_between_games(list(whole.values()))
    if not games and not problems:
        problems.append("the file holds no step")
    return problems, games


def _summary(path: Path, problems: Sequence[str]) -> str:
    shown = "\n".join(f"  {problem}" for problem in problems[:MAX_REPORTED])
    more = f"\n  and {len(problems) - MAX_REPORTED} more" if len(problems) > MAX_REPORTED else ""
    return f"{path} is not a valid trajectory file ({len(problems)} problems):\n{shown}{more}"


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed")


def _check_line(
    line: str, required: Mapping[str, Check], optional: Mapping[str, Check]
) -> tuple[dict[str, Any] | None, list[str]]:
    try:
        record = json.loads(line, parse_constant=_reject_constant)
        # Escapes can spell text that can neither be printed nor hashed.
        json.dumps(record, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return None, ["a text holds half of a surrogate pair; valid text was expected"]
    except ValueError as error:
        return None, [f"not JSON ({error})"]
    except RecursionError:
        return None, ["not JSON that can be read (nested too deeply)"]
    if not isinstance(record, dict):
        return None, [f"expected a JSON object, got {type(record).__name__}"]
    faults = []
    for field, (check, expected) in required.items():
        if field not in record:
            faults.append(f"field {field!r} is missing; expected {expected}")
        elif not check(record[field]):
            faults.append(f"field {field!r} is {_short(record[field])}; expected {expected}")
    for field, (check, expected) in optional.items():
        if field in record and not check(record[field]):
            faults.append(f"field {field!r} is {_short(record[field])}; expected {expected}")
    unknown = sorted(set(record) - set(required) - set(optional))
    if unknown:
        faults.append(f"unknown fields {unknown}; known are {sorted([*required, *optional])}")
    return record, faults


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _check_game(rows: Sequence[tuple[int, dict[str, Any]]]) -> list[str]:
    """Checks one game's steps against each other."""
    problems = []
    players = len(rows[0][1]["rewards"])
    seat = rows[0][1].get("seat")
    if seat is not None and seat >= players:
        problems.append(f"line {rows[0][0]}: field 'seat' is {seat}, but 'rewards' has {players} entries")
    names = rows[0][1].get("player_names") or []
    if names and len(names) != players:
        problems.append(f"line {rows[0][0]}: field 'player_names' has {len(names)} entries; expected {players}")
    for position, (number, record) in enumerate(rows):
        last = position == len(rows) - 1
        faults = [*_check_step(record, position, players, last), *_check_seat(record, position, seat)]
        problems += [f"line {number}: {fault}" for fault in faults]
    return problems


def _check_step(record: dict[str, Any], position: int, players: int, last: bool) -> list[str]:
    faults = []
    player, action = record["player"], record["action"]
    if record["step"] != position:
        faults.append(f"field 'step' is {record['step']}; expected {position} (steps of a game count up from 0)")
    if player >= players:
        faults.append(
            f"field 'player' is {player}, but 'rewards' has {players} entries: players are 0 to {players - 1}"
        )
    for field in ("rewards", "observations"):
        if len(record[field]) != players:
            faults.append(f"field {field!r} has {len(record[field])} entries; expected {players}, one a player")
    if len(set(record["legal_actions"])) != len(record["legal_actions"]):
        faults.append("field 'legal_actions' names an action twice")
    if last != (player == TERMINAL):
        faults.append(
            f"the game's last step must have 'player' {TERMINAL}, and no other step; here 'player' is {player}"
            + (" and no step follows (was the file cut?)" if last else "")
        )
    elif last and (action is not None or record["legal_actions"]):
        faults.append("at the end 'action' must be null and 'legal_actions' empty")
    elif not last and action not in record["legal_actions"]:
        faults.append(f"field 'action' is {_short(action)}, which is not among 'legal_actions'")
    return faults + _check_chance(record)


def _check_seat(record: dict[str, Any], position: int, seat: int | None) -> list[str]:
    """Checks that what is null in a step is what the recording player cannot know, and nothing else."""
    if position and "seat" in record:
        return ["field 'seat' belongs to the first step of a game"]
    values = [*enumerate(record["observations"]), *enumerate(record["rewards"])]
    if seat is None:
        missing = [player for player, value in values if value is None]
        said = (
            f"null stands for player {min(missing, default=0)}; say at step 0 from whose 'seat' the game was recorded"
        )
        return [said] if missing else []
    faults = []
    if record["player"] not in (seat, TERMINAL):
        faults.append(
            f"field 'player' is {record['player']}; a game recorded from seat {seat} has the turns of that player and "
            "the end, and no other line"
        )
    if any((value is None) != (player != seat) for player, value in values):
        faults.append(f"'observations' and 'rewards' must be known for seat {seat} and null for all others")
    return faults


def _check_chance(record: dict[str, Any]) -> list[str]:
    outcomes = record.get("chance") or []
    if record["player"] != CHANCE:
        return ["field 'chance' must be empty where a player moves"] if outcomes else []
    if {name for name, _ in outcomes} != set(record["legal_actions"]):
        return ["field 'chance' must name exactly the actions of 'legal_actions'"]
    total = math.fsum(probability for _, probability in outcomes)
    if abs(total - 1) > CHANCE_TOLERANCE or any(probability < 0 for _, probability in outcomes):
        return [f"the probabilities in 'chance' must be at least 0 and sum to 1; they sum to {total!r}"]
    return []


def _check_between_games(games: Sequence[Sequence[tuple[int, dict[str, Any]]]]) -> list[str]:
    problems = []
    for rows in games[1:]:
        number, record = rows[0]
        first_number, first = games[0][0]
        for field in ("game", "state"):
            if record.get(field) != first.get(field):
                problems.append(
                    f"line {number}: field {field!r} of a game's first step differs from line {first_number}; every "
                    f"game of a file starts alike (let chance actions deal what is random)"
                )
        if len(record["rewards"]) != len(first["rewards"]):
            problems.append(f"line {number}: another number of players than in line {first_number}")
    return problems


def _trajectory(index: int, records: Sequence[dict[str, Any]]) -> Trajectory:
    first = records[0]
    names = first.get("player_names") or [f"player {player}" for player in range(len(first["rewards"]))]
    steps = tuple(
        Step(
            state=record.get("state"),
            player=record["player"],
            legal_actions=tuple(record["legal_actions"]),
            chance=tuple((name, probability) for name, probability in record.get("chance") or []),
            rewards=tuple(float(reward or 0.0) for reward in record["rewards"]),
            observations=tuple(seen or {} for seen in record["observations"]),
            action=record["action"],
        )
        for record in records
    )
    return Trajectory(first["game"], index, first.get("seed"), tuple(names), steps, first.get("seat"))


def known_returns(trajectory: Trajectory) -> list[float]:
    """Returns what the players were paid in all, those whose rewards were not recorded left out."""
    return [paid for player, paid in enumerate(trajectory.returns) if trajectory.seat in (None, player)]


def infer_info(
    trajectories: Sequence[Trajectory], perfect_information: bool | None = None, deck: Deck = "open"
) -> GameInfo:
    """Reads off recorded games what a game's author would otherwise state.

    Args:
        trajectories: games of one file.
        perfect_information: what the user says; None to infer it: everybody is always shown the same, and it tells
            recorded states apart.
        deck: in the closed deck, games without states are of hidden information, and chance may have acted unseen.
    """
    first = trajectories[0]
    players = len(first.steps[0].rewards)
    returns = [known_returns(trajectory) for trajectory in trajectories]
    unseen = deck == "closed" and all(step.state is None for game in trajectories for step in game.steps[1:])
    low = min(min(values) for values in returns)
    high = max(max(values) for values in returns)
    utility = _infer_utility(returns) if all(len(values) == players for values in returns) else "general_sum"
    if utility in ("zero_sum", "win_loss_draw"):
        high = max(abs(low), abs(high), 1.0)
        low = -high
    perfect = perfect_information
    if perfect is None:
        perfect = not unseen and _looks_perfect(trajectories)
    return GameInfo(
        id=first.game,
        num_players=players,
        utility=utility,
        min_utility=low,
        max_utility=max(high, low + 1.0),
        perfect_information=perfect,
        has_chance=unseen or any(step.player == CHANCE for trajectory in trajectories for step in trajectory.steps),
        player_names=first.player_names,
    )


def _infer_utility(returns: Sequence[Sequence[float]]) -> Utility:
    players = len(returns[0])
    if players > 1 and all(abs(sum(values)) < 1e-9 for values in returns):
        decided = all(value in (-1.0, 0.0, 1.0) for values in returns for value in values)
        return "win_loss_draw" if decided and players == 2 else "zero_sum"
    if players > 1 and all(max(values) == min(values) for values in returns):
        return "identical"
    return "general_sum"


def _looks_perfect(trajectories: Sequence[Trajectory]) -> bool:
    states: dict[str, object] = {}
    for trajectory in trajectories:
        for step in trajectory.steps:
            if any(seen != step.observations[0] for seen in step.observations[1:]):
                return False
            key = json.dumps(step.observations[0], sort_keys=True)
            if states.setdefault(key, step.state) != step.state:
                return False
    return True
