import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.agents.api import Agent, AgentFailure, InfrastructureError, ScriptedAgent
from arena.agents.specs import AgentSpec, AgentSpecError, parse
from arena.commands.tournament import read_asked
from arena.machine.runtime import Runtime
from arena.matches import tournament
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig, TournamentError
from arena.matches.store import FILE_NAME, ConfigMismatchError, GameStore, MemoryStore, StoreLockedError
from arena.matches.tournament import plan, prepare, run
from games.api import Game, UnknownGameError


def config(game: str, *agents: str, deals: int = 2, **settings: Any) -> TournamentConfig:
    return prepare(TournamentConfig(game, tuple(parse(agent) for agent in agents), deals, **settings))


def timeless(records: tuple[GameRecord, ...]) -> list[GameRecord]:
    return [replace(record, seconds=()) for record in records]


def test_both_seatings_are_played_on_every_deal() -> None:
    planned = plan(config("leduc_poker", "random:name=a", "random:name=b", deals=3, pairing="cross"))
    seats = [tuple(spec.name for spec in game.seats) for game in planned]
    assert seats == [("a", "b"), ("b", "a")] * 3
    assert [game.deal for game in planned] == [0, 0, 1, 1, 2, 2]
    assert planned[0].deal_seed == planned[1].deal_seed != planned[2].deal_seed


def test_self_play_is_one_game_a_deal() -> None:
    planned = plan(config("leduc_poker", "random:name=a", "random:name=b", deals=2, pairing="self"))
    assert [tuple(spec.name for spec in game.seats) for game in planned] == [("a", "a"), ("b", "b")] * 2


def test_three_players_meet_in_all_rotations_of_every_lineup() -> None:
    planned = plan(config("yokai-9c-3p", "random:name=a", "random:name=b", deals=1))
    seats = ["".join(spec.name for spec in game.seats) for game in planned]
    assert seats == ["aaa", "aab", "aba", "baa", "abb", "bba", "bab", "bbb"]
    assert len({game.key for game in planned}) == 8


def test_all_lineups_meet_the_same_deals() -> None:
    found = run(config("leduc_poker", "random:name=a", "random:name=b", deals=4), MemoryStore())
    private: dict[int, set[tuple[str, ...]]] = {}
    for record in found.records:
        cards = tuple(action for player, action in record.actions if player == -1)
        private.setdefault(record.deal_seed, set()).add(cards[:2])
    assert [len(cards) for cards in private.values()] == [1, 1, 1, 1]


def test_key_depends_on_what_the_game_depends_on() -> None:
    first = plan(config("leduc_poker", "random"))[0].key
    assert plan(config("leduc_poker", "random", deals=5))[0].key == first
    assert plan(config("leduc_poker", "random", seed=1))[0].key != first
    assert plan(config("leduc_poker", "random:name=other"))[0].key != first
    assert plan(config("leduc_poker", "random", runtime=Runtime(move_timeout_s=1.0)))[0].key != first


@pytest.mark.parametrize(
    ("agents", "settings", "message"),
    [
        (["random", "random"], {}, "Two agents are named 'random'"),
        ([], {}, "needs an agent"),
        (["random"], {"deals": 0}, "needs an agent and a deal"),
        (["random"], {"pairing": "cross"}, "needs more than the one agent"),
        (["random"], {"lineups": ((0, 1),)}, "does not name 2 of the 1 agents"),
    ],
)
def test_tournament_that_cannot_be_played_is_refused(agents: list[str], settings: Any, message: str) -> None:
    with pytest.raises(TournamentError, match=message):
        config("leduc_poker", *agents, **settings)


@pytest.mark.parametrize(
    ("game", "agent", "message"),
    [
        ("leduc_poker", "mcts", "mcts needs perfect information"),
        ("leduc_poker", "random:view=memory", "has the views default"),
        ("tic_tac_toe", "mcts:leaf=value", "needs a value function"),
        ("tic_tac_toe", "mcts:sims=0", "simulations is 0"),
        ("tic_tac_toe", "human", "is a person"),
        ("tic_tac_toe", "cwm:/no/such/folder", "no model can be read"),
    ],
)
def test_agent_that_does_not_fit_the_game_is_refused_before_any_game(game: str, agent: str, message: str) -> None:
    with pytest.raises(AgentSpecError, match=message):
        config(game, agent)


