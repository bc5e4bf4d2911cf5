"""A process that forks one child for each command on its standard input, so that children start in milliseconds.

A child does real work on a real folder, and may be told to fail at one statement of its database: to die of SIGKILL
before or after it, or to find the disk full. It is run as a script, with the repository on its path.
"""

import contextlib
import functools
import itertools
import json
import os
import random
import resource
import signal
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.agents.specs import parse
from arena.commands import evaluate as evaluate_command
from arena.commands import finishing, synthesize
from arena.commands import resume as resume_command
from arena.commands import tournament as tournament_command
from arena.commands.exit_codes import exit_code, sentence
from arena.evaluation.evaluation_run import EvaluationWishes
from arena.matches.plan import TournamentConfig
from arena.pipeline import function_choice
from arena.runs import inputs as run_inputs
from arena.runs import language_model
from arena.runs.folder import open_record
from arena.runs.settings import MatchSettings, RunSettings
from cwm.llm.api import Completion, LanguageModel, Request, Usage
from cwm.llm.caps import Caps
from cwm.llm.providers import openai  # noqa: F401  loaded before the forks
from cwm.llm.requests import request_key
from cwm.llm.retry import Retrying, TransientError
from cwm.quality.similarity import longest_shared_run, source_files
from cwm.record.record import RunRecord
from cwm.sandbox.wire.api import Outcome
from cwm.suite import contract, execution
from cwm.synthesis.config import SynthesisConfig
from games import registry

ROOT = Path(__file__).resolve().parents[2]


class Fault:
    """What befalls the child at one of its statements.

    Attributes:
        at: number of the statement, from 1.
        how: `before` and `after`: SIGKILL; `full`: the disk is full from there on.
    """

    def __init__(self, at: int, how: str) -> None:
        self.at = at
        self.how = how
        self.statements = 0

    def run(self, statement: Callable[[], Any]) -> Any:
        self.statements += 1
        if self.how == "full" and self.statements >= self.at:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorname = "SQLITE_FULL"
            raise error
        if self.how == "before" and self.statements == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        result = statement()
        if self.how == "after" and self.statements == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return result


class FaultyConnection(sqlite3.Connection):
    fault: Fault

    def execute(self, *arguments: Any) -> Any:
        return self.fault.run(functools.partial(super().execute, *arguments))

    def executescript(self, *arguments: Any) -> Any:
        return self.fault.run(functools.partial(super().executescript, *arguments))


class Provider:
    """Answers each question with the next of the given programs, the same question always with the same one.

    Every call is a line in a file that outlives the process: what is in it twice was asked twice.
    """

    name = "openai:m"

    def __init__(self, log: Path, programs: list[str]) -> None:
        self._log = log
        self._programs = programs

    def complete(self, request: Request) -> Completion:
        call = f"{request_key(request)} {request.occurrence}"
        known = list(dict.fromkeys(self._log.read_text().splitlines())) if self._log.exists() else []
        number = known.index(call) if call in known else len(known)
        with self._log.open("a") as stream:
            stream.write(call + "\n")
        program = self._programs[min(number, len(self._programs) - 1)]
        return Completion(f"```python\n{program}\n```", "ok", "m-1", Usage(10, 5))


class Weather:
    """A provider's bad days: refusals, failures and long answers, on a clock that only counts.

    The clock is a file with one line of seconds for each wait and each answer; it outlives the process.
    """

    name = Provider.name

    def __init__(self, provider: Provider, clock: Path, seed: int) -> None:
        self._provider = provider
        self._clock = clock
        self._seed = seed

    def complete(self, request: Request) -> Completion:
        attempt = len(self._clock.read_text().splitlines()) if self._clock.exists() else 0
        rng = random.Random(f"{self._seed} {attempt}")
        draw = rng.random()
        for share, error in (
            (0.10, TransientError("too many", "rate_limit", retry_after_s=30.0)),
            (0.20, TransientError("broken", "server")),
            (0.26, TransientError("slow", "timeout", maybe_billed=True)),
            (0.31, TransientError("cut", "connection", maybe_billed=True)),
            (0.35, TransientError("no JSON", "bad_answer", maybe_billed=True)),
        ):
            if draw < share:
                self.pass_by(600.0 if error.kind == "timeout" else 1.0, error.kind)
                raise error
        self.pass_by(rng.uniform(30.0, 120.0), "answer")
        return self._provider.complete(request)

    def pass_by(self, seconds: float, what: str = "wait") -> None:
        with self._clock.open("a") as stream:
            stream.write(f"{seconds:.3f} {what}\n")


def kill_helpers(pid: int, log: Path, seed: int) -> None:
    """Kills one of our own helper processes now and then: a game's worker, or the one that forks sandbox workers."""
    rng = random.Random(seed)
    while True:
        time.sleep(rng.uniform(0.05, 0.25))
        victims = [
            child for child in children(pid) if "spawn_main" in (line := command_line(child)) or "nursery" in line
        ]
        if victims:
            victim = rng.choice(victims)
            kind = "nursery" if "nursery" in command_line(victim) else "game worker"
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
                with log.open("a") as stream:
                    stream.write(f"{kind}\n")


def children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(word) for word in (task / "children").read_text().split()]
    return sorted(found)


