"""The names that occur in recorded games: keys, words and action strings, as lists that say nothing of their meaning.

A rule book for people names no field and no action string. Whoever writes a program from it is given these lists
beside it, and finds out from the book and the games what the names mean and where they stand.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cwm.trajectories.recorded import ClosedDeckTrajectory, Deck, Trajectory, view
from games.api import CHANCE, Json
from games.posg.serialised import OF_TURNS

FEW_SHAPES = 12
"""Strings that differ by more than their numbers are listed one by one up to so many; beyond, in patterns."""
MOST_WORDS = 60
"""A place of a pattern at which more words than these stand is described by its characters."""
LONGEST_NAME = 40
"""A value with more characters than this is a text, not a name."""
MOST_BUILDS = 6
"""Strings of one length that have more builds than these are described by their characters."""
NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Vocabulary:
    """The names of a game's records.

    In a pattern `#` stands for a number and `{a|b}` for one of the words.

    Attributes:
        actions: action strings of the players, or patterns of them.
        chance: the same of chance; () where chance's actions are not known.
        state_keys: keys that occur in states, at any depth; () where states are not known.
        state_words: strings that occur as values in states, or patterns of them; action strings are left out.
        observation_keys: keys that occur in observations.
        observation_words: strings that occur as values in observations.
    """

    actions: tuple[str, ...]
    chance: tuple[str, ...]
    state_keys: tuple[str, ...]
    state_words: tuple[str, ...]
    observation_keys: tuple[str, ...]
    observation_words: tuple[str, ...]

    @classmethod
    def of(cls, games: Iterable[Trajectory], deck: Deck = "open") -> "Vocabulary":
        """Collects the names of recorded games.

        Args:
            games: walked through once.
            deck: in the closed deck only what the one player of each game saw and did is looked at.
        """
        found = _Names()
        for trajectory in games:
            if deck == "closed":
                found.add_view(view(trajectory))
            else:
                found.add(trajectory)
        return cls(
            actions=tuple(patterns(found.actions)),
            chance=tuple(patterns(found.chance)),
            state_keys=tuple(sorted(found.state_keys)),
            state_words=found.words(found.state_words),
            observation_keys=tuple(sorted(found.observation_keys)),
            observation_words=found.words(found.observation_words),
        )

    def closed(self) -> "Vocabulary":
        """Returns what players themselves know: nothing of states or of chance."""
        return Vocabulary(self.actions, (), (), (), self.observation_keys, self.observation_words)

    def joint(self) -> "Vocabulary":
        """Returns the names of a game of simultaneous moves as such: nothing of states, or of the turns in which it was
        played."""
        keys = tuple(key for key in self.observation_keys if key not in OF_TURNS)
        return Vocabulary(self.actions, self.chance, (), (), keys, self.observation_words)

    def to_json(self) -> dict[str, Any]:
        """Returns the lists by name."""
        return {name: list(strings) for name, strings in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Sequence[str]]) -> "Vocabulary":
        """Returns the lists that `to_json` wrote.

        Raises:
            KeyError: one is missing.
        """
        return cls(**{name: tuple(data[name]) for name in cls.__dataclass_fields__})


class _Names:
    """Everything that occurs in some games, before patterns are made of it."""

    def __init__(self) -> None:
        self.actions: set[str] = set()
        self.chance: set[str] = set()
        self.state_keys: set[str] = set()
        self.state_words: set[str] = set()
        self.observation_keys: set[str] = set()
        self.observation_words: set[str] = set()

    def add(self, trajectory: Trajectory) -> None:
        for step in trajectory.steps:
            actions = self.chance if step.player == CHANCE else self.actions
            actions.update(step.legal_actions)
            if step.action is not None:
                actions.add(step.action)
            _gather(step.state, self.state_keys, self.state_words)
            for observation in step.observations:
                _gather(observation, self.observation_keys, self.observation_words)

    def add_view(self, seen: ClosedDeckTrajectory) -> None:
        for observation, action in seen.decisions:
            self.actions.add(action)
            _gather(observation, self.observation_keys, self.observation_words)
        _gather(seen.final_observation, self.observation_keys, self.observation_words)

    def words(self, strings: set[str]) -> tuple[str, ...]:
        """Returns the strings that are no actions, as patterns; a string of no characters goes without saying, and one
        that is a whole text, e.g. a drawn board, is no name."""
        named = {string for string in strings if len(string) <= LONGEST_NAME and "\n" not in string}
        return tuple(patterns(named - self.actions - self.chance - {""}))


def _gather(value: Json, keys: set[str], words: set[str]) -> None:
    if isinstance(value, dict):
        keys.update(value)
        for inner in value.values():
            _gather(inner, keys, words)
    elif isinstance(value, list):
        for inner in value:
            _gather(inner, keys, words)
    elif isinstance(value, str):
        words.add(value)


def patterns(strings: Iterable[str]) -> list[str]:
    """Returns strings as a short list: those that differ by numbers alone as one pattern, and where those are many,
    those of one build.

    Args:
        strings: in any order.
    """
    distinct = sorted(set(strings))
    shapes = sorted({NUMBER.sub("#", string) for string in distinct})
    return shapes if len(shapes) <= FEW_SHAPES else sorted(_by_build(distinct))


def _by_build(strings: Sequence[str]) -> Iterator[str]:
    """Yields one pattern for all strings whose words have the same lengths, with the same marks between them; strings
    of one length that have many builds, such as rows of a board, are described by their characters."""
    lengths: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for string in strings:
        lengths[len(string)][_WORD.sub(lambda word: "w" * len(word[0]), string)].append(string)
    shapeless: dict[int, list[str]] = {}
    for length, builds in lengths.items():
        found = [_pattern(members) for members in builds.values()]
        spelled = [pattern for pattern in found if pattern is not None]
        if len(spelled) == len(found) <= MOST_BUILDS:
            yield from spelled
        else:
            shapeless[length] = [string for members in builds.values() for string in members]
    if shapeless:
        characters = "".join(sorted({letter for group in shapeless.values() for string in group for letter in string}))
        yield f"{' or '.join(map(str, sorted(shapeless)))} characters, each one of {characters}"


def _pattern(members: Sequence[str]) -> str | None:
    """Returns the pattern of strings of one build, None where some place of it has too many words."""
    columns = [sorted(set(column)) for column in zip(*map(_WORD.findall, members), strict=True)]
    if any(len(column) > MOST_WORDS for column in columns):
        return None
    places = iter(column[0] if len(column) == 1 else f"{{{'|'.join(column)}}}" for column in columns)
    return _WORD.sub(lambda _: next(places), members[0])