def test_unknown_game_is_refused() -> None:
    with pytest.raises(UnknownGameError, match="tictactoe"):
        config("tictactoe", "random")


def test_search_beats_random_play_at_tic_tac_toe() -> None:
    found = run(config("tic_tac_toe", "mcts:sims=60,rollouts=1", "random", deals=10, pairing="cross"), MemoryStore())
    side = found.table.agents[0].cross
    assert side is not None
    assert side.games == 20
    assert side.win.mean >= 0.8
    assert found.table_without_forfeits is None
    assert found.missing == {}


@pytest.mark.parametrize("game", ["leduc_poker", "kuhn_poker", "connect_four"])
def test_random_play_of_two_is_zero_sum(game: str) -> None:
    found = run(config(game, "random:name=a", "random:name=b", deals=3), MemoryStore())
    assert len(found.records) == 12
    assert all(sum(record.returns) == 0 for record in found.records)
    assert found.table.matrix[0][1] is not None


def test_random_play_of_yokai_gives_all_cooperative_figures() -> None:
    found = run(config("yokai-9c-2p", "random:name=a", "random:name=b,view=memory", deals=4), MemoryStore())
    first = found.table.agents[0]
    assert first.self_play is not None
    assert first.cross_play is not None
    assert first.self_play.returns.mean < 0 <= first.self_play.score.mean
    assert 1 <= first.cross_play.length.mean <= 32
    assert all(record.returns[0] == record.returns[1] for record in found.records)


def test_planner_is_served_the_view_that_it_asks_for() -> None:
    agent = "ismcts:sims=4,leaf=value,view=memory,name=m"
    found = run(config("yokai-9c-2p", agent, deals=1), MemoryStore())
    assert found.records[0].forfeit is None
    assert found.records[0].fallbacks == ({}, {})


def test_number_of_workers_changes_nothing_but_times() -> None:
    asked = config("leduc_poker", "ismcts:sims=10,name=i", "random", deals=3)
    alone = run(asked, MemoryStore(), workers=1)
    together = run(asked, MemoryStore(), workers=2)
    assert timeless(alone.records) == timeless(together.records)
    assert alone.played == together.played == len(alone.records) == 12


def test_finished_tournament_plays_nothing_again(tmp_path: Path) -> None:
    asked = config("leduc_poker", "random:name=a", "random:name=b")
    with GameStore(tmp_path, asked.to_json()) as store:
        first = run(asked, store)
    seen: list[Any] = []
    with GameStore(tmp_path, asked.to_json()) as store:
        again = run(asked, store, on_game=seen.append)
    assert (first.played, again.played, seen) == (8, 0, [])
    assert first.table == again.table


def test_other_configuration_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    GameStore(tmp_path, config("leduc_poker", "random").to_json()).close()
    with pytest.raises(ConfigMismatchError, match="deals: 2 in the record, 3 now"):
        GameStore(tmp_path, config("leduc_poker", "random", deals=3).to_json())


def test_ctrl_c_keeps_every_finished_game(tmp_path: Path) -> None:
    asked = config("leduc_poker", "random:name=a", "random:name=b", deals=5)

    def interrupt(progress: Any) -> None:
        if progress.done == 7:
            raise KeyboardInterrupt

    with GameStore(tmp_path, asked.to_json()) as store:
        with pytest.raises(KeyboardInterrupt):
            run(asked, store, workers=2, on_game=interrupt)
        assert len(store.games()) == 7
        resumed = run(asked, store)
    assert resumed.played == 13
    assert timeless(resumed.records) == timeless(run(asked, MemoryStore()).records)


