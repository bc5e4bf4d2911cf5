"""Decks by name in place of seeds: in the command line, the plan, the record, and what is checked of it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.agents.specs import parse
from arena.matches.game_source import named_decks
from arena.matches.match import GameRecord, NamedDeck
from arena.matches.plan import TournamentConfig
from arena.matches.tournament import plan, prepare
from arena.usage import UsageError
from games.hanabi.decks import deck
from games.registry import make

HANABI = make("hanabi-tiny-2p")
CARDS = "R1 R1 R1 R2 R2 R3 R3 R4 R4 R5"
CUP = ["arena", "hanabi-tiny-2p", "--agent", "partner:simple", "--agent", "random", "--workers", 1]


def test_names_are_listed_from_one_to_another_or_as_the_cards_themselves() -> None:
    named = named_decks(HANABI, ["hle:1, 3", "hle-random:2", "hle:7-9", f" {CARDS.lower()} "])
    assert [one.name for one in named] == [
        *("hle:1", "hle:3", "hle-random:2", "hle:7", "hle:8", "hle:9"),
        CARDS.lower(),
    ]
    assert [action[6:8] for action in named[1].actions] == deck("hle:3", HANABI.config)
    assert " ".join(action[6:8] for action in named[-1].actions) == CARDS


def test_deals_of_named_decks_depend_on_their_cards_alone() -> None:
    def seeds(*names: str) -> list[int]:
        decks = named_decks(HANABI, names)
        agents = (parse("random"),)
        return [
            game.deal_seed for game in plan(prepare(TournamentConfig(HANABI.info.id, agents, len(decks), decks=decks)))
        ]

    one, three = seeds("hle:1,3")
    assert seeds("hle:3,1") == [three, one]
    assert one != three


def test_games_are_dealt_the_deck_keep_it_and_are_verified(cwm: Any, tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    assert cwm(*CUP, "--deck", "hle:1,3", "--run", folder).code == 0
    with closing(sqlite3.connect(folder / "games.sqlite")) as database:
        rows = database.execute("SELECT key, record FROM games").fetchall()
    records = [GameRecord.from_json(json.loads(record) | {"seconds": []}) for _, record in rows]
    assert len(records) == 8
    for record in records:
        assert record.deck is not None
        dealt = [action for player, action in record.actions if player < 0]
        assert dealt == list(record.deck.actions[: len(dealt)])
        assert list(record.deck.actions) == HANABI.named_deck(record.deck.name)
        assert GameRecord.from_json(record.to_json() | {"seconds": []}) == record
    before = cwm("verify", folder, "--json")
    assert (before.code, before.json["games"]) == (0, 8)
    assert "8 of 8" in cwm("resume", folder).err + cwm("verify", folder).out

    key, record = rows[0]
    changed = json.loads(record)
    changed["deck"]["actions"].reverse()
    with closing(sqlite3.connect(folder / "games.sqlite")) as database:
        database.execute("UPDATE games SET record = ? WHERE key = ?", (json.dumps(changed), key))
        database.commit()
    found = cwm("verify", folder, "--json")
    assert found.code == 1
    assert "the order of the deck of the record is" in found.json["problems"][0]["message"]


def test_one_game_is_dealt_a_named_deck(cwm: Any, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    played = cwm("play", "hanabi-tiny-2p", "--agent", "random", "--deck", CARDS, "--run", folder, "--json")
    assert played.json["deck"]["name"] == CARDS
    assert [action for player, action in played.json["actions"] if player < 0][:4] == ["(Deal R1)"] * 3 + ["(Deal R2)"]
    assert cwm("verify", folder).code == 0


def test_strangers_meet_on_named_decks_each_once_in_every_seating(cwm: Any, tmp_path: Path) -> None:
    folder = tmp_path / "xp"
    wishes = ("--agent", "partner:simple", "--agent", "random", "--deck", "hle:1,3", "--workers", 1)
    found = cwm("xp", "hanabi-tiny-2p", *wishes, "--run", folder, "--json").json
    assert (found["decks"], found["games"], found["table"]["games"]) == (["hle:1", "hle:3"], None, 8)
    assert {(tuple(line["lineup"]), line["games"]) for line in found["table"]["lineups"]} == {
        (("partner:simple", "partner:simple"), 2),
        (("random", "random"), 2),
        (("partner:simple", "random"), 4),
    }
    with closing(sqlite3.connect(folder / "2-seatings" / "games.sqlite")) as database:
        decks = [json.loads(record)["deck"]["name"] for (record,) in database.execute("SELECT record FROM games")]
    assert sorted(decks) == ["hle:1", "hle:1", "hle:3", "hle:3"]
    assert cwm("verify", folder / "2-seatings").code == 0


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (["arena", "tic_tac_toe", "--agent", "random", "--deck", "hle:1"], "tic_tac_toe deals no decks by name"),
        ([*CUP, "--deck", "hle:1,1"], "'hle:1' is named twice"),
        ([*CUP, "--deck", "hle:x"], "There is no deck 'hle:x'"),
        ([*CUP, "--deck", "hle:3-1"], "There is no deck 'hle:3-1'"),
        ([*CUP, "--deck", "R1 R2"], "2 R1 missing, 1 R2 missing"),
        ([*CUP, "--deck", f"{CARDS} R5"], "1 R5 too many"),
        ([*CUP, "--deck", "hle:1", "--deals", 2], "give one of the two"),
        (["xp", "hanabi-tiny-2p", "--agent", "random", "--deck", "hle:1", "--games", 2], "give one of the two"),
        (["xp", "hanabi-tiny-2p", "--checkpoint", "x", "--deck", "hle:1"], "--checkpoint goes with"),
        (["play", "hanabi-tiny-2p", "--agent", "random", "--deck", "hle:1,2"], "this is one game"),
    ],
)
def test_deck_that_cannot_be_dealt_is_refused_in_a_sentence(cwm: Any, wishes: list[Any], said: str) -> None:
    refused = cwm(*wishes)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert said in refused.err


def test_game_that_offers_no_decks_says_so_without_a_flag() -> None:
    with pytest.raises(UsageError, match="leave out the option `deck`"):
        named_decks(make("kuhn_poker"), ["hle:1"])


def test_configuration_without_decks_is_stored_as_before() -> None:
    config = TournamentConfig("hanabi-2p", (parse("random"),), 1)
    assert "decks" not in config.to_json()
    told = TournamentConfig("hanabi-2p", (parse("random"),), 1, decks=(NamedDeck("a", ("(Deal R1)",)),))
    assert TournamentConfig.from_json(json.loads(json.dumps(told.to_json()))).decks == told.decks
