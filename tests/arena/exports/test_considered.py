"""What a game's record keeps of what its players considered is told on pages, whatever others wrote into it."""

import json
import zlib
from base64 import b64decode
from typing import Any

import pytest

from arena.exports import considered, film_sources, watching
from arena.language_players.turn_record import TurnRecord
from arena.matches.match import GameRecord
from cwm.trajectories.recorded import game_seed, play, random_policy
from games import registry
from games.api import CHANCE

NOTHING = {"simulations": None, "more": 0, "belief": []}


def keeping(record: GameRecord, thoughts: Any) -> GameRecord:
    """Returns a record that keeps thoughts: by number of the action, as text."""
    object.__setattr__(record, "thoughts", thoughts)
    return record


def poker() -> GameRecord:
    return film_sources._as_record(play(registry.make("leduc_poker"), [random_policy] * 2, game_seed(3, 0), 0))


def unpacked(packed: str) -> Any:
    return json.loads(zlib.decompress(b64decode(packed)))


def test_visits_become_shares_and_the_move_that_was_played_is_told() -> None:
    record = poker()
    number = next(index for index, (player, _) in enumerate(record.actions) if player != CHANCE)
    action = record.actions[number][1]
    moves = [{"action": "other", "visits": 1, "value": -0.5}, {"action": action, "visits": 3}]
    belief = [["deck.1", [["K", 0.75], ["Q", 0.25]]]]
    thought = {"simulations": 4, "moves": moves, "left_out": 2, "belief": belief}
    found = considered.steps(keeping(record, {str(number): thought}))
    assert len(found) == len(record.actions) + 1
    assert [index for index, told in enumerate(found) if told] == [number]
    rows = [(action, 0.75, 3, None, True), ("other", 0.25, 1, -0.5, False)]
    assert found[number] == {"simulations": 4, "moves": rows, "more": 2, "belief": belief}


def test_a_policy_has_shares_of_its_own_and_a_long_list_is_counted() -> None:
    moves = [{"action": str(number), "share": number / 91} for number in range(14)]
    found = considered.steps(keeping(poker(), {"0": {"moves": moves, "left_out": 5}}))[0]
    assert found is not None
    assert found["moves"][0] == ("13", 13 / 91, None, None, False)
    assert (len(found["moves"]), found["more"], found["simulations"]) == (12, 5 + 2, None)


@pytest.mark.parametrize(
    ("thought", "told"),
    [
        ("text", None),
        ({"moves": "text"}, None),
        ({"moves": [3, {}, {"visits": 2}]}, None),
        (
            {"moves": [{"action": 3, "visits": "9", "value": float("nan"), "share": 7}], "simulations": True},
            NOTHING | {"moves": [("3", 1.0, None, None, False)]},
        ),
        (
            {
                "moves": [{"action": "a"}],
                "belief": [3, ["x"], ["x", [["v", 2.0], ["v"], "vw"]], [4, []]],
                "left_out": -3,
            },
            NOTHING | {"moves": [("a", 0.0, None, None, False)]},
        ),
    ],
)
def test_what_has_not_the_form_of_a_thought_is_left_out(thought: Any, told: Any) -> None:
    assert considered.steps(keeping(poker(), {"0": thought}))[0] == told
    assert set(considered.steps(keeping(poker(), [thought]))) == {None}


@pytest.mark.parametrize("drawn", [False, True])
def test_a_page_has_the_thought_of_each_step_and_nothing_where_none_is_kept(drawn: bool) -> None:
    name = "yokai-9c-2p" if drawn else "leduc_poker"
    game, record = film_sources.load(name, 0, 3) if drawn else (registry.make(name), poker())
    plain = watching.of(game, [record])
    assert plain is not None
    assert "thoughts" not in unpacked(plain.games[0].packed)
    number = next(index for index, (player, _) in enumerate(record.actions) if player != CHANCE)
    own = {str(number): {"moves": [{"action": record.actions[number][1], "visits": 1}], "simulations": 1}}
    found = watching.of(game, [keeping(record, own)])
    assert found is not None
    page = unpacked(found.games[0].packed)
    assert len(page["thoughts"]) == len(page["steps"])
    # A drawn game begins when all is dealt.
    assert [index for index, told in enumerate(page["thoughts"]) if told] == [0 if drawn else number]


def test_ratings_and_the_reason_of_a_language_model_are_told_where_thoughts_are() -> None:
    record = poker()
    number, player = next((index, player) for index, (player, _) in enumerate(record.actions) if player != CHANCE)
    action = record.actions[number][1]
    turn = TurnRecord(0, action, (("other", None), (action, -0.25), ("third", 1.0)), 2, "I have to.")
    object.__setattr__(record, "accounts", {str(player): {"turns": [turn.to_json()]}})
    found = considered.steps(record)
    assert found[number] == {
        **NOTHING,
        "moves": [
            ("third", 0.0, None, None, False, 1.0),
            (action, 0.0, None, None, True, -0.25),
            ("other", 0.0, None, None, False, None),
        ],
        "reason": "I have to.",
    }
    assert [index for index, told in enumerate(found) if told] == [number]


def test_a_reason_without_ratings_is_told_and_an_account_of_another_form_is_not() -> None:
    record = poker()
    object.__setattr__(record, "accounts", {"0": {"turns": [TurnRecord(7, None, reason="No way.").to_json()]}})
    assert considered.steps(record)[-1] == {**NOTHING, "moves": [], "reason": "No way."}
    for account in (
        "text",
        {"turns": 3},
        {"turns": [3]},
        {"turns": [{"action": 1}]},
        {"turns": [{"turn": 0, "action": "a", "reason": 3}]},
    ):
        object.__setattr__(record, "accounts", {"0": account})
        assert not any(considered.steps(record))
