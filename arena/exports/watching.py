"""Games to watch on a page: positions packed small, unpacked and shown by a script that the page carries."""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from arena.exports import considered, film_formats
from arena.exports import film as films
from arena.matches import replay
from arena.matches.match import GameRecord
from arena.matches.replay import RecordError
from arena.usage import UsageError
from games.api import CHANCE, Game, GameError, RendersText, state_to_json
from games.yokai import drawing
from games.yokai.game import YokaiGame

MOST_GAMES: Final = 1000
MOST_BYTES: Final = 8_000_000
"""Of packed positions; what is beyond stays out of the page, which says so."""
SCRIPT: Final = film_formats.BOARDS + resources.files(__package__).joinpath("watching.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class WatchedGame:
    """One game.

    Attributes:
        group: who sat at the table, in any order.
        title: who sat where, the deal, what it paid.
        packed: the steps, packed: `{"steps": [[caption, body], …], "score": [[what, points], …]}`, and where the game
            kept it `"thoughts"`, as `considered.steps` has them, one a step.
    """

    group: str
    title: str
    packed: str


@dataclass(frozen=True)
class Watched:
    """Games of one kind.

    Attributes:
        kind: `drawing` (bodies are SVG of `canvas`) or `text` (bodies are plain text).
        games: by lineup, then in the order of the deals.
        left_out: games beyond what a page may hold.
        refused: games that do not agree with the rules.
        canvas: what all drawings share; None for text.
        seats: how many have a view that is drawn; 0 for text.
    """

    kind: str
    games: tuple[WatchedGame, ...]
    left_out: int = 0
    refused: int = 0
    canvas: drawing.Canvas | None = None
    seats: int = 0

    def data(self) -> str:
        """Returns the games as JSON that may stand within a `script` element."""
        data = {"kind": self.kind, "games": [[one.group, one.title, one.packed] for one in self.games]}
        return json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def of(game: Game | None, records: Iterable[GameRecord]) -> Watched | None:
    """Returns what a page shows of finished games; None without a game or games.

    Args:
        game: the true game, None if nobody has it.
        records: in any order.
    """
    listed = sorted(records, key=lambda one: (sorted(one.seats), one.deal_seed, one.seats))
    if game is None or not listed:
        return None
    drawn = isinstance(game, YokaiGame)
    deals = {seed: number for number, seed in enumerate(sorted({one.deal_seed for one in listed}), start=1)}
    made: list[WatchedGame] = []
    refused = size = 0
    for record in listed[:MOST_GAMES]:
        try:
            packed = (
                _drawn(game, record)
                if isinstance(game, YokaiGame)
                else pack(_told(game, record), (), considered.steps(record))
            )
        except (RecordError, GameError, UsageError):
            refused += 1
            continue
        size += len(packed)
        if size > MOST_BYTES:
            break
        made.append(WatchedGame(" with ".join(sorted(record.seats)), _title(record, deals[record.deal_seed]), packed))
    left_out = len(listed) - len(made) - refused
    canvas = drawing.canvas(game.config) if isinstance(game, YokaiGame) else None
    seats = game.info.num_players if drawn else 0
    return Watched("drawing" if drawn else "text", tuple(made), left_out, refused, canvas, seats)


def pack(
    steps: Iterable[tuple[str, str]],
    score: Iterable[tuple[str, int]] = (),
    thoughts: Sequence[dict[str, Any] | None] = (),
) -> str:
    """Returns steps as text that the page's script unpacks: JSON, deflated, in base 64."""
    found: dict[str, Any] = {"steps": list(steps), "score": list(score)}
    if any(thoughts):
        found["thoughts"] = list(thoughts)
    data = json.dumps(found, ensure_ascii=False)
    return base64.b64encode(zlib.compress(data.encode(), 9)).decode()


def unpack(packed: str) -> list[list[str]]:
    """Returns the steps that `pack` packed."""
    found: list[list[str]] = json.loads(zlib.decompress(base64.b64decode(packed)))["steps"]
    return found


def script_source() -> str:
    """Returns the one script that a page with games may run, as its content policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()}'"


def _title(record: GameRecord, deal: int) -> str:
    paid = " : ".join(f"{value:g}" for value in record.returns)
    lost = "" if record.forfeit is None else f", forfeited ({record.forfeit.kind})"
    return f"deal {deal}, {', '.join(record.seats)}: {paid}{lost}"


def _drawn(game: YokaiGame, record: GameRecord) -> str:
    film = films.film(game, record)
    frames = zip(film.frames, film.views, strict=True)
    # A film begins when the cards are dealt.
    movers = [*(player for player, _ in record.actions), None]
    thoughts = [told for told, mover in zip(considered.steps(record), movers, strict=True) if mover != CHANCE]
    steps = ((f"{frame.caption}\n{frame.title}", frame.body + "".join(views)) for frame, views in frames)
    return pack(steps, film.score, thoughts)


def _told(game: Game, record: GameRecord) -> Iterator[tuple[str, str]]:
    """Yields what was done, and the table and the state after it."""
    done = "The start."
    for state, player, action in replay.states(game, record):
        yield done, _table(game, state)
        if action is not None:
            who = "chance" if player == CHANCE else f"{game.info.player_name(player)} ({record.seats[player]})"
            done = f"{who}: {action}"
    if record.forfeit is not None:
        who = f"{game.info.player_name(record.forfeit.seat)} ({record.seats[record.forfeit.seat]})"
        yield f"{who} forfeits ({record.forfeit.kind}): {record.forfeit.detail}", _table(game, state)


def _table(game: Game, state: Any) -> str:
    shown = game.render(state).rstrip("\n") if isinstance(game, RendersText) else ""
    fields = state_to_json(game, state)
    lines = (
        [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
        if isinstance(fields, dict)
        else [json.dumps(fields, ensure_ascii=False)]
    )
    return "\n".join([*([shown, ""] if shown else []), *lines])
