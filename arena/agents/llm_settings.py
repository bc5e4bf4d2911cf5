"""How a language model is asked for moves: every option of an `llm:` agent, typed, with its unit and its bounds."""

import difflib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from cwm.interface import wording
from cwm.interface.templates import WordingError
from cwm.llm.api import ConfigurationError
from cwm.llm.line import effort_of

History: TypeAlias = Literal["json", "table"]
Choose: TypeAlias = Literal["model", "rating", "search"]

PLAIN: Final = "plain"
"""The scaffold that asks for a move alone."""


class LlmConfigError(ValueError):
    """An option of an `llm:` agent is wrong; the message says what was given and what is expected."""


@dataclass(frozen=True)
class LlmConfig:
    """Options of a language model as a player.

    The CWM paper (section 5 and appendix F) shows no legal moves, asks once and gives five recorded games:
    `retries=0` is its setting.

    Attributes:
        show_legal: whether the prompt lists the legal moves.
        retries: how often a bad answer is sent back with the reason, at most; 0 to 20.
        votes: answers to one decision, of which the most frequent move is played; 1 to 99.
        history: `json`, one line an own decision point with the whole observation, or `table`, where a row shows the
            fields that changed.
        trajectories: recorded games of random play in the prompt; 0 to 100.
        trajectories_seed: what these games are drawn with; those of a synthesis with the same seed are the same.
        max_output_tokens: cap of one answer, reasoning included.
        temperature: sampling temperature, None for the provider's default; 0 to 2.
        timeout: seconds for one answer; a later one counts as a timeout of the player. None: a provider that gives
            none is at fault itself, and the game is void.
        send_seed: whether the provider is sent the seed of each answer; some refuse one.
        base_url: address of a server that speaks OpenAI's API, None for the provider's own.
        reasoning_effort: how long the model is to think, a word of the provider's, None for its default.
        scaffold: what the model is shown, what it is asked for and what it is told of its own earlier turns, by the
            name of a scaffold (`arena.language_players.scaffolds`); `plain` asks for a move alone.
        k: answers to one decision, of which one is chosen as `choose` says; 1 to 99. Takes a scaffold.
        choose: who chooses among `k` answers that differ: `model`, asked once more; `rating`, the move that the answers
            rate highest on average; or `search`, the one that is worth most by play-outs on the true game.
        mixture: whether several roles report on the decision before one asked last decides. Takes a scaffold.
        memory: own turns before this one that the model is shown with its answers; 0 to 20, None for as many as the
            scaffold has. Takes a scaffold.
        wording: other templates for prompts, as `cwm.interface.wording.Wording.to_json` has them, None for the usual.
    """

    show_legal: bool = False
    retries: int = 1
    votes: int = 1
    history: History = "json"
    trajectories: int = 5
    trajectories_seed: int = 0
    max_output_tokens: int = 32_768
    temperature: float | None = None
    timeout: float | None = None
    send_seed: bool = False
    base_url: str | None = None
    reasoning_effort: str | None = None
    scaffold: str = PLAIN
    k: int = 1
    choose: Choose = "model"
    mixture: bool = False
    memory: int | None = None
    wording: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        # Keys of games from before there were these options are hashes of what has none of them.
        usual = {item.name: item.default for item in fields(self) if item.name in _LATER}
        return {name: value for name, value in asdict(self).items() if name not in usual or value != usual[name]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "LlmConfig":
        """Builds the options from those that were given; keys that a newer version wrote are left out."""
        known = {item.name for item in fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in known})


OF_THE_LINE: Final = ("base_url", "send_seed", "timeout")
"""Options of the way to the model alone: a recording answers the same questions without them."""

_LATER: Final = frozenset({"reasoning_effort", "scaffold", "k", "choose", "mixture", "memory", "wording"})
"""Options that are left out where they are the usual ones."""
_WHOLE: Final[Mapping[str, tuple[int, int]]] = {
    "retries": (0, 20),
    "votes": (1, 99),
    "k": (1, 99),
    "memory": (0, 20),
    "trajectories": (0, 100),
    "trajectories_seed": (0, 2**31),
    "max_output_tokens": (1, 1_000_000),
}
_NUMBERS: Final[Mapping[str, tuple[float, float]]] = {"temperature": (0.0, 2.0), "timeout": (0.001, 1e6)}
_CHOICES: Final[Mapping[str, Mapping[str, Any]]] = {
    "show_legal": {"true": True, "false": False},
    "send_seed": {"true": True, "false": False},
    "history": {"json": "json", "table": "table"},
    "mixture": {"true": True, "false": False},
    "choose": {"model": "model", "rating": "rating", "search": "search"},
}


def value_of(name: str, text: str) -> Any:
    """Returns the value of an option as it stands on the command line.

    Raises:
        LlmConfigError: there is no such option, or the value does not fit.
    """
    if name in _CHOICES:
        if text not in _CHOICES[name]:
            raise LlmConfigError(f"{name} is {' or '.join(_CHOICES[name])}, not {text!r}.")
        return _CHOICES[name][text]
    if name in _WHOLE:
        low, high = _WHOLE[name]
        if not (text.isascii() and text.isdecimal() and low <= int(text) <= high):
            raise LlmConfigError(f"{name} is a whole number from {low} to {high}, not {text!r}.")
        return int(text)
    if name in _NUMBERS:
        return _number(name, text)
    if name == "base_url":
        if urlsplit(text).scheme not in ("http", "https"):
            raise LlmConfigError(f"base_url is a web address like http://localhost:8000/v1, not {text!r}.")
        return text
    if name == "scaffold":
        return text
    if name == "wording":
        try:
            return wording.read(text).to_json()
        except WordingError as error:
            raise LlmConfigError(str(error)) from None
    if name == "reasoning_effort":
        try:
            return effort_of(text)
        except ConfigurationError as error:
            raise LlmConfigError(str(error)) from None
    known = [*(item.name for item in fields(LlmConfig)), "view", "name"]
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}."
    raise LlmConfigError(f"a language model takes no {name!r}; {hint}")


def _number(name: str, text: str) -> float:
    low, high = _NUMBERS[name]
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not low <= number <= high:
        raise LlmConfigError(f"{name} is a number from {low:g} to {high:g}, not {text!r}.")
    return number
