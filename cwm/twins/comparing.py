"""One batch of the verified program's states and transitions against a twin: every field of every one."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cwm.sandbox.wire.api import Reply
from cwm.sandbox.wire.arrays import BinaryArray
from cwm.sandbox.wire.plain_json import first_difference
from cwm.synthesis.candidate import TesterError
from cwm.twins.compiled import CompiledTwin
from cwm.twins.differences import TwinDifference
from cwm.twins.form import Rows, TwinForm
from cwm.twins.traced import TwinWorker
from games.api import CHANCE

TOLERANCE: Final = 1e-5
"""Rewards and numbers of vectors may differ by this much, probabilities by this share: they are float32 in a twin."""
SUM_TOLERANCE: Final = 1e-4
"""The probabilities of a chance node may sum to 1 but for this much."""
SHOWN_NUMBERS: Final = 8
MOST_SHOWN_WHOLE: Final = 64
"""Arrays of so many numbers are told in full."""


@dataclass(frozen=True)
class Batch:
    """What the verified program says of some states and transitions.

    Attributes:
        states: texts of U states.
        transitions: int32 [T, 3]: place of a state, index of an action, place of the state after it.
        fields: of every state: `player` [U], `legal` [U, A], `chance` [U, C], `rewards` [U, P], `observations`
            [U, P, W], `fit` [U, P]: whether the observation fits the vectors.
        unlisted: (state, action): legal actions that the twin's tables lack.
        unfit: observations that the vectors cannot hold.
        games: how many were played.
        broken: how many of them were broken off.
        taken: branches of the program that were taken by now.
        pool: actions of games that took new ones.
    """

    states: list[str]
    transitions: NDArray[np.int32]
    fields: Mapping[str, NDArray[Any]]
    unlisted: list[tuple[str, str]]
    unfit: int
    games: int
    broken: int
    taken: frozenset[int]
    pool: list[list[str]]


def batch_of(reply: Reply, form: TwinForm) -> Batch:
    """Returns what the verified program's worker said, checked for its form.

    Raises:
        TesterError: it is of another form.
    """
    value, arrays = reply.value, reply.arrays
    try:
        states = [str(text) for text in value["states"]]
        count, players = len(states), form.num_players
        shapes = {
            "player": ("int32", (count,)),
            "legal": ("uint8", (count, len(form.actions))),
            "chance": ("float32", (count, len(form.outcomes))),
            "rewards": ("float32", (count, players)),
            "observations": ("float32", (count, players, form.width)),
            "fit": ("uint8", (count, players)),
        }
        fields = {name: _numbers(arrays[name], *kind) for name, kind in shapes.items()}
        told = arrays["transitions"]
        transitions = _numbers(told, "int32", (told.shape[0], 3))
        most = (count, max(len(form.actions), len(form.outcomes)), count)
        if not all(((column >= 0) & (column < size)).all() for column, size in zip(transitions.T, most, strict=True)):
            raise ValueError("a transition names a state or an action that is not there")
        return Batch(
            states,
            transitions,
            fields,
            [(states[place], str(action)) for place, action in value["unlisted"]],
            int(value["unfit"]),
            int(value["games"]),
            int(value["broken"]),
            frozenset(map(int, value["taken"])),
            [list(map(str, actions)) for actions in value["pool"]],
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise TesterError(f"the verified program's games cannot be read: {error}") from None


def _numbers(array: BinaryArray, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(f"an array is {array.dtype}{array.shape}, expected {dtype}{shape}")
    return np.frombuffer(array.data, np.dtype(dtype).newbyteorder("<")).reshape(shape)


def compare(
    batch: Batch, form: TwinForm, encoder: TwinWorker, decoder: TwinWorker, twin: CompiledTwin
) -> list[TwinDifference]:
    """Compares a batch with a twin.

    What holds for every transition between encoded states holds, by induction, along every game from the initial one:
    what `init` and `step` return must be what `encode` says bit for bit, so that the arrays which are looked at and
    stepped from here are the very ones that a game would come to, and no others.

    Args:
        batch: of the verified program.
        form: of the twin.
        encoder: puts states into arrays.
        decoder: makes states of arrays; another worker than the first, so that it knows them from the arrays alone.
        twin: compiled.

    Raises:
        TwinProblemError: the twin could not be asked.
        TesterError: it could not be asked through no fault of its own.
    """
    found = [
        TwinDifference("table", "", state, "", f"the table of actions lacks {action!r}, which is legal here")
        for state, action in batch.unlisted
    ]
    rows, problems = encoder.encoded(form, batch.states)
    found += [TwinDifference("encode", "", batch.states[place], "", what) for place, what in problems]
    if found:
        return found
    # As the arrays' types hold them: a worker may have told numbers that they do not.
    rows = form.join(form.split(rows))
    found += _decoded(batch, form, decoder, rows)
    if batch.states:
        found += _initial(batch, form, twin, rows)
    found += _stepped(batch, form, twin, rows)
    found += _looked(batch, form, twin, rows)
    return found


def _decoded(batch: Batch, form: TwinForm, decoder: TwinWorker, rows: Rows) -> Iterator[TwinDifference]:
    texts, problems = decoder.decoded(form, rows)
    told = dict(problems)
    for place, (expected, got) in enumerate(zip(batch.states, texts, strict=True)):
        if place in told:
            yield TwinDifference("decode", "", expected, "", told[place])
        # A worker that met problems breaks off; one that met none owes every state.
        elif got != expected and (got or not told):
            found = _texts_differ(expected, got)
            if found is not None:
                yield TwinDifference("decode", found[0], expected, "", f"decode(encode(state)) {found[1]}")


def _texts_differ(expected: str, got: str) -> tuple[str, str] | None:
    """Returns (key, what differs), None if both are the same state."""
    try:
        difference = first_difference(_rounded(json.loads(expected)), _rounded(json.loads(got)))
    except (ValueError, RecursionError):
        return "", f"is no JSON state: {got[:100]!r}"
    if difference is None:
        return None
    key = difference.path.lstrip(".").split(".")[0].split("[")[0]
    return key, f"differs at {difference.path or 'the top'}: {difference.message}"


def _rounded(value: Any) -> Any:
    """Returns a JSON value with floats as float32 can hold them."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(np.float32(value)) if isinstance(value, float) else value


