"""Observations as lists of floats and back, for learned agents: a schema inferred from samples by fixed rules.

No language model is asked, unlike in the CWM paper (appendix D.1), where one writes the code. Dictionaries have a place
for every key, lists for as many items as the longest sample and some more; texts are one-hot, as they are, as patterns
with numbers in them, or character by character; whole numbers and floats are scaled. What fits the schema comes back
exactly; what does not is refused with a named error.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from cwm.observations import schema
from cwm.observations.structures import Field, Listing, OneOf, RecordStructure, kind_of
from cwm.observations.values import (
    Category,
    Flag,
    Null,
    ObservationVectorError,
    Part,
    Pattern,
    Reader,
    Real,
    Spelling,
    VectorLengthError,
    Whole,
    split,
)
from games.api import Json

MAX_CATEGORIES: Final = 64
"""More texts than these are no enumeration."""
FEW: Final = 4
OFTEN: Final = 10
"""More texts than a few are listed only if each occurs so often: where some are rare, others are still to come."""
HEADROOM: Final = 0.25
"""Lists of varying lengths may become longer than in the samples by this share."""


@dataclass(frozen=True)
class ObservationVectors:
    """Writes observations of one game as vectors, and reads them back.

    Attributes:
        part: the schema.
    """

    part: Part

    @property
    def width(self) -> int:
        """Length of every vector."""
        return self.part.width

    def names(self) -> list[str]:
        """Returns what each number of a vector stands for, e.g. `.hints[0].status=face up`."""
        return list(self.part.names(""))

    def encode(self, observation: Json) -> list[float]:
        """Returns an observation as a vector, shape [width].

        Raises:
            ObservationVectorError: it does not fit the schema; the class says in what way.
        """
        out: list[float] = []
        self.part.write(observation, "", out)
        return out

    def decode(self, vector: Sequence[float]) -> Json:
        """Returns the observation of a vector; one that was never encoded is read as the nearest that fits.

        Raises:
            VectorLengthError: it has another length.
            ObservationVectorError: a number in it is not finite.
        """
        if len(vector) != self.width:
            raise VectorLengthError(f"the vector has {len(vector)} numbers; this schema has {self.width}.")
        if not all(map(math.isfinite, vector)):
            raise ObservationVectorError("the vector holds numbers that are not finite; give finite ones.")
        return self.part.read(Reader(vector))

    def to_json(self) -> dict[str, Json]:
        """Returns the schema as JSON, with the version of its format."""
        return schema.to_json(self.part)

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Returns the vectors that `to_json` wrote, the same to the last number.

        Raises:
            SchemaFormatError: the schema is damaged, or another version wrote it.
        """
        return cls(schema.from_json(data))


@dataclass(frozen=True)
class RoundTrip:
    """How many observations come back as they were.

    Attributes:
        width: numbers in a vector.
        samples: observations that the schema was inferred from.
        held_out: observations that were tried.
        exact: of these, how many came back the same.
        changed: how many came back otherwise.
        errors: how many were refused, by the name of the error.
        first_error: the first refusal in words, "" if there was none.
    """

    width: int
    samples: int
    held_out: int
    exact: int
    changed: int
    errors: dict[str, int]
    first_error: str

    @property
    def share(self) -> float | None:
        """Share that came back the same, None if none was tried."""
        return self.exact / self.held_out if self.held_out else None

    def to_json(self) -> dict[str, Any]:
        """Returns the counts and the share."""
        return asdict(self) | {"share": self.share}


def infer(samples: Iterable[Json], headroom: float = HEADROOM) -> ObservationVectors:
    """Infers the schema of some observations.

    Args:
        samples: JSON values; their order does not matter.
        headroom: by this share lists and texts of varying lengths may be longer than the longest sample.

    Raises:
        ObservationVectorError: there are none, or one is no JSON.
    """
    values = list(samples)
    if not values:
        raise ObservationVectorError("a schema needs at least one sample observation; none was given.")
    first = _Inference(headroom)
    first.of(values)
    return ObservationVectors(_Inference(headroom, first.texts).of(values))


def round_trip(samples: Sequence[Json], held_out: Sequence[Json], headroom: float = HEADROOM) -> RoundTrip:
    """Infers a schema from samples and tries it on other observations.

    Args:
        samples: what is known.
        held_out: what is tried.
        headroom: see `infer`.

    Raises:
        ObservationVectorError: there are no samples, or one is no JSON.
    """
    return try_out(infer(samples, headroom), len(samples), held_out)