def test_forfeits_stay_in_the_table_and_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(spec: AgentSpec, game: Game, *rest: object) -> Agent:
        script: list[Any] = [AgentFailure("timeout", "60 s")] if spec.name == "slow" else ["Call"] * 9
        return ScriptedAgent(script, spec.name)

    monkeypatch.setattr(tournament, "build", build)
    found = run(config("leduc_poker", "random:name=slow", "random:name=calm", deals=3), MemoryStore())
    slow, calm = found.table.agents
    assert slow.forfeits == {"timeout": 9}
    assert calm.forfeits == {}
    assert slow.cross is not None
    assert (slow.cross.payoff.mean, slow.cross.loss.mean) == (-13.0, 1.0)
    assert found.table_without_forfeits is not None
    assert found.table_without_forfeits.games == 3


@pytest.mark.parametrize("common_seeds", [False, True])
def test_each_seat_of_each_game_has_a_seed_of_its_own_and_the_same_one_when_played_again(
    monkeypatch: pytest.MonkeyPatch, common_seeds: bool
) -> None:
    given: list[int] = []

    class Seeded(ScriptedAgent):
        def start(self, info: Any, seat: int, seed: int) -> None:
            super().start(info, seat, seed)
            given.append(seed)

    monkeypatch.setattr(tournament, "build", lambda spec, *rest: Seeded(["Call"] * 9, spec.name))
    asked = config("leduc_poker", "random", deals=3, pairing="self", common_seeds=common_seeds)
    run(asked, MemoryStore())
    assert len(given) == 6
    assert len(set(given)) == 6
    run(asked, MemoryStore())
    assert given[6:] == given[:6]


def test_fault_of_ours_is_played_again_and_never_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    class Broken(ScriptedAgent):
        def start(self, *_: Any) -> None:
            calls.append(1)
            if len(calls) <= 2:
                raise InfrastructureError("no pipe")

    monkeypatch.setattr(tournament, "build", lambda spec, *rest: Broken(["Call"] * 9, spec.name))
    found = run(config("leduc_poker", "random", deals=1), MemoryStore())
    assert len(found.records) == 1
    assert found.missing == {}


def test_game_that_ours_keeps_breaking_is_reported_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(spec: AgentSpec, game: Game, *rest: object) -> Agent:
        return ScriptedAgent([ZeroDivisionError("oops")])

    monkeypatch.setattr(tournament, "build", build)
    found = run(config("leduc_poker", "random", deals=1), MemoryStore())
    assert found.records == ()
    assert list(found.missing.values()) == [["ZeroDivisionError: oops"] * 3]


def test_worker_that_is_killed_is_a_fault_of_ours_and_its_game_is_played_again() -> None:
    asked = config("leduc_poker", "ismcts:sims=100,name=i", "random", deals=3)
    killed: list[int] = []

    def kill_one(progress: Any) -> None:
        if not killed:
            victim = multiprocessing.active_children()[0]
            victim.kill()
            killed.append(victim.pid or 0)

    found = run(asked, MemoryStore(), workers=2, on_game=kill_one)
    assert len(killed) == 1
    assert found.missing == {}
    assert timeless(found.records) == timeless(run(asked, MemoryStore()).records)
    # It may have died between two games, and then no game was lost.
    assert sum(found.faults.values()) <= 1
    assert all("ended with exit code -9 during a game" in message for message in found.faults)


