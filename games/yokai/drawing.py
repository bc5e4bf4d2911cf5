"""A Yōkai position as an SVG picture: the true colours above, what one player sees below.

The lower half is drawn from that player's view (`observe.py`) and from the public log, so that it can show no more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from games.api import Observation
from games.yokai import drawing_parts as parts
from games.yokai.config import ACTIONS_PER_TURN, Config
from games.yokai.drawing_parts import CELL, INSET, ROW
from games.yokai.grid import grid
from games.yokai.observe import observation, seen_this_turn
from games.yokai.rules import YokaiState, turn_start
from games.yokai.scoring import outcome

MARGIN: Final = 20
AXIS: Final = 20
HEADER: Final = 108
LABEL: Final = 54
SIDE: Final = 226
LONGEST_NAME: Final = 28
SUB_STEPS: Final = ("observe", "observe", "move", "hint")


@dataclass(frozen=True)
class Canvas:
    """What all pictures of one configuration share.

    Attributes:
        name: class of the root element, under which all rules of `style` are.
        width: in pixels.
        height: in pixels.
        style: CSS.
        backdrop: SVG elements below everything else.
    """

    name: str
    width: int
    height: int
    style: str
    backdrop: str


@dataclass(frozen=True)
class Frame:
    """One position drawn.

    Attributes:
        title: where the game stands.
        caption: what was done last.
        body: SVG elements: the groups `header` and `truth`, which know everything, and `view`, which does not.
    """

    title: str
    caption: str
    body: str


@dataclass(frozen=True)
class _Marks:
    """What the public log says of the last action and of the turn in progress."""

    card: int | None = None
    hint: int | None = None
    origin: Sequence[int] | None = None
    observed: tuple[int, ...] = ()


def canvas(config: Config) -> Canvas:
    """Returns what all pictures of a configuration share."""
    side = config.grid * CELL
    width = 2 * MARGIN + AXIS + side + MARGIN + SIDE
    height = HEADER + 2 * (LABEL + side) + MARGIN
    boards = "".join(_empty_board(config.grid, _top(config, half)) for half in range(2))
    defined = parts.definitions(config.colours, config.subsets)
    page = f'<rect class="page" width="{width}" height="{height}"/>'
    return Canvas("yokai", width, height, parts.STYLE, defined + page + boards)


def frame(
    config: Config,
    state: YokaiState,
    player: int,
    memory: bool = False,
    names: Sequence[str] | None = None,
    note: str | None = None,
) -> Frame:
    """Draws one position.

    Args:
        config: the configuration.
        state: any state.
        player: whose view is drawn below.
        memory: draw the view `memory` instead of `default`.
        names: of the players, by id; None: `player 0`, ….
        note: replaces the line about the last action, e.g. to say that somebody forfeited.
    """
    called = [_shortened(name) for name in names or [f"player {number}" for number in range(config.players)]]
    title, result = _title(config, state, called)
    last = note or caption(config, state, called)
    marks = _marks(config, state)
    view = observation(state, player, config.players, memory)
    header = _header(state, title, result, last)
    seen = _view(config, view, marks, called[player], memory)
    body = [
        parts.group("header", header),
        parts.group("truth", _truth(config, state, marks)),
        parts.group("view", seen),
    ]
    return Frame(title, last, "".join(body))


def of_view(
    config: Config, state: YokaiState, player: int, memory: bool = False, names: Sequence[str] | None = None
) -> dict[str, Any]:
    """Draws what one player sees and nothing else, to be played on; for the arguments see `frame`.

    Returns:
        `body`, SVG elements with their definitions; `box`, the part of the picture that the board fills, as x, y, width
        and height; `cell`, width of a cell, and `origin`, the upper left corner of the first one; `caption`.
    """
    called = [_shortened(name) for name in names or [f"player {number}" for number in range(config.players)]]
    view = observation(state, player, config.players, memory)
    shared = canvas(config)
    seen = parts.group("view", _view(config, view, _marks(config, state), called[player], memory))
    left, top, side = MARGIN + AXIS, _top(config, 1), config.grid * CELL
    return {
        "body": shared.backdrop + seen,
        "box": [MARGIN, top - AXIS, AXIS + side + 4, AXIS + side + 4],
        "cell": CELL,
        "origin": [left, top],
        "caption": caption(config, state, called),
    }


def svg(
    config: Config,
    state: YokaiState,
    player: int,
    memory: bool = False,
    names: Sequence[str] | None = None,
    note: str | None = None,
) -> str:
    """Returns one position as a whole SVG file; see `frame`."""
    return still(canvas(config), frame(config, state, player, memory, names, note))


def still(shared: Canvas, drawn: Frame) -> str:
    """Returns one frame as a whole SVG file."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{shared.name}" role="img" width="{shared.width}" '
        f'height="{shared.height}" viewBox="0 0 {shared.width} {shared.height}">\n'
        f"<title>{escape(drawn.title)}. {escape(drawn.caption)}</title>\n<style>\n{shared.style}</style>\n"
        f"{shared.backdrop}\n{drawn.body}\n</svg>\n"
    )


