"""A run that is killed after any of its events sends no request twice, and comes to the same result to the bit.

Requests are counted where they are paid: at a server. What comes back from the journal into a prompt, e.g. the state
that a test expected, must come back as it was, or the request is another one and is paid again.
"""

import json
import random
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from cwm.record.record import RunRecord
from cwm.trajectories.recorded import collect, write
from games import registry

DATA = Path(__file__).resolve().parents[1] / "data"
PROGRAMS = DATA / "programs"
TIC_TAC_TOE = (PROGRAMS / "registered_tic_tac_toe.py").read_text(encoding="utf-8")
LEDUC, CLOSED = (
    file.read_text(encoding="utf-8")
    for file in (*(DATA / "begun" / "run" / "programs").glob("*.py"), PROGRAMS / "written_leduc_poker_closed.py")
)
"""Programs that a language model wrote."""
WORTH = "def value_function(state, player_id):\n    return {}\n"
EVEN = "def policy_prior(state, legal_actions, player_id):\n    return [1 / len(legal_actions)] * len(legal_actions)\n"
LEAK = (
    "def policy_prior(state, legal_actions, player_id):\n"
    "    own, other = (str(state['private_cards'][player]) for player in (player_id, 1 - player_id))\n"
    "    weights = [3.0 if index == 0 and other > own else 1.0 for index in range(len(legal_actions))]\n"
    "    return [weight / sum(weights) for weight in weights]\n"
)
"""Reads the other player's card, and is asked for again."""


def edited(source: str, old: str, new: str) -> str:
    assert old in source
    return source.replace(old, new)


FLAT = edited(LEDUC, "owed + (2 if first_round else 4)", "owed + 2")
"""Passes the recorded games, in which nobody raises in the second round."""
CHEAP = edited(LEDUC, "new['pot'] = 0\n    new['current_player'] = -4", "new['current_player'] = -4")
CHEAPER = edited(CHEAP, "pay = owed + (2 if first_round else 4)", "pay = owed + 1")
"""Two programs whose states differ from the expected ones in fields that are not in the order of the alphabet."""


@dataclass(frozen=True)
class Combination:
    """One way to synthesise.

    Attributes:
        options: of `cwm synthesize`.
        answers: the server's, in the order of the requests.
        every: whether the slow test kills after every event, not after some that are drawn.
        measured: whether prompts and choice hold what a clock said: then no two runs ask the same, but none asks twice.
    """

    options: dict[str, Any]
    answers: Sequence[str]
    every: bool = False
    measured: bool = False


FEW = {"test_transitions": 20, "further_games": 0, "tournament_deals": 1}
COMBINATIONS = {
    "hidden information": Combination(
        {"game": "leduc_poker", **FEW, "values": 2, "priors": 2},
        [CHEAPER, CHEAP, LEDUC, WORTH.format(0.0), WORTH.format(1.0), LEAK, EVEN, EVEN.replace("1 /", "1.0 /")],
        every=True,
    ),
    "conversation": Combination(
        {"game": "leduc_poker", **FEW, "method": "conversation"}, ["import os", CHEAPER, "no program", CHEAP, LEDUC]
    ),
    "closed deck": Combination({"game": "leduc_poker", **FEW, "deck": "closed"}, [CHEAPER, LEDUC, CLOSED]),
    "further games": Combination(
        {"game": "leduc_poker", **FEW, "further_games": 4, "further_rounds": 2, "values": 1, "tournament_budget": 1000},
        [FLAT, LEDUC, WORTH.format(0.0)],
    ),
    "several": Combination(
        {"game": "leduc_poker", **FEW, "syntheses": 2, "repetitions": 2, "simulations": 5},
        [CHEAP, LEDUC, CHEAPER, LEDUC],
    ),
    "own game": Combination({"rules": "", "trajectories": "", "held_out": 1, "tournament_deals": 1}, [CHEAP, LEDUC]),
    "faster": Combination(
        {"game": "tic_tac_toe", **FEW, "faster": 2},
        [TIC_TAC_TOE, edited(TIC_TAC_TOE, "(2, 4, 6)]", "(2, 4, 5)]"), TIC_TAC_TOE + "\n"],
        measured=True,
    ),
}


class Server:
    """Counts requests by run, and answers the n-th of a run with the n-th answer.

    Attributes:
        same: programs by request, where a request is to be answered in every run as it was in the first.
        together: where the first requests of a run wait for each other.
    """

    def __init__(self) -> None:
        self.asked: dict[str, list[str]] = {}
        self.answers: dict[str, Sequence[str]] = {}
        self.same: dict[str, str] | None = None
        self.together: Barrier | None = None
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                run = self.path.split("/")[1]
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                answers, asked = server.answers[run], server.asked.setdefault(run, [])
                asked.append(body)
                if server.together is not None and len(asked) <= server.together.parties:
                    server.together.wait(60)
                program = answers[min(len(asked), len(answers)) - 1]
                if server.same is not None:
                    program = server.same.setdefault(body, program)
                reply = json.dumps(completion(f"```python\n{program}\n```")).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self._http.serve_forever, daemon=True).start()

    def address(self, run: str) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/{run}/v1"

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m-1",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