def _initial(batch: Batch, form: TwinForm, twin: CompiledTwin, rows: Rows) -> Iterator[TwinDifference]:
    # Every game begins with the initial state: it is the first that a batch tells of.
    wanted = (rows[0][:1], rows[1][:1])
    for place, part, message in rows_differ(form, wanted, twin.init()):
        yield TwinDifference("init", part, batch.states[place], "", message)


def _stepped(batch: Batch, form: TwinForm, twin: CompiledTwin, rows: Rows) -> Iterator[TwinDifference]:
    # The same transition is met again and again in small games.
    before, index, after = np.unique(batch.transitions, axis=0).T if len(batch.transitions) else np.zeros((3, 0), int)
    if not len(before):
        return
    got = twin.step((rows[0][before], rows[1][before]), index.astype(np.int32))
    wanted = (rows[0][after], rows[1][after])
    for place, part, message in rows_differ(form, wanted, got):
        chance = batch.fields["player"][before[place]] == CHANCE
        action = (form.outcomes if chance else form.actions)[index[place]]
        told = f"{message}; the state after it is {batch.states[after[place]]}"
        yield TwinDifference("step", part, batch.states[before[place]], action, told)


def rows_differ(form: TwinForm, wanted: Rows, got: Rows) -> Iterator[tuple[int, str, str]]:
    """Yields (row, name of the array, what differs).

    Bit for bit, floats too: a tolerance would let a twin mark the states that `encode` made, and behave otherwise in
    games, whose states `step` makes.
    """
    for array, left, right in zip(form.arrays, form.split(wanted), form.split(got), strict=True):
        size = prod(array.shape)
        flat = (left.reshape(-1, size), right.reshape(-1, size))
        bits = [np.ascontiguousarray(half).view(np.uint32) if array.is_real else half for half in flat]
        for place in np.nonzero((bits[0] != bits[1]).any(axis=1))[0].tolist():
            yield place, array.name, f"the array {array.name!r} {_array_differs(left[place], right[place])}"


