"""Games of bots that are told of as if a language model had played them: with ratings, deductions and calls."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from arena.agents.specs import parse
from arena.decisions import walk
from arena.decisions.walk import PlayedFolder, TakenDecision
from arena.language_players.turn_record import CallRecord, TurnRecord
from arena.matches import tournament
from arena.matches.plan import TournamentConfig
from cwm.llm.api import Completion, Message, Request, Usage
from cwm.llm.journaled import StoredCall
from cwm.llm.requests import request_key
from cwm.record.calls import RecordedCalls
from cwm.storage.journal import Journal
from games.api import Game, State

Says = Callable[[Game, TakenDecision, State], TurnRecord | None]


def play(
    folder: Path, game: str = "hanabi-tiny-2p", deals: int = 1, agents: tuple[str, ...] = ("partner:simple",)
) -> PlayedFolder:
    """Plays a few games of bots into a folder."""
    specs = tuple(parse(agent) for agent in agents)
    tournament.open_and_run(folder, tournament.prepare(TournamentConfig(game, specs, deals)))
    return walk.played(folder)[0]


def tell(place: PlayedFolder, says: Says, scaffold: str = "mycroft", model: str = "scripted:answers") -> PlayedFolder:
    """Writes into the games what a language model would have said at each decision, and its calls beside them."""
    with place.opened() as game, closing(sqlite3.connect(place.folder / "games.sqlite")) as database:
        for key, record in place.games.items():
            accounts: dict[str, dict[str, object]] = {}
            for decision, state in walk.with_states(game, key, record):
                said = says(game, decision, state)
                account = accounts.setdefault(
                    str(decision.seat),
                    {"asked": model, "models": [model], "scaffold": {"name": scaffold, "hash": "ab" * 32}, "turns": []},
                )
                turns = account["turns"]
                assert isinstance(turns, list)
                if said is not None:
                    turns.append(replace(said, turn=decision.turn, action=decision.action).to_json())
            (text,) = database.execute("SELECT record FROM games WHERE key = ?", (key,)).fetchone()
            database.execute(
                "UPDATE games SET record = ? WHERE key = ?",
                (json.dumps(json.loads(text) | {"accounts": accounts}), key),
            )
        database.commit()
    return walk.played(place.folder)[0]


def call(
    place: PlayedFolder, prompt: str, answer: str, model: str = "scripted:answers", role: str = "player"
) -> CallRecord:
    """Keeps a question and its answer in the folder's journal and returns how a game's record names it."""
    request = Request((Message("system", "You play."), Message("user", prompt)), "player", occurrence=0)
    key = request_key(request, model)
    journal = Journal(place.folder / "calls.sqlite")
    calls = RecordedCalls(journal)
    calls.begin(StoredCall(key, 0, model, request))
    calls.finish(key, 0, Completion(answer, "ok", model, Usage(7, 3)), 0)
    journal.close()
    return CallRecord(role, 0, key, "player", 7, 3)
