import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

PRELUDE = """
import json, os, signal, sys, time
from collections import deque
from arena.process_pool import ProcessPool, WorkerDiedError

def work(job):
    if job.get("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(job.get("sleep", 0))
    return {"square": job["n"] ** 2, "pid": os.getpid()}

def main():
"""


def run_script(folder: Path, body: str) -> Any:
    """Runs `body` as the main module of its own process, because spawned workers import their function by name."""
    script = folder / "script.py"
    script.write_text(
        f"{PRELUDE}{textwrap.indent(textwrap.dedent(body), '    ')}\nif __name__ == '__main__':\n    main()\n"
    )
    paths = os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_job_is_answered_once_by_as_many_processes_as_asked_for(tmp_path: Path) -> None:
    found = run_script(
        tmp_path,
        """
        answers = list(ProcessPool(work, 2).run({"n": n, "sleep": 0.02} for n in range(20)))
        print(json.dumps([sorted((job["n"], answer["square"]) for job, answer in answers),
                          len({answer["pid"] for _, answer in answers})]))
        """,
    )
    assert found == [[[n, n * n] for n in range(20)], 2]


def test_death_of_a_process_is_told_for_its_job_alone(tmp_path: Path) -> None:
    found = run_script(
        tmp_path,
        """
        jobs = [{"n": n, "die": n == 3} for n in range(8)]
        answers = list(ProcessPool(work, 2).run(jobs))
        print(json.dumps([[job["n"] for job, answer in answers if isinstance(answer, WorkerDiedError)],
                          sorted(answer["square"] for _, answer in answers if not isinstance(answer, WorkerDiedError)),
                          [str(answer) for _, answer in answers if isinstance(answer, WorkerDiedError)]]))
        """,
    )
    assert found[0] == [3]
    assert found[1] == [n * n for n in range(8) if n != 3]
    assert found[2] == ["a worker process ended with exit code -9 during a game"]


def test_no_process_is_left_when_the_caller_stops_early(tmp_path: Path) -> None:
    found = run_script(
        tmp_path,
        """
        import multiprocessing
        answers = ProcessPool(work, 2).run({"n": n, "sleep": 60 if n else 0} for n in range(9))
        first = next(answers)
        answers.close()
        print(json.dumps([first[1]["square"], len(multiprocessing.active_children())]))
        """,
    )
    assert found == [0, 0]