def command_line(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    return ""


def play(command: dict[str, Any]) -> None:
    agents = tuple(parse(agent) for agent in command["agents"])
    config = TournamentConfig(command["game"], agents, command["deals"], command.get("seed", 0), "cross")
    tournament_command.play(config, Path(command["folder"]), command.get("workers", 1), True)


def write(command: dict[str, Any]) -> None:
    folder = Path(command["folder"])
    provider = Provider(folder.with_suffix(".calls"), command["programs"])
    model: LanguageModel = provider
    if "weather" in command:
        weather = Weather(provider, folder.with_suffix(".clock"), command["weather"])
        model = Retrying(weather, sleep=weather.pass_by)
    if "helpers_die" in command:
        arguments = (os.getpid(), folder.with_suffix(".deaths"), command["helpers_die"])
        threading.Thread(target=kill_helpers, args=arguments, daemon=True).start()
    language_model.factory.make = lambda *_, **__: model  # type: ignore[assignment]
    settings = RunSettings(
        game="tic_tac_toe",
        registered=True,
        llm=provider.name,
        base_url="http://localhost:9/v1",
        train_games=2,
        test_transitions=40,
        planner_games=1,
        synthesis=SynthesisConfig(seed=command.get("seed", 0), num_retries=len(command["programs"])),
        matches=MatchSettings(deals=command.get("match_deals", 1), simulations=5, rollouts=1),
    )
    inputs = run_inputs.registered("tic_tac_toe", 2, 0)
    with open_record(folder, settings, inputs, Caps()) as record:
        finishing.finish(record, settings, inputs, Caps(), command.get("workers", 1), None, True)


def evaluate(command: dict[str, Any]) -> None:
    """Evaluates in batches of a few tests; every batch that is run, and every check of the contract, is a line."""
    folder = Path(command["folder"])
    log = folder.with_suffix(".work")
    execution.CHUNK = 25
    run, verify = execution.SuiteRunner.run, contract.verify

    def run_and_tell(runner: Any, tests: Any) -> Any:
        results = run(runner, tests)
        note(log, tests[0].id)
        if tests[0].id == command.get("breaks"):
            return [replace(result, status="error", outcome=Outcome.INFRA_ERROR) for result in results]
        return results

    def verify_and_tell(*arguments: Any) -> Any:
        found = verify(*arguments)
        note(log, "contract")
        return found

    execution.SuiteRunner.run = run_and_tell  # type: ignore[method-assign]
    contract.verify = verify_and_tell
    asked = EvaluationWishes(command["model"], None, command.get("transitions", 60), command.get("seed", 1), 1)
    evaluate_command.evaluate(asked, folder, command.get("workers", 1), True)


def combination(command: dict[str, Any]) -> None:
    """Begins one of the combinations of `event_kills.py` through the command line, asked at a real address."""
    os.environ["OPENAI_API_KEY"] = "a-key"
    synthesize.command(
        **{
            "run": Path(command["folder"]),
            "llm": "openai:m",
            "base_url": command["address"],
            "workers": 1,
            "as_json": True,
            "parallel": command.get("parallel"),
            **{name: Path(value) if name in PATHS else value for name, value in command["options"].items()},
        }
    )


def resume(command: dict[str, Any]) -> None:
    execution.CHUNK = 25
    os.environ["OPENAI_API_KEY"] = "a-key"
    resume_command.command(Path(command["folder"]), workers=1, as_json=True, parallel=command.get("parallel"))


def note(log: Path, line: str) -> None:
    with log.open("a") as stream:
        stream.write(f"{line}\n")


PATHS = ("rules", "trajectories")
WORK: dict[str, Callable[[dict[str, Any]], None]] = {
    "tournament": play,
    "synthesis": write,
    "evaluation": evaluate,
    "resume": resume,
    "combination": combination,
}


def die_after(events: int) -> None:
    """Has the process killed as soon as it has stored so many events."""
    add_event, counted = RunRecord.add_event, itertools.count(1)

    def add_and_die(*arguments: Any) -> None:
        add_event(*arguments)
        if next(counted) == events:
            os.kill(os.getpid(), signal.SIGKILL)

    RunRecord.add_event = add_and_die  # type: ignore[method-assign]


def child(command: dict[str, Any]) -> int:
    fault = Fault(*command["fault"]) if command.get("fault") else Fault(0, "")
    FaultyConnection.fault = fault
    sqlite3.connect = functools.partial(sqlite3.connect, factory=FaultyConnection)  # type: ignore[assignment]
    if "events" in command:
        die_after(command["events"])
    if "largest_file" in command:
        resource.setrlimit(resource.RLIMIT_FSIZE, (command["largest_file"], resource.RLIM_INFINITY))
    try:
        WORK[command["kind"]](command)
        code = 0
    except BaseException as error:
        known = exit_code(error)
        code = known if known is not None else int(getattr(error, "exit_code", 99))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        sys.stderr.write(f"{_told(error, known)}\n")
    sys.stderr.write(f"statements {fault.statements}\n")
    return code


def _told(error: BaseException, known: int | None) -> str:
    if known is not None:
        return sentence(error)
    return "" if hasattr(error, "exit_code") else traceback.format_exc()


def main() -> None:
    # Loaded before the forks, so that no child pays for it.
    for game in ("leduc_poker", "tic_tac_toe"):
        registry.make(game)
    # Who wins is decided by the seed here too; how well planners play is not what dies.
    function_choice.TOURNAMENT_SIMULATIONS = 5
    # Reports compare programs with our source, which is then tokenised once for all children.
    longest_shared_run("", source_files([ROOT / name for name in ("arena", "cwm", "games", "search")]))
    for line in sys.stdin:
        command = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os.setsid()
            for number, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(f"{command['say']}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            code = child(command)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        tell({"pid": pid})
        _, status = os.waitpid(pid, 0)
        tell({"code": os.waitstatus_to_exitcode(status)})


def tell(answer: dict[str, int]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
