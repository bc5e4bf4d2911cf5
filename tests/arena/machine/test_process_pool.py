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
from arena.machine.process_pool import ProcessPool, WorkerDiedError

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


def test_no_key_of_a_language_model_reaches_a_worker_process(tmp_path: Path) -> None:
    found = run_script(
        tmp_path,
        """
        canary = {name: "sk-canary" for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")}
        os.environ.update(canary)
        pool = ProcessPool(work, 2)
        found = []
        for job, answer in pool.run({"n": n} for n in range(4)):
            for worker in pool._workers:
                with open(f"/proc/{worker.process.pid}/environ", "rb") as stream:
                    found.append(b"sk-canary" in stream.read())
        print(json.dumps([any(found), all(os.environ[name] == "sk-canary" for name in canary)]))
        """,
    )
    assert found == [False, True]


UNGUARDED = """
from arena.machine.process_pool import ProcessPool

def work(job):
    return job

print(list(ProcessPool(work, 2).run({"n": n} for n in range(100))))
"""


def test_script_without_a_main_guard_is_told_so_once_after_three_deaths(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(UNGUARDED)
    paths = os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout == ""
    assert (
        done.stderr.count("arena.machine.process_pool.WorkerStartError: 3 worker processes in a row ended before") == 1
    )
    assert "if __name__ == '__main__':" in done.stderr.splitlines()[-1]
    # Two more at most were being started at the time of the third death.
    assert 3 <= done.stderr.count("An attempt has been made to start a new process") <= 5


def test_single_death_at_start_loses_no_job(tmp_path: Path) -> None:
    found = run_script(
        tmp_path,
        """
        pool = ProcessPool(work, 1)
        answers = []
        def jobs():
            for n in range(3):
                yield {"n": n}
                if n == 1:
                    # The process of the next job dies before it can say that it runs.
                    pool._workers[0].process.kill()
                    pool._workers[0].process.join()
                    pool._workers[0].ready = False
        for job, answer in pool.run(jobs()):
            answers.append(answer["square"])
        print(json.dumps(answers))
        """,
    )
    assert found == [0, 1, 4]