class Kills:
    """One combination: run once undisturbed, then killed after given events and resumed."""

    def __init__(self, name: str, runner: Any, server: Server, folder: Path, parallel: int | None = None) -> None:
        self._name, self._runner, self._server, self._folder = name, runner, server, folder
        server.same = None if parallel is None else {}
        self._options = dict(COMBINATIONS[name].options)
        if "rules" in self._options:
            folder.mkdir(parents=True, exist_ok=True)
            self._options |= {"rules": str(folder / "rules.md"), "trajectories": str(folder / "games.jsonl")}
            (folder / "rules.md").write_text(registry.rules("leduc_poker"))
            write(folder / "games.jsonl", collect(registry.make("leduc_poker"), 6, 0))
        self._parallel: int | None = None
        self._code = self._begin("whole")
        assert self._code in (0, 1)
        self._asked = Counter(server.asked[self._run("whole")])
        assert self._asked.total() == len(COMBINATIONS[name].answers)
        self._result = self._came_to("whole")
        self.events = self._count()
        self._parallel = parallel

    def after(self, number: int) -> None:
        """Kills a run after an event, resumes it and compares."""
        place = str(number)
        assert self._begin(place, events=number) == -signal.SIGKILL
        under_way = 0 if self._parallel is None else self._under_way(place)
        assert self._resumed(place) == self._code
        asked = Counter(self._server.asked[self._run(place)])
        if under_way:
            # A call that was under way beside the event is made again, and no other one; it is told as lost.
            assert (asked - self._asked).total() <= under_way
            assert asked & self._asked == self._asked
            assert without("tally", self._came_to(place)) == without("tally", self._result)
        elif COMBINATIONS[self._name].measured:
            assert sorted(asked.values()) == sorted(self._asked.values())
        else:
            assert asked == self._asked
            assert self._came_to(place) == self._result

    def beside_each_other(self) -> None:
        """Begins a run whose first requests wait for each other."""
        self._server.together = Barrier(2)
        assert self._begin("together") == self._code
        self._server.together = None
        assert Counter(self._server.asked[self._run("together")]) == self._asked
        assert self._came_to("together") == self._result

    def finished(self) -> None:
        """Resumes the run that has ended."""
        assert self._resumed("whole") == self._code
        assert Counter(self._server.asked[self._run("whole")]) == self._asked
        assert self._came_to("whole") == self._result

    def _run(self, place: str) -> str:
        return f"{self._folder.name}-{place}"

    def _begin(self, place: str, **changes: Any) -> int:
        self._server.answers[self._run(place)] = COMBINATIONS[self._name].answers
        ended = self._runner.run(
            kind="combination",
            folder=self._folder / place,
            options=self._options,
            address=self._server.address(self._run(place)),
            parallel=self._parallel,
            **changes,
        )
        assert "Traceback" not in ended.err, ended.err
        return int(ended.code)

    def _resumed(self, place: str) -> int:
        ended = self._runner.run(kind="resume", folder=self._folder / place, parallel=self._parallel)
        assert "Traceback" not in ended.err, ended.err
        return int(ended.code)

    def _runs(self, place: str) -> list[Path]:
        return sorted(path.parent for path in (self._folder / place).rglob("run.json"))

    def _under_way(self, place: str) -> int:
        total = 0
        for folder in self._runs(place):
            with RunRecord.read(folder) as record:
                total += sum(call.status == "sent" for call in record.calls.calls())
        return total

    def _count(self) -> int:
        total = 0
        for folder in self._runs("whole"):
            with RunRecord.read(folder) as record:
                total += len(list(record.events()))
        return total

    def _came_to(self, place: str) -> Any:
        """Returns what every run came to, without what a clock decided."""
        results = [json.loads(path.read_text()) for path in sorted((self._folder / place).rglob("result.json"))]
        models = [json.loads(path.read_text()) for path in sorted((self._folder / place).rglob("model.json"))]
        assert results
        return timeless([results, models])


MEASURED = ("calls_per_s", "latency_s")


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in MEASURED and "seconds" not in key}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def without(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without(name, item) for key, item in value.items() if key != name}
    return [without(name, item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["hidden information", "further games"])
def test_runs_killed_after_an_event_pay_for_nothing_twice(
    name: str, runner: Any, server: Server, tmp_path: Path
) -> None:
    kills = Kills(name, runner, server, tmp_path)
    kills.finished()
    kills.after(random.Random(name).randint(1, kills.events))


def test_syntheses_that_ask_at_the_same_time_ask_and_find_what_they_do_one_after_the_other(
    runner: Any, server: Server, tmp_path: Path
) -> None:
    kills = Kills("several", runner, server, tmp_path, parallel=2)
    kills.beside_each_other()
    kills.after(random.Random(0).randint(1, kills.events))


@pytest.mark.slow
def test_no_kill_repeats_a_request_that_was_answered_while_others_were_under_way(
    runner: Any, server: Server, tmp_path: Path
) -> None:
    kills = Kills("several", runner, server, tmp_path, parallel=2)
    for number in range(1, kills.events + 1):
        kills.after(number)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMBINATIONS)
def test_no_kill_after_any_event_repeats_a_request(name: str, runner: Any, server: Server, tmp_path: Path) -> None:
    kills = Kills(name, runner, server, tmp_path)
    kills.finished()
    places = range(1, kills.events + 1)
    if not COMBINATIONS[name].every:
        places = sorted(random.Random(name).sample(places, min(20, len(places))))  # type: ignore[assignment]
    for number in places:
        kills.after(number)