def test_faults_are_counted_over_finished_games_too(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    class Broken(ScriptedAgent):
        def start(self, *_: Any) -> None:
            calls.append(1)
            if len(calls) <= 2:
                raise InfrastructureError("no pipe")

    monkeypatch.setattr(tournament, "build", lambda spec, *rest: Broken(["Call"] * 9, spec.name))
    found = run(config("leduc_poker", "random", deals=2), MemoryStore())
    assert (len(found.records), found.missing, found.faults) == (2, {}, {"sandbox: no pipe": 2})


SCRIPT = """
import json, pathlib, sys
from arena.agents.specs import parse
from arena.matches.store import GameStore
from arena.matches.plan import TournamentConfig
from arena.matches.tournament import prepare, run

def main():
    agents = tuple(parse(agent) for agent in json.loads(sys.argv[2]))
    asked = prepare(TournamentConfig("leduc_poker", agents, int(sys.argv[3]), pairing="cross"))
    with GameStore(pathlib.Path(sys.argv[1]), asked.to_json()) as store:
        found = run(asked, store, workers=2)
    print(json.dumps({"played": found.played, "games": len(found.records)}))

if __name__ == "__main__":
    main()
"""


AGENTS = ["ismcts:sims=150,rollouts=1,name=i", "random"]


def start(tmp_path: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """Starts a tournament of 40 games in its own process group and waits until some are stored."""
    script = tmp_path / "play.py"
    script.write_text(SCRIPT)
    folder = tmp_path / "run"
    paths = os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, str(script), str(folder), json.dumps(AGENTS), "20"],
        env={**os.environ, "PYTHONPATH": paths},
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    while stored(folder) < 8:
        assert process.poll() is None
        time.sleep(0.005)
    return process, folder


def resume_and_compare(folder: Path, before: int) -> None:
    asked = config("leduc_poker", *AGENTS, deals=20, pairing="cross")
    with GameStore(folder, asked.to_json()) as store:
        resumed = run(asked, store)
    assert resumed.played == 40 - before
    assert timeless(resumed.records) == timeless(run(asked, MemoryStore()).records)
    assert stored(folder) == 40


def test_killed_tournament_goes_on_with_no_game_lost_or_twice(tmp_path: Path) -> None:
    process, folder = start(tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = stored(folder)
    assert 8 <= before < 40
    resume_and_compare(folder, before)
    assert no_process_left(process.pid)


@pytest.mark.usefixtures("ctrl_c_counts")
def test_ctrl_c_of_the_whole_process_group_leaves_no_process_and_loses_no_game(tmp_path: Path) -> None:
    process, folder = start(tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=20) != 0
    assert no_process_left(process.pid)
    before = stored(folder)
    assert 8 <= before < 40
    resume_and_compare(folder, before)


def no_process_left(group: int) -> bool:
    """Waits until no process of a group lives, a few seconds at most."""
    for _ in range(200):
        listed = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in listed.splitlines()]
        if not any(int(pgid) == group and not state.startswith("Z") for pgid, state in rows):
            return True
        time.sleep(0.05)
    return False


def test_second_process_is_told_that_the_tournament_is_running(tmp_path: Path) -> None:
    asked = config("leduc_poker", "random")
    with GameStore(tmp_path, asked.to_json()), pytest.raises(StoreLockedError, match="another process"):
        GameStore(tmp_path, asked.to_json())


def stored(folder: Path) -> int:
    if not (folder / FILE_NAME).exists():
        return 0
    with closing(sqlite3.connect(folder / FILE_NAME)) as database:
        try:
            return int(database.execute("SELECT COUNT(*) FROM games").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def test_what_planners_considered_is_kept_under_the_keys_that_games_always_had() -> None:
    agent = "ismcts:sims=20"
    settings = config("leduc_poker", agent, "random", deals=1, pairing="cross")
    plain, told = run(settings, MemoryStore()), run(replace(settings, explain=True), MemoryStore())
    assert plan(settings) == plan(replace(settings, explain=True))
    assert settings.to_json() == replace(settings, explain=True).to_json()
    assert [replace(record, thoughts={}) for record in timeless(told.records)] == timeless(plain.records)
    for record in told.records:
        searched = {number for number, (player, _) in enumerate(record.actions) if player == record.seats.index(agent)}
        assert {int(number) for number in record.thoughts} == searched
        for number, thought in record.thoughts.items():
            assert record.actions[int(number)][1] in [move["action"] for move in thought["moves"]]
            assert thought["belief"]


def test_a_tournament_that_is_resumed_goes_on_to_keep_what_was_considered(tmp_path: Path) -> None:
    for name, explain in (("plain", False), ("told", True)):
        (tmp_path / name).mkdir()
        asked = replace(config("leduc_poker", "random"), explain=explain)
        tournament.write_asked(tmp_path / name, asked)
        assert read_asked(tmp_path / name).explain is explain
    assert "explain" not in json.loads((tmp_path / "plain" / tournament.ASKED_FILE).read_text(encoding="utf-8"))
