"""Programs out of a language model's answer: fenced code blocks, never prose."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_OPENING = re.compile(r"^[ ]{0,3}(?P<fence>`{3,}|~{3,})[ ]*(?P<language>[A-Za-z0-9_+-]*)[ ]*\r?$")


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes:
        language: the word after the fence, lower case, "" if none.
        text: what is inside, with a final newline.
        closed: False if the answer ended before the fence did.
    """

    language: str
    text: str
    closed: bool


def blocks(answer: str) -> list[Block]:
    """Returns the fenced blocks of an answer, in order."""
    found: list[Block] = []
    fence, language, lines = "", "", list[str]()
    for line in answer.splitlines():
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                found.append(Block(language, _text(lines), True))
                fence = ""
            else:
                lines.append(line)
        elif match := _OPENING.match(line):
            fence, language, lines = match["fence"], match["language"].lower(), []
    if fence:
        found.append(Block(language, _text(lines), False))
    return found


def programs(answer: str, required: Sequence[str], at_most: int) -> list[str]:
    """Returns the programs of an answer: the last `at_most` Python blocks that define all of `required`.

    Reasoning may hold snippets, so whole programs win over them. If no block is whole, the last Python block is
    returned, for the static check to say what is missing. An unclosed block is never returned.

    Args:
        answer: the text.
        required: names of the functions of a whole program.
        at_most: how many programs were asked for.
    """
    python = [
        block.text for block in blocks(answer) if block.closed and block.language in ("python", "py", "python3", "")
    ]
    whole = [text for text in python if all(defines(text, name) for name in required)]
    if not whole:
        return python[-1:]
    return list(dict.fromkeys(whole[-at_most:]))


def defines(source: str, name: str) -> bool:
    """Returns whether `source` has a line that defines or assigns `name` at module level."""
    return re.search(rf"^(?:def {name}\b|{name}\s*[:=])", source, re.MULTILINE) is not None


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n" if lines else ""