def _array_differs(wanted: NDArray[Any], got: NDArray[Any]) -> str:
    """Tells two arrays in full, or the first places where large ones differ: very many states may do so."""
    if wanted.size <= MOST_SHOWN_WHOLE:
        return f"must be {wanted.tolist()}, as encode gives it, got {got.tolist()}"
    # Numbers that look the same may differ in their bits.
    places = np.argwhere(np.atleast_1d((wanted != got) | (np.signbit(wanted) != np.signbit(got)))).tolist()
    told = ", ".join(f"{at} must be {wanted[tuple(at)]}, got {got[tuple(at)]}" for at in places[:SHOWN_NUMBERS])
    more = f" and {len(places) - SHOWN_NUMBERS} more" if len(places) > SHOWN_NUMBERS else ""
    return f"differs from what encode gives at {told}{more}"


def _looked(batch: Batch, form: TwinForm, twin: CompiledTwin, rows: Rows) -> Iterator[TwinDifference]:
    seen = twin.look(rows)
    fields = batch.fields
    wrong = seen["player"] != fields["player"]
    for place in np.nonzero(wrong)[0].tolist():
        message = f"expected {int(fields['player'][place])}, got {int(seen['player'][place])}"
        yield TwinDifference("player", "", batch.states[place], "", message)
    legal = fields["legal"].astype(bool)
    for place in np.nonzero((seen["legal"] != legal).any(axis=1))[0].tolist():
        missing = [form.actions[number] for number in np.nonzero(legal[place] & ~seen["legal"][place])[0]]
        surplus = [form.actions[number] for number in np.nonzero(~legal[place] & seen["legal"][place])[0]]
        message = f"legal actions that it lacks: {missing}; that it has and should not: {surplus}"
        yield TwinDifference("legal", "", batch.states[place], "", message)
    close = np.isclose(seen["rewards"], fields["rewards"], rtol=TOLERANCE, atol=TOLERANCE)
    for place in np.nonzero(~close.all(axis=1))[0].tolist():
        message = f"expected {fields['rewards'][place].tolist()}, got {seen['rewards'][place].tolist()}"
        yield TwinDifference("rewards", "", batch.states[place], "", message)
    yield from _chances(batch, form, seen["chance"])
    close = np.isclose(seen["observations"], fields["observations"], rtol=TOLERANCE, atol=TOLERANCE)
    close |= fields["fit"][..., None] == 0
    for place, player in np.argwhere(~close.all(axis=2)).tolist():
        wanted, got = fields["observations"][place, player], seen["observations"][place, player]
        places = np.nonzero(~close[place, player])[0].tolist()
        told = ", ".join(f"[{at}] must be {wanted[at]:g}, got {got[at]:g}" for at in places[:SHOWN_NUMBERS])
        more = f" and {len(places) - SHOWN_NUMBERS} more" if len(places) > SHOWN_NUMBERS else ""
        message = f"numbers that differ: {told}{more}"
        yield TwinDifference("observe", f"player {player}", batch.states[place], "", message)


def _chances(batch: Batch, form: TwinForm, seen: NDArray[np.float32]) -> Iterator[TwinDifference]:
    wanted = batch.fields["chance"]
    same = np.isclose(seen, wanted, rtol=TOLERANCE, atol=0) & ((seen > 0) == (wanted > 0))
    for place in np.nonzero(~same.all(axis=1))[0].tolist():
        places = np.nonzero(~same[place])[0].tolist()
        told = "; ".join(
            f"{form.outcomes[at]!r} must have {wanted[place, at]:.7g}, got {seen[place, at]:.7g}"
            for at in places[:SHOWN_NUMBERS]
        )
        more = f"; and {len(places) - SHOWN_NUMBERS} more" if len(places) > SHOWN_NUMBERS else ""
        yield TwinDifference("chance", "", batch.states[place], "", f"probabilities that differ: {told}{more}")
    sums = seen.astype(np.float64).sum(axis=1)
    unsure = (batch.fields["player"] == CHANCE) & ~(np.abs(sums - 1) <= SUM_TOLERANCE) & same.all(axis=1)
    for place in np.nonzero(unsure)[0].tolist():
        message = f"the probabilities sum to {sums[place]:.9g} where chance is to move"
        yield TwinDifference("chance", "", batch.states[place], "", message)