def try_out(vectors: ObservationVectors, samples: int, held_out: Sequence[Json]) -> RoundTrip:
    """Tries a schema on observations that it was not inferred from.

    Args:
        vectors: the schema.
        samples: how many observations it was inferred from; 0 where that is not known.
        held_out: what is tried.
    """
    errors = Counter[str]()
    first = ""
    exact = 0
    for observation in held_out:
        try:
            back = vectors.decode(vectors.encode(observation))
        except ObservationVectorError as error:
            errors[type(error).__name__] += 1
            first = first or str(error)
        else:
            exact += canonical(back) == canonical(observation)
    changed = len(held_out) - exact - errors.total()
    return RoundTrip(vectors.width, samples, len(held_out), exact, changed, dict(sorted(errors.items())), first)


def canonical(observation: Json) -> str:
    """Returns an observation as text: the same for two that a program cannot tell apart, the order of keys aside."""
    return json.dumps(observation, sort_keys=True, ensure_ascii=True)


class _Inference:
    """Infers parts from samples.

    Args:
        headroom: by this share lists and texts of varying lengths may be longer than the longest sample.
        vocabularies: texts of every place; a place whose texts are all among those of another takes over the larger
            vocabulary: what was seen in a hand may come on a pile.

    Attributes:
        texts: those of each place that was met, in the order of the places.
    """

    def __init__(self, headroom: float, vocabularies: Sequence[Sequence[str]] = ()) -> None:
        self._headroom = headroom
        self._vocabularies = [(frozenset(texts), texts) for texts in vocabularies]
        self.texts: list[Sequence[str]] = []

    def of(self, values: Sequence[Json]) -> OneOf:
        """Returns the part of all values at one place."""
        groups: dict[str, list[Json]] = {}
        for value in values:
            groups.setdefault(kind_of(value), []).append(value)
        kinds = tuple(sorted(groups))
        return OneOf(kinds, tuple(self._of_kind(kind, groups[kind]) for kind in kinds))

    def _of_kind(self, kind: str, values: Sequence[Any]) -> Part:
        match kind:
            case "none":
                return Null()
            case "bool":
                return Flag()
            case "int":
                return _whole(values)
            case "float":
                return _real(values)
            case "text":
                return self._text(values)
            case "list":
                items = [item for value in values for item in value]
                return Listing(self.of(items) if items else Null(), *self._lengths(values))
            case "dict":
                return self._record(values)
        raise ObservationVectorError(f"an observation holds a value of type {kind}; JSON has none such.")

    def _record(self, values: Sequence[dict[str, Json]]) -> RecordStructure:
        names = sorted({name for value in values for name in value})
        found = {name: [value[name] for value in values if name in value] for name in names}
        return RecordStructure(
            tuple(Field(name, self.of(found[name]), len(found[name]) < len(values)) for name in names)
        )

    def _text(self, values: Sequence[str]) -> Part:
        self.texts.append(values)
        own = frozenset(values)
        larger = [texts for known, texts in self._vocabularies if own < known]
        for texts in sorted(larger, key=lambda texts: len(set(texts)), reverse=True):
            part = _listed(texts)
            if part is not None:
                return part
        return _listed(values) or Spelling("".join(sorted(set("".join(values)))), self._lengths(values)[1])

    def _lengths(self, values: Sequence[Any]) -> tuple[int, int]:
        lengths = [len(value) for value in values]
        shortest, longest = min(lengths), max(lengths)
        return shortest, longest + (math.ceil(self._headroom * longest) if longest > shortest else 0)


def _whole(values: Sequence[int]) -> Whole:
    low, high = min(values), max(values)
    return Whole(low, (high - low - 1).bit_length() if high > low else 0)


def _real(values: Sequence[float]) -> Real:
    largest = max(map(abs, values))
    scaled = Real(math.frexp(largest)[1] if math.isfinite(largest) else 0)
    # Beside a very large number a very small one would lose digits: then all stay as they are.
    return scaled if all(map(scaled.holds, values)) else Real(0)


def _listed(values: Sequence[str]) -> Part | None:
    """Returns a part that lists texts, or what stands around their numbers; None where others are to come."""
    distinct = sorted(set(values))
    pieces = [split(value) for value in values]
    frames = {frame for frame, _ in pieces}
    # Where texts differ by numbers, other numbers are to come: then the pattern is what is listed.
    if len(distinct) <= FEW or (len(distinct) == len(frames) and _is_enumeration(values)):
        return Category(tuple(distinct))
    if not _is_enumeration(["\0".join(frame) for frame, _ in pieces]):
        return None
    most = max(len(numbers) for _, numbers in pieces)
    slots = [[numbers[place] for _, numbers in pieces if place < len(numbers)] for place in range(most)]
    return Pattern(tuple(sorted(frames)), tuple(map(_whole, slots)))


def _is_enumeration(values: Sequence[str]) -> bool:
    counts = Counter(values)
    return len(counts) <= FEW or (len(counts) <= MAX_CATEGORIES and min(counts.values()) >= OFTEN)
