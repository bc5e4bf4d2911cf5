"""From stored games to rows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from arena.decisions import search_ratings, state_tracking, walk
from arena.decisions.search_ratings import position_key
from arena.decisions.walk import PlayedFolder, TakenDecision
from arena.exports.turns import schema
from arena.exports.turns.schema import VERSION, Row
from arena.language_players.models import CALLS_FILE
from arena.language_players.turn_record import SCAFFOLD, CallRecord
from arena.matches import replay
from arena.matches.match import GameRecord
from arena.usage import UsageError
from cwm.llm.journaled import StoredCall
from cwm.record.calls import RecordedCalls
from cwm.storage.journal import Journal
from games.api import CHANCE, Action, Game, Observation, ReportsOutcome, State, state_to_json
from search.action_values import ratings

SELF: Final = "self"
SEARCH: Final = "search"
CLAIRVOYANT: Final = "clairvoyant"
RATERS: Final = (SELF, SEARCH, CLAIRVOYANT)
"""Whose ratings a row may hold."""


@dataclass(frozen=True)
class Ending:
    """What became of a game.

    Attributes:
        points: what a cooperative game counts, else what the player got.
        strict: R: 0 for a game that was lost or forfeited; else what the player got.
        bombed: whether the last life was lost; None where the game does not say.
    """

    points: float
    strict: float
    bombed: bool | None


def rows_of(place: PlayedFolder, rated_by: str = SELF) -> Iterator[Row]:
    """Yields every decision of a folder's games as a row, game by game.

    Args:
        place: the games.
        rated_by: whose ratings stand in the rows, one of `RATERS`; the values of `cwm rate` stand beside them where
            there are any, those of who sees all if their ratings are asked for.

    Raises:
        UsageError: there is no such rater, or nothing was rated by it; or the games have parameters of their own.
        RecordError: a game does not agree with the rules.
    """
    if rated_by not in RATERS:
        raise UsageError(f"Nobody called {rated_by!r} rates moves: give {', '.join(RATERS)}.")
    if place.config.params:
        raise UsageError(f"{place.folder} holds games with parameters of their own, which rows do not tell.")
    values = search_ratings.stored(place)
    if rated_by != SELF and not any(clairvoyant == (rated_by == CLAIRVOYANT) for _, clairvoyant in values):
        flag = " with the option `clairvoyant`" if rated_by == CLAIRVOYANT else ""
        raise UsageError(f"Nothing in {place.folder} is rated by {rated_by}: run `cwm rate`{flag} first.")
    with place.opened() as game:
        maker = _Maker(place, game, rated_by, values, _calls(place.folder))
        for key, record in place.games.items():
            yield from maker.game(key, record)


def ending(game: Game, state: State, seat: int, returns: Sequence[float], forfeited: bool) -> Ending:
    """Returns what a game came to, for the rows of a player.

    Args:
        game: the game.
        state: its last one.
        seat: whose.
        returns: by player.
        forfeited: whether it was not played to its end.
    """
    if not isinstance(game, ReportsOutcome):
        return Ending(returns[seat], returns[seat], None)
    told = game.outcome(state)
    strict = float(told["score"]) if told["won"] and not forfeited else 0.0
    return Ending(float(told.get("points", told["score"] if told["won"] else 0.0)), strict, told.get("bombed"))


def truth_of(game: Game, history: Sequence[tuple[Observation, Action | None]]) -> list[Row]:
    """Returns what can be known at a decision as columns, [] where the game does not say."""
    try:
        tracking = state_tracking.tracking_of(game.info.id)
    except UsageError:
        return []
    return [asdict(slot) for slot in state_tracking.true_deduction(tracking.tracked(history))]


def since(actions: Sequence[tuple[int, Action]], seat: int) -> str:
    """Returns what players did since the last own move, oldest first, as JSON: [[player, action], …].

    Args:
        actions: of all before the decision.
        seat: whose decision.
    """
    last = max((number for number, (player, _) in enumerate(actions) if player == seat), default=-1)
    return json.dumps([[player, action] for player, action in actions[last + 1 :] if player != CHANCE])


def plain_prompt(shown: Observation, legal: Sequence[Action]) -> str:
    """Returns what a player that is no language model saw, as a question."""
    moves = "\n".join(f"{number}. {action}" for number, action in enumerate(legal))
    return f"{json.dumps(shown, ensure_ascii=False)}\n\nLegal moves:\n{moves}"


class _Maker:
    """Makes the rows of one folder's games."""

    def __init__(
        self,
        place: PlayedFolder,
        game: Game,
        rated_by: str,
        values: Mapping[tuple[str, bool], Mapping[str, Any]],
        calls: Mapping[str, StoredCall],
    ) -> None:
        self._place = place
        self._game = game
        self._rated_by = rated_by
        self._values = values
        self._calls = calls

    def game(self, key: str, record: GameRecord) -> Iterator[Row]:
        states = [state for state, _, _ in replay.states(self._game, record)]
        histories: dict[int, list[tuple[Observation, Action | None]]] = {}
        for number, decision in enumerate(walk.decisions(key, record)):
            state = states[decision.number]
            own = histories.setdefault(decision.seat, [])
            shown = self._game.observations(state)[decision.seat]
            legal = list(self._game.legal_actions(state))
            last = ending(self._game, states[-1], decision.seat, record.returns, record.forfeit is not None)
            yield {
                **self._of_game(key, record, number),
                **self._of_player(decision),
                **self._of_question(decision, shown, legal),
                **self._of_moves(decision, legal),
                "truth": truth_of(self._game, [*own, (shown, None)]),
                "state": json.dumps(state_to_json(self._game, state), ensure_ascii=False),
                "since": since(record.actions[: decision.number], decision.seat),
                "points": last.points,
                "strict": last.strict,
                "bombed": last.bombed,
                "forfeit": None if record.forfeit is None else record.forfeit.kind,
                "schema_version": VERSION,
            }
            own.append((shown, decision.action))

    def _of_game(self, key: str, record: GameRecord, number: int) -> Row:
        return {
            "game_id": key,
            "row": number,
            "variant": self._place.name,
            "players": len(record.seats),
            "deck": [action for player, action in record.actions if player == CHANCE],
            "deck_name": f"seed:{record.deal_seed}" if record.deck is None else record.deck.name,
        }

    def _of_player(self, decision: TakenDecision) -> Row:
        scaffold = decision.account.get(SCAFFOLD) or {}
        kept = decision.kept
        return {
            "scaffold": scaffold.get("name"),
            "scaffold_hash": scaffold.get("hash"),
            "model": decision.account.get("asked"),
            "agent": decision.agent,
            "seat": decision.seat,
            "turn": decision.turn,
            "deduction": [asdict(slot) for slot in (kept.deduction or ())] if kept else [],
            "input_tokens": sum(call.input_tokens for call in kept.calls) if kept else 0,
            "output_tokens": sum(call.output_tokens for call in kept.calls) if kept else 0,
        }

    def _of_question(self, decision: TakenDecision, shown: Observation, legal: Sequence[Action]) -> Row:
        call = _played(decision)
        stored = None if call is None else self._calls.get(call.key)
        if call is None or stored is None or stored.completion is None:
            asked = [{"role": "user", "content": plain_prompt(shown, legal)}] if decision.kept is None else []
            said = json.dumps({"action": decision.action}) if decision.kept is None else ""
            return {"prompt": asked, "response": said, "reasoning": None, "role": None if call is None else call.role}
        reasoning = stored.completion.metadata.get("reasoning")
        return {
            "prompt": [{"role": one.role, "content": one.text} for one in stored.request.messages],
            "response": stored.completion.text,
            "reasoning": reasoning if isinstance(reasoning, str) else None,
            "role": call.role,
        }

    def _of_moves(self, decision: TakenDecision, legal: list[Action]) -> Row:
        found = self._values.get((position_key(self._place, decision), self._rated_by == CLAIRVOYANT))
        means = {} if found is None else {value[0]: value for value in found["values"]}
        rated = self._ratings(decision, legal, [means[move][1] for move in legal if move in means])
        return {
            "legal": legal,
            "action": decision.action,
            "action_index": legal.index(decision.action) if decision.action in legal else None,
            "ratings": schema.numbers(rated),
            "ratings_by": self._rated_by if schema.numbers(rated) else None,
            "q": schema.numbers([means[move][1] if move in means else None for move in legal]),
            "q_se": schema.numbers([means[move][2] if move in means else None for move in legal]),
            "worlds": None if found is None else found["config"]["worlds"],
        }

    def _ratings(self, decision: TakenDecision, legal: list[Action], means: list[float]) -> list[float | None]:
        if self._rated_by == SELF:
            own = dict(decision.kept.ratings) if decision.kept is not None else {}
            return [own.get(move) for move in legal]
        return list(ratings(means)) if len(means) == len(legal) else [None] * len(legal)


def _played(decision: TakenDecision) -> CallRecord | None:
    """Returns the question whose answer was played: of several candidates that which gave the move, else the last one
    whose answer was not bad, else the last."""
    kept = decision.kept
    calls = kept.calls if kept is not None else ()
    good = [call for call in calls if call.bad is None]
    if kept is not None and decision.action in kept.candidates:
        role = f"candidate {kept.candidates.index(decision.action) + 1}"
        good = [call for call in good if call.role == role] or good
    return good[-1] if good else calls[-1] if calls else None


def _calls(folder: Path) -> Mapping[str, StoredCall]:
    path = folder / CALLS_FILE
    if not path.exists():
        return {}
    journal = Journal(path, read_only=True)
    try:
        return {call.key: call for call in RecordedCalls(journal).calls()}
    finally:
        journal.close()