def caption(config: Config, state: YokaiState, names: Sequence[str]) -> str:
    """Returns the last action in words that hold nothing but what everybody knows."""
    log = state["log"]
    if not log:
        return "The cards are being dealt." if state["phase"] == "deal" else "The cards are dealt."
    who = names[(len(log) - 1) // ACTIONS_PER_TURN % config.players]
    kind, _, rest = log[-1].partition(" ")
    number = rest.split(" ")[0]
    if kind == "move":
        row, column = _origin(config, log)
        return f"{who} moves card {number} from {row},{column} to {rest.split(' ')[-1]}."
    if kind in ("reveal", "place"):
        hint = state["hints"][int(number)]
        colours = "-".join(hint["colours"])
        if kind == "reveal":
            return f"{who} reveals hint {number}: {colours}."
        return f"{who} places hint {number} ({colours}) on card {hint['card']}."
    words = {"observe": f"observes card {number}", "no-op": "has no legal move", "end": "ends the game"}
    return f"{who} {words[kind]}."


# -------------------------------------------------------------------------------- what everybody knows


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _origin(config: Config, log: Sequence[str]) -> Sequence[int]:
    """Returns where the card that the last action moved lay before."""
    start = " ".join(log[-1].split(" ")[:3]) + " "
    before = next((action for action in reversed(log[:-1]) if action.startswith(start)), None)
    if before is None:
        return config.start_positions()[int(start.split(" ")[1])]
    return [int(word) for word in before.removeprefix(start).split(",")]


def _marks(config: Config, state: YokaiState) -> _Marks:
    log = state["log"]
    observed = tuple(seen_this_turn(log[turn_start(state) :]))
    if not log or log[-1] in ("no-op", "end"):
        return _Marks(observed=observed)
    kind, number = log[-1].split(" ")[:2]
    if kind == "reveal":
        return _Marks(hint=int(number))
    if kind == "place":
        return _Marks(card=state["hints"][int(number)]["card"], hint=int(number))
    return _Marks(int(number), None, _origin(config, log) if kind == "move" else None, observed)


def _top(config: Config, half: int) -> int:
    """Returns the upper edge of the upper (0) or lower (1) board."""
    return HEADER + LABEL + half * (config.grid * CELL + LABEL)


def _empty_board(cells: int, top: int) -> str:
    side = cells * CELL
    rules = "".join(f"M0 {at}H{side}M{at} 0V{side}" for at in range(CELL, side, CELL))
    board = f'<rect class="board" width="{side}" height="{side}" rx="4"/><path class="lines" d="{rules}"/>'
    middles = [index * CELL + CELL // 2 for index in range(cells)]
    axis = [parts.text(at, -6, "axis", str(index)) for index, at in enumerate(middles)]
    axis += [parts.text(-11, at + 4, "axis", str(index)) for index, at in enumerate(middles)]
    return parts.group("empty", board + "".join(axis), MARGIN + AXIS, top)


def _cell(position: Sequence[int]) -> tuple[int, int]:
    """Returns where a card in that cell has its upper left corner, (x, y) on the board."""
    return position[1] * CELL + INSET, position[0] * CELL + INSET


def _cards(shown: Mapping[str, Any], marks: _Marks) -> str:
    hints = {hint["card"]: hint["colours"] for hint in shown["hints"] if hint["card"] is not None}
    drawn = []
    if marks.origin is not None and marks.card is not None:
        drawn.append(_path(marks.origin, shown["positions"][marks.card]))
    for card, position in enumerate(shown["positions"]):
        content = parts.card(card, shown["colours"][card], shown["locked"][card], hints.get(card))
        if card in marks.observed:
            content += parts.ring("seen-now")
        if card == marks.card:
            content += parts.ring("acted")
        drawn.append(parts.group("card", content, *_cell(position)))
    return "".join(drawn)


def _path(origin: Sequence[int], target: Sequence[int]) -> str:
    (x, y), (to_x, to_y) = _cell(origin), _cell(target)
    middle = CELL // 2 - INSET
    line = f'x1="{x + middle}" y1="{y + middle}" x2="{to_x + middle}" y2="{to_y + middle}"'
    return parts.group("from", parts.ring("origin"), x, y) + f'<line class="path" {line}/>'


def _half(config: Config, half: int, label: str, cards: str, beside: str) -> str:
    top = _top(config, half)
    side = MARGIN + AXIS + config.grid * CELL + MARGIN
    return (
        parts.text(MARGIN + AXIS, top - 24, "heading", label)
        + parts.group("cards", cards, MARGIN + AXIS, top)
        + parts.group("beside", beside, side, top)
    )


def _hint_rows(hints: Sequence[Mapping[str, Any]], marks: _Marks, verdicts: Sequence[str]) -> list[str]:
    rows = [parts.text(0, 10, "heading", "Hints")]
    for index, hint in enumerate(hints):
        row = parts.hint_row(index, hint, index == marks.hint, verdicts[index])
        rows.append(parts.group("hint", row, 0, 20 + index * ROW))
    return rows


# -------------------------------------------------------------------------------- the upper half


def _title(config: Config, state: YokaiState, names: Sequence[str]) -> tuple[str, str]:
    """Returns where the game stands, and the class of that line."""
    if state["phase"] == "deal":
        return "Dealing", ""
    if state["phase"] == "play":
        return f"Turn {state['turn'] + 1} of {2 * config.hints}: {names[state['player']]} to act", ""
    end = outcome(grid(config.grid), state, len(config.colours))
    if end["won"]:
        return f"Won: score {end['score']:g}", "won"
    return f"Lost: return {end['return']:g}".replace("-", "−"), "lost"


def _header(state: YokaiState, title: str, result: str, last: str) -> str:
    head = f'<text class="title {result}" x="{MARGIN}" y="34">{escape(title)}</text>'
    head += parts.text(MARGIN, 60, "last", escape(last))
    for number, word in enumerate(SUB_STEPS, start=1):
        now = " now" if state["sub_step"] == number else ""
        chip = f'<rect class="chip{now}" width="92" height="24" rx="12"/>' + parts.text(46, 16.5, "name", word)
        head += parts.group("sub-step", chip, MARGIN + (number - 1) * 100, 76)
    return head


def _truth(config: Config, state: YokaiState, marks: _Marks) -> str:
    verdicts = [_verdict(state, hint) for hint in state["hints"]]
    rows = _hint_rows(state["hints"], marks, verdicts)
    top = 20 + config.hints * ROW + 26
    rows.append(parts.text(0, top, "heading", "Colour groups"))
    for index, colour in enumerate(config.colours):
        count = _groups(config, state, colour)
        said = {0: "not dealt", 1: "together"}.get(count, f"in {count} parts")
        row = parts.token([colour]) + parts.text(34, 17, "small", said)
        rows.append(parts.group("colour", row, 0, top + 10 + index * 28))
    return _half(config, 0, "The truth", _cards(state, marks), "".join(rows))


def _verdict(state: YokaiState, hint: Mapping[str, Any]) -> str:
    if hint["status"] != "placed":
        return ""
    return ", true" if state["colours"][hint["card"]] in hint["colours"] else ", false"


def _groups(config: Config, state: YokaiState, colour: str) -> int:
    lattice = grid(config.grid)
    cells = [lattice.bits[row][column] for own, (row, column) in _coloured(state) if own == colour]
    return lattice.groups(sum(cells))


def _coloured(state: YokaiState) -> list[tuple[str | None, Sequence[int]]]:
    return list(zip(state["colours"], state["positions"], strict=True))


# -------------------------------------------------------------------------------- the lower half


def _view(config: Config, view: Observation, marks: _Marks, name: str, memory: bool) -> str:
    """Draws one player's view; nothing that comes in here is more than it knows."""
    known = sum(colour is not None for colour in view["colours"])
    rows = _hint_rows(view["hints"], marks, [""] * config.hints)
    top = 20 + config.hints * ROW + 26
    rows.append(parts.text(0, top, "soft", f"colours shown: {known} of {config.cards}"))
    what = "every card it ever observed" if memory else "the cards it observes in this turn"
    label = f"What {escape(name)} sees: {what}"
    return _half(config, 1, label, _cards(view, marks), "".join(rows))
