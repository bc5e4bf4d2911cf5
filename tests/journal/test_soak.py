"""Hours of trouble in minutes: forty kills of one tournament, and a synthesis with a fault at every seam."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.evaluation.verified_run import verify_run
from arena.matches.store import FILE_NAME
from arena.matches.verification import verify_games
from cwm.llm.requests import request_key
from cwm.record.record import RunRecord
from cwm.storage.journal import RunRecordError

GAMES = 400
KILLS = 40
PLANNER = ["ismcts:sims=40,rollouts=1,name=i", "random:name=r"]

RIGHT = (Path(__file__).resolve().parents[1] / "data" / "programs" / "registered_tic_tac_toe.py").read_text("utf-8")
WRONG_ANSWERS = 90
STARTS = 30
MOST_STARTS = 90
TWO_HOURS_S = 7200.0


def stored(folder: Path) -> dict[str, tuple[str, str]]:
    if not (folder / FILE_NAME).exists():
        return {}
    with closing(sqlite3.connect(folder / FILE_NAME, timeout=30.0)) as database:
        try:
            return {
                key: (game, times) for key, game, times in database.execute("SELECT key, record, seconds FROM games")
            }
        except sqlite3.OperationalError:  # the other process has not made its tables yet
            return {}


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if "seconds" not in key}
    return [timeless(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.slow
def test_forty_kills_of_a_tournament_of_four_hundred_games_lose_none_and_play_none_twice(
    runner: Any, tmp_path: Path, figures: Any
) -> None:
    begun = time.monotonic()
    cup = {"kind": "tournament", "game": "leduc_poker", "agents": PLANNER, "deals": GAMES // 2, "workers": 2}
    folder, rng = tmp_path / "cup", random.Random(0)
    kept: dict[str, tuple[str, str]] = {}
    lost = changed = 0
    for number in range(KILLS):
        wanted = min(GAMES - 2, len(kept) + rng.randrange(0, 10))
        pid = runner.start(folder=folder, **cup)
        if number % 8 == 7:
            time.sleep(rng.uniform(0.0, 0.3))  # some die while they open the file or start their workers
        else:
            while len(stored(folder)) < wanted:
                time.sleep(0.002)
            time.sleep(rng.uniform(0.0, 0.03))
        os.kill(pid, signal.SIGKILL)
        assert runner.wait().code == -signal.SIGKILL
        now = stored(folder)
        lost += len(kept.keys() - now.keys())
        changed += sum(now.get(key) != row for key, row in kept.items())
        kept = now
    before = len(kept)
    ended = runner.run(folder=folder, **cup)
    assert ended.code == 0, ended.err
    final = stored(folder)
    changed += sum(final.get(key) != row for key, row in kept.items())
    whole = runner.run(folder=tmp_path / "whole", **cup)
    verified = verify_games(folder)
    figures(
        "Tournament, real SIGKILLs",
        {
            "kills": KILLS,
            "games": len(final),
            "stored before the last start": before,
            "games lost": lost,
            "games played twice or changed": changed,
            "games that break the true rules": len(verified.problems),
            "seconds": time.monotonic() - begun,
        },
    )
    assert (lost, changed, len(final), verified.problems) == (0, 0, GAMES, ())
    assert before < GAMES
    found, expected = ended.json["standings"], whole.json["standings"]
    assert json.dumps(timeless(found), sort_keys=True) == json.dumps(timeless(expected), sort_keys=True)


def wrong(number: int) -> str:
    """Returns a program that is refused, that crashes, or that plays by other rules, each in its turn."""
    endings = (
        "import os",
        "def get_legal_actions(state):\n    raise ValueError('no')",
        "def get_rewards(state):\n    return [0.0, 0.0]",
    )
    return f"{RIGHT}\n\n{endings[number % 3]}\n# {number}\n"


def befall(rng: random.Random, stored_calls: int) -> dict[str, Any]:
    """Returns what befalls the next process; its helpers die in any case.

    Args:
        rng: chooses.
        stored_calls: those that the process need not make; each takes about eight statements to pass over.
    """
    kind = rng.choice(["before", "after", "full", "timed"])
    helpers = {"helpers_die": rng.randrange(1000)}
    if kind == "timed":
        return helpers | {"seconds": rng.uniform(0.3, 3.0)}
    return helpers | {"fault": [8 * stored_calls + rng.randrange(1, 120), kind]}


def asked(folder: Path) -> Counter[str]:
    """Returns how often the provider answered each call, in all processes."""
    log = folder.with_suffix(".calls")
    return Counter(log.read_text().splitlines()) if log.exists() else Counter()


def answered(folder: Path) -> set[str]:
    """Returns the calls whose answers the journal holds."""
    try:
        with RunRecord.read(folder) as record:
            calls = [call for call in record.calls.calls() if call.status == "answered"]
    except RunRecordError:  # killed before the tables were made
        return set()
    return {f"{request_key(call.request)} {call.occurrence}" for call in calls}


def start(runner: Any, command: dict[str, Any]) -> Any:
    """Runs a process, killed after so many seconds where the command says so."""
    seconds = command.pop("seconds", None)
    if seconds is None:
        return runner.run(**command)
    pid = runner.start(**command)
    time.sleep(seconds)
    with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
        os.kill(pid, signal.SIGKILL)
    return runner.wait()


@pytest.mark.slow
def test_two_hours_of_synthesis_with_faults_at_every_seam_come_to_the_undisturbed_result(
    runner: Any, tmp_path: Path, figures: Any
) -> None:
    begun = time.monotonic()
    programs = [*(wrong(number) for number in range(WRONG_ANSWERS)), RIGHT]
    synthesis = {"kind": "synthesis", "programs": programs, "workers": 2, "match_deals": 4}
    whole, folder, rng = tmp_path / "whole", tmp_path / "run", random.Random(1)
    assert runner.run(folder=whole, **synthesis).code == 0
    ends: Counter[int] = Counter()
    repeated = full = 0
    for number in range(MOST_STARTS):
        safe, calls = answered(folder), asked(folder)
        trouble = befall(rng, len(safe)) if number < STARTS else {}
        ended = start(runner, {**synthesis, "folder": folder, "weather": 5, **trouble})
        ends[ended.code] += 1
        full += "disk is full" in ended.err and ended.code == 4
        repeated += sum(asked(folder)[call] - calls[call] for call in safe)
        assert ended.code in (0, 3, 4, -signal.SIGKILL), ended.err
        assert "Traceback" not in ended.err
        if ended.code == 0 and number >= STARTS:
            break
    calls = asked(folder)
    clock = [line.split() for line in folder.with_suffix(".clock").read_text().splitlines()]
    weather = Counter(kind for _, kind in clock)
    deaths = folder.with_suffix(".deaths")
    with RunRecord.read(folder) as record:
        problems = verify_run(record)
        stored_calls = list(record.calls.calls())
    games = verify_games(folder / "matches")
    virtual_s = sum(float(seconds) for seconds, _ in clock)
    figures(
        "Synthesis, a fault at every seam",
        {
            "virtual seconds": virtual_s,
            "processes": ends.total(),
            "killed": ends[-signal.SIGKILL],
            "stopped by a full disk": full,
            "stopped by the death of a helper": ends[4] - full,
            "stopped by the provider": ends[3],
            "refusals and failures of the provider": sum(
                n for kind, n in weather.items() if kind not in ("wait", "answer")
            ),
            "helper processes killed": len(deaths.read_text().splitlines()) if deaths.exists() else 0,
            "calls answered": len(stored_calls),
            "answers in the journal that were asked for again": repeated,
            "answers lost on their way to the journal": calls.total() - len(calls),
            "games of the matches": len(games.records),
            "problems found by verify": len(problems) + len(games.problems),
            "seconds": time.monotonic() - begun,
        },
    )
    assert virtual_s >= TWO_HOURS_S
    assert ends[-signal.SIGKILL] >= 10
    assert full >= 3
    assert deaths.exists()
    assert all(call.status == "answered" for call in stored_calls)
    assert repeated == 0
    # What was answered and not yet stored when a process ended is asked for once more.
    assert calls.total() - len(calls) <= ends[-signal.SIGKILL] + ends[4]
    assert (problems, games.problems) == ([], ())
    results = [timeless(json.loads((place / "result.json").read_text())) for place in (folder, whole)]
    for result in results:
        del result["tally"]
    assert results[0] == results[1]
    expected = verify_games(whole / "matches")
    assert timeless(games.result.table.to_json()) == timeless(expected.result.table.to_json())
