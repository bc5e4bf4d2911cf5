"""What a game's record keeps of each decision of a language model that plays by a scaffold.

It lies in `GameRecord.accounts`, under the seat's number as text, key `turns`: one entry a decision, in their order.
What a decision has nothing of is left out of its JSON.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, TypeAlias

from arena.agents.thought import MOST_MOVES, Thought
from games.api import Action

SCAFFOLD: Final = "scaffold"
"""Key of an account: name and hash of the scaffold."""
TURNS: Final = "turns"
"""Key of an account."""
LONGEST_REASON: Final = 2_000
"""Characters of a reason that a page shows."""

Rating: TypeAlias = tuple[Action, float | None]


@dataclass(frozen=True)
class CallRecord:
    """One question to the model, as a journal and a recording know it.

    Attributes:
        role: who the model was: `player`; `candidate 1`, …, and `chooser`; or a role of a mixture.
        attempt: 0, or how many answers of this role at this decision were bad before.
        key: `cwm.llm.requests.request_key` of the request and the model's name, 64 hexadecimal digits: column `key` of
            the journal's table `completions`.
        purpose: of the request: column `purpose`.
        input_tokens: of the call.
        output_tokens: of the call.
        bad: None, or what was wrong with the answer: a kind of `arena.agents.api.ForfeitKind`.
    """

    role: str
    attempt: int
    key: str
    purpose: str
    input_tokens: int
    output_tokens: int
    bad: str | None = None


@dataclass(frozen=True)
class DeducedSlot:
    """What a model says that a player can know of one card.

    Attributes:
        player: whose card, by its seat.
        slot: which card of the hand at this decision, from 0.
        colours: letters that it holds possible, in the game's order.
        ranks: digits that it holds possible, rising.
    """

    player: int
    slot: int
    colours: str
    ranks: str


@dataclass(frozen=True)
class TurnRecord:
    """One decision.

    Attributes:
        turn: number of the player's own decision, from 0: the seat's action of this number is what it played.
        action: the chosen move; None if no answer could be played and the game was forfeited.
        ratings: every legal move in the game's order, with the rating in [-1, 1] that the answer which was played gave
            it, None where that has none; () if none were asked for.
        rank: of the chosen move among the rated ones, 1 for the highest; moves rated alike share it; None if unrated.
        reason: why, in the model's words; None if it gave no reason.
        deduction: what the model says that players know of their cards; None if nothing that can be read whole was
            given.
        dropped: ratings and deductions that were left out, by reason, with counts, over all answers of the decision.
        candidates: by answer of `k` or of votes, its move, None where it could not be played; () for a single answer.
        calls: every question of the decision, in the order in which they are asked.
    """

    turn: int
    action: Action | None
    ratings: tuple[Rating, ...] = ()
    rank: int | None = None
    reason: str | None = None
    deduction: tuple[DeducedSlot, ...] | None = None
    dropped: dict[str, int] = field(default_factory=dict)
    candidates: tuple[Action | None, ...] = ()
    calls: tuple[CallRecord, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the decision as JSON, without what it has nothing of; `action` is always there."""
        data: dict[str, Any] = {key: value for key, value in asdict(self).items() if value not in (None, (), {})}
        data["action"] = self.action
        calls = data.pop("calls", ())
        for name in ("ratings", "deduction", "candidates"):
            if name in data:
                data[name] = [list(item) if isinstance(item, tuple) else item for item in data[name]]
        if self.deduction == ():
            data["deduction"] = []
        return data | {"calls": [{key: value for key, value in call.items() if value is not None} for call in calls]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TurnRecord":
        """Reads what `to_json` wrote; keys that a newer version wrote are left out.

        Raises:
            KeyError, TypeError, ValueError: it is of another form.
        """
        values = _known(cls, data)
        values["ratings"] = tuple((str(action), rating) for action, rating in data.get("ratings", ()))
        values["candidates"] = tuple(data.get("candidates", ()))
        values["calls"] = tuple(CallRecord(**_known(CallRecord, call)) for call in data.get("calls", ()))
        if data.get("deduction") is not None:
            values["deduction"] = tuple(DeducedSlot(**_known(DeducedSlot, slot)) for slot in data["deduction"])
        return cls(**values)


@dataclass(frozen=True)
class Decision:
    """A decision with its place in the game.

    Attributes:
        number: of the action in `GameRecord.actions`; of a decision that gave no move, how many actions there are.
        seat: who decided.
        turn: what is kept of it.
    """

    number: int
    seat: int
    turn: TurnRecord


def decisions(actions: Sequence[tuple[int, Action]], accounts: Mapping[str, Mapping[str, Any]]) -> Iterator[Decision]:
    """Yields the decisions of a game that are kept, in the order of the game.

    Args:
        actions: of a record: (player, action), chance (-1) too.
        accounts: of the same record.

    Raises:
        KeyError, TypeError, ValueError: a decision is of another form.
    """
    own: dict[int, list[int]] = {}
    for number, (player, _) in enumerate(actions):
        own.setdefault(player, []).append(number)
    found = []
    for seat, account in accounts.items():
        numbers = own.get(int(seat), [])
        for data in account.get(TURNS, ()):
            turn = TurnRecord.from_json(data)
            number = numbers[turn.turn] if turn.turn < len(numbers) else len(actions)
            found.append(Decision(number, int(seat), turn))
    yield from sorted(found, key=lambda decision: decision.number)


def thoughts(actions: Sequence[tuple[int, Action]], accounts: Any) -> dict[str, Thought]:
    """Returns what decisions had considered, by the number of the action as text: `arena.agents.thought`.

    Moves have `rating`, the highest first, those without one last; beside them stands `reason`. An account that others
    made may hold anything: what has not the form of decisions is left out.

    Args:
        actions: of a record.
        accounts: of the same record.
    """
    try:
        kept = {str(decision.number): _thought(decision.turn) for decision in decisions(actions, accounts)}
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}
    return {number: thought for number, thought in kept.items() if thought}


def _thought(turn: TurnRecord) -> Thought:
    ranked = sorted(turn.ratings, key=lambda item: -2.0 if item[1] is None else item[1], reverse=True)
    moves = [{"action": action} | ({} if rating is None else {"rating": rating}) for action, rating in ranked]
    found: Thought = {"moves": moves[:MOST_MOVES], "left_out": max(0, len(moves) - MOST_MOVES)} if moves else {}
    return found | ({} if turn.reason is None else {"reason": turn.reason[:LONGEST_REASON]})


def _known(kind: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    names = {item.name for item in fields(kind)}
    return {key: value for key, value in data.items() if key in names}


def rank_of(action: Action | None, ratings: Sequence[Rating]) -> int | None:
    """Returns the place of a move among the rated ones, 1 for the highest, None if it is unrated."""
    known = {move: rating for move, rating in ratings if rating is not None}
    if action not in known:
        return None
    return 1 + sum(rating > known[action] for rating in known.values())
