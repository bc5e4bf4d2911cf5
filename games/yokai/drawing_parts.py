"""The pieces of a drawn Yōkai position: cards, hints, marks, as SVG text.

A colour is never shown by its hue alone: a card carries its colour's letter and shape, a hint its colours' letters.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

CELL: Final = 52
CARD: Final = 44
INSET: Final = (CELL - CARD) // 2
FIELD: Final = 18
"""Width of one colour of a hint."""
TOKEN_HEIGHT: Final = 24
ON_CARD: Final = 0.6
"""Size of a hint that lies on a card, as a part of its size beside the board."""
ROW: Final = 34
"""Height of one hint in the list beside the board."""

STYLE: Final = """\
.yokai{font-family:"DejaVu Sans",Verdana,Helvetica,Arial,sans-serif}
.yokai text{fill:#22272e}
.yokai .page{fill:#fbfaf6}
.yokai .board{fill:#efece3;stroke:#c9c4b5}
.yokai .lines{stroke:#ddd8c9;fill:none}
.yokai .axis{font-size:11px;fill:#8a8574;text-anchor:middle}
.yokai .title{font-size:20px;font-weight:bold}
.yokai .last{font-size:15px}
.yokai .heading{font-size:15px;font-weight:bold}
.yokai .small{font-size:12.5px}
.yokai .soft{font-size:12.5px;fill:#6b6757}
.yokai .chip{fill:#efece3;stroke:#c9c4b5}
.yokai .now{fill:#22272e;stroke:#22272e}
.yokai .now+text{fill:#fff}
.yokai .name{font-size:12px;text-anchor:middle}
.yokai .red{fill:#c9302c}
.yokai .green{fill:#17834a}
.yokai .blue{fill:#2563b8}
.yokai .yellow{fill:#f2c531}
.yokai .back{fill:#5d6675}
.yokai .inner{fill:none;stroke:#8b94a3;stroke-width:1.5}
.yokai .shape{fill:#fff;fill-opacity:.24}
.yokai text.letter{font-size:19px;font-weight:bold;fill:#fff;text-anchor:middle}
.yokai text.id{font-size:11px;fill:#fff}
.yokai text.dark{fill:#3a2f00}
.yokai .token{fill:#0f1f33;stroke:#7cc8ff;stroke-width:1.5}
.yokai .down{opacity:.4}
.yokai text.bit{font-size:17px;font-weight:bold;fill:#fff;text-anchor:middle}
.yokai text.bit.dark{fill:#3a2f00}
.yokai .locked{fill:none;stroke:#7cc8ff;stroke-width:3.5}
.yokai .knob{fill:#0f1f33;stroke:#7cc8ff}
.yokai .lock{fill:#fff}
.yokai .shackle{fill:none;stroke:#fff;stroke-width:1.6}
.yokai .acted{fill:none;stroke:#f08c00;stroke-width:3.5}
.yokai .seen-now{fill:none;stroke:#22272e;stroke-width:2;stroke-dasharray:5 3}
.yokai .origin{fill:none;stroke:#f08c00;stroke-width:2;stroke-dasharray:4 4}
.yokai .path{stroke:#f08c00;stroke-width:2.5;stroke-dasharray:2 5;stroke-linecap:round}
.yokai .won{fill:#17834a}
.yokai .lost{fill:#c9302c}
"""
"""Rules for the classes that are used here; all below `.yokai`, so that a page around the picture keeps its own."""

_SHAPES: Final = {
    "red": '<path class="shape" d="M22 3L41 39H3Z"/>',
    "green": '<circle class="shape" cx="22" cy="22" r="18.5"/>',
    "blue": '<rect class="shape" x="6" y="6" width="32" height="32"/>',
    "yellow": '<path class="shape" d="M22 2L42 22L22 42L2 22Z"/>',
}


def group(name: str, content: str, x: int = 0, y: int = 0) -> str:
    """Returns a group with a class, shifted to (x, y)."""
    shift = f' transform="translate({x} {y})"' if x or y else ""
    return f'<g class="{name}"{shift}>{content}</g>'


def text(x: float, y: float, name: str, content: str) -> str:
    """Returns a line of text; `content` must be free of markup already."""
    return f'<text class="{name}" x="{x:g}" y="{y:g}">{content}</text>'


def definitions(colours: Iterable[str], subsets: Iterable[Sequence[str]]) -> str:
    """Returns what pictures refer to: the face of every colour, the back, the lock, a hint for every subset.

    Args:
        colours: colour words.
        subsets: colour words of every hint that may be dealt.
    """
    faces = [_definition(colour, _face(colour, _SHAPES[colour], colour[0].upper())) for colour in colours]
    inner = f'<rect class="inner" x="4" y="4" width="{CARD - 8}" height="{CARD - 8}" rx="5"/>'
    hints = [_definition(_hint_name(subset), _token(subset)) for subset in [*subsets, ()]]
    border = f'<rect class="locked" width="{CARD}" height="{CARD}" rx="8"/>'
    shackle = '<path class="shackle" d="M33.5 6.5V4A2.5 2.5 0 0 1 38.5 4V6.5"/>'
    knob = '<circle class="knob" cx="36" cy="7.5" r="8.5"/>'
    lock = f'{border}{knob}{shackle}<rect class="lock" x="31.5" y="6.5" width="9" height="6" rx="1"/>'
    back = _definition("back", _face("back", inner, "?"))
    return f"<defs>{''.join(faces)}{back}{_definition('lock', lock)}{''.join(hints)}</defs>"


def _definition(name: str, content: str) -> str:
    # A rule that names `.yokai` first holds within what is referred to only if the class is there once more.
    return f'<g id="yokai-{name}" class="yokai">{content}</g>'


def _use(name: str, attributes: str = "") -> str:
    return f'<use href="#yokai-{name}"{attributes}/>'


def _dark(colour: str) -> str:
    return " dark" if colour == "yellow" else ""


def _face(colour: str, shape: str, letter: str) -> str:
    base = f'<rect class="{colour}" width="{CARD}" height="{CARD}" rx="8"/>{shape}'
    return base + text(CARD / 2, 29, f"letter{_dark(colour)}", letter)


def _hint_name(colours: Sequence[str] | None) -> str:
    return f"hint-{'-'.join(colours or ['back'])}"


def _token(colours: Sequence[str]) -> str:
    """Returns a hint: one field with a letter for each of its colours; without colours, its back."""
    width = token_width(colours)
    if not colours:
        back = f'<rect class="back" width="{width}" height="{TOKEN_HEIGHT}" rx="4"/>'
        return back + text(width / 2, 18, "bit", "?")
    parts = [f'<rect class="token" width="{width}" height="{TOKEN_HEIGHT}" rx="4"/>']
    for index, colour in enumerate(colours):
        x = 2 + index * FIELD
        field = f'x="{x}" y="2" width="{FIELD}" height="{TOKEN_HEIGHT - 4}" rx="2"'
        parts.append(f'<rect class="{colour}" {field}/>')
        parts.append(text(x + FIELD / 2, 18.2, f"bit{_dark(colour)}", colour[0].upper()))
    return "".join(parts)


def token_width(colours: Sequence[str] | None) -> int:
    """Returns the width of a hint with these colours, its rim included; of its back, without colours."""
    return FIELD * len(colours or "??") + 4


def card(number: int, colour: str | None, locked: bool, hint: Sequence[str] | None) -> str:
    """Returns a card with its upper left corner at (0, 0).

    Args:
        number: its id.
        colour: None draws its back.
        locked: with a padlock and a light blue border.
        hint: the colours of the hint that lies on it, if one does.
    """
    parts = [_use(colour or "back"), text(5, 13, f"id{_dark(colour or '')}", str(number))]
    if locked:
        parts.append(_use("lock"))
    if hint:
        x = (CARD - ON_CARD * token_width(hint)) / 2
        parts.append(_use(_hint_name(hint), f' transform="translate({x:.1f} 33) scale({ON_CARD})"'))
    return "".join(parts)


def token(colours: Sequence[str] | None, face_down: bool = False) -> str:
    """Returns a hint with its upper left corner at (0, 0); None draws its back, `face_down` makes it pale."""
    return _use(_hint_name(colours), ' class="down"' if face_down else "")


def ring(name: str) -> str:
    """Returns a border around a card whose upper left corner is at (0, 0)."""
    return f'<rect class="{name}" x="-3" y="-3" width="{CARD + 6}" height="{CARD + 6}" rx="10"/>'


def hint_row(number: int, hint: Mapping[str, Any], marked: bool, verdict: str = "") -> str:
    """Returns one line of the list of hints.

    Args:
        number: of the hint.
        hint: as in a state or a view; `colours` None: they are not shown.
        marked: it was just acted on.
        verdict: what to add to where it lies.
    """
    colours = hint["colours"]
    pale = hint["status"] == "face down" and colours is not None
    content = group("colours", token(colours, pale), 50, 3) + text(0, 20, "small", f"hint {number}")
    if marked:
        content += f'<rect class="acted" x="47" y="0" width="{token_width(colours) + 6}" height="30" rx="6"/>'
    status = f"on card {hint['card']}{verdict}" if hint["status"] == "placed" else hint["status"]
    return content + text(116, 20, "soft", status)
