"""What a game's record keeps of a decision: written and read back, joined with the game's actions."""

import json

from arena.language_players.turn_record import CallRecord, DeducedSlot, TurnRecord, decisions, rank_of

CALL = CallRecord("player", 0, "a" * 64, "player", 100, 20)
WHOLE = TurnRecord(
    turn=1,
    action="(Play 0)",
    ratings=(("(Discard 0)", -0.5), ("(Play 0)", 1.0), ("(Play 1)", None)),
    rank=1,
    reason="told",
    deduction=(DeducedSlot(0, 1, "RY", "12"),),
    dropped={"unknown move": 2},
    candidates=("(Play 0)", None),
    calls=(CALL, CallRecord("chooser", 1, "b" * 64, "player: chooser", 1, 2, "illegal")),
)


def test_a_decision_is_read_back_as_it_was_written() -> None:
    for turn in (WHOLE, TurnRecord(0, None, calls=(CALL,)), TurnRecord(2, "a", deduction=(), calls=(CALL,))):
        assert TurnRecord.from_json(json.loads(json.dumps(turn.to_json()))) == turn


def test_what_a_decision_has_nothing_of_is_left_out() -> None:
    assert sorted(TurnRecord(0, None, calls=(CALL,)).to_json()) == ["action", "calls", "turn"]


def test_fields_of_a_newer_version_are_left_out() -> None:
    assert TurnRecord.from_json({**WHOLE.to_json(), "mood": "good"}) == WHOLE


def test_decisions_are_joined_with_the_actions_of_the_game() -> None:
    actions = [(-1, "deal"), (0, "a"), (1, "b"), (0, "c")]
    accounts = {
        "0": {"turns": [TurnRecord(0, "a").to_json(), TurnRecord(1, "c").to_json()]},
        "1": {"turns": [TurnRecord(0, "b").to_json(), TurnRecord(1, None).to_json()]},
        "2": {"calls": 3},
    }
    found = [(decision.number, decision.seat, decision.turn.action) for decision in decisions(actions, accounts)]
    assert found == [(1, 0, "a"), (2, 1, "b"), (3, 0, "c"), (4, 1, None)]


def test_moves_rated_alike_share_a_rank() -> None:
    ratings = (("a", 0.5), ("b", 1.0), ("c", 0.5), ("d", None))
    assert [rank_of(move, ratings) for move in ("b", "a", "c", "d", None)] == [1, 2, 2, None, None]
