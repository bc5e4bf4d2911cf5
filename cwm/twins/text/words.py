"""Words of a traced function's text, one after the other."""

import re
from typing import Final, NoReturn

from cwm.twins.text.language import TwinTextError

# Repeats that give nothing back (`++`): no text takes more than one pass.
TOKEN: Final = re.compile(
    r"""\s*+(?:
        (?P<value>%[A-Za-z0-9_]+(?:\#[0-9]+)?)
      | (?P<string>"(?:[^"\\\n]++|\\.)*+")
      | (?P<hash>\#[A-Za-z_][A-Za-z0-9_.]*)
      | (?P<symbol>@[A-Za-z0-9_.$-]+)
      | (?P<block>\^bb[0-9]+)
      | (?P<arrow>->)
      | (?P<tensor>tensor<[0-9a-z]++>)
      | (?P<number>-?(?:0x[0-9A-Fa-f]+|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?))
      | (?P<word>[A-Za-z_][A-Za-z0-9_.$]*)
      | (?P<mark>[(){}\[\]<>=:,])
    )""",
    re.VERBOSE | re.ASCII,
)


class Words:
    """Goes through a text word by word.

    Args:
        text: of a traced function.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._kind, self._token = "", ""
        self._next()

    def _taken(self) -> str:
        token = self._token
        self._next()
        return token

    def _expect(self, mark: str) -> None:
        if self._kind != "mark" or self._token != mark:
            self._refuse(f"expected {mark!r}")
        self._next()

    def _expect_kind(self, kind: str) -> str:
        if self._kind != kind:
            self._refuse(f"expected a {kind}")
        return self._taken()

    def _next(self) -> None:
        match = TOKEN.match(self._text, self._place)
        if match is None:
            if self._text[self._place :].strip():
                self._refuse("expected something else")
            self._kind, self._token = "end", ""
            return
        self._place = match.end()
        self._kind = match.lastgroup or ""
        self._token = match[self._kind]

    def _refuse(self, why: str) -> NoReturn:
        line = self._text.count("\n", 0, self._place) + 1
        raise TwinTextError(f"the traced program is not accepted: {why} (line {line} of its text)")
