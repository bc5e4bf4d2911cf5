"""The prompts of games told by their rule books, frozen: `python -m tests.renew_prompts` writes their hashes anew.

For maintainers, after a rule book, a prompt or what makes tests has changed on purpose. Recordings answer these prompts
to the letter: those of the games that it names have to be made again.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from arena.runs import inputs as run_inputs
from arena.runs.hidden_information import HiddenInformation
from arena.runs.how_told import HowTold
from arena.runs.task import make_task
from cwm.functions import prior, value, vectors
from cwm.functions.joint.kinds import JOINT_KINDS
from cwm.functions.one_shot import FunctionKind, FunctionTask
from cwm.functions.types import FunctionCandidate, FunctionConfig, FunctionReport
from cwm.observations.samples import samples_of
from cwm.sandbox.wire.api import Outcome
from cwm.speed import prompt as speed_prompt
from cwm.speed.task import HotFunction, SpeedProfile, SpeedTask
from cwm.suite.types import UnitTestResult
from cwm.synthesis.attempts import Told
from cwm.synthesis.candidate import Candidate, SuiteReport, count_results
from cwm.synthesis.config import NEW, SynthesisConfig
from cwm.synthesis.prompts import TaskPrompts
from cwm.synthesis.task import SynthesisTask, kinds
from games import registry
from games.posg.registry import knows as is_simultaneous

FILE = Path(__file__).parent / "data" / "prompts.json"
GAMES = 2
SHORTER = {"overcooked-v2-cramped-room": "overcooked-v2-cramped-room,steps=25"}
"""Played in place of a game of 800 actions, each of which is shown with all before it: that takes minutes."""
SOURCE = "def apply_action(state, action):\n    return state\n"


def prompts(game: str) -> Iterator[tuple[str, str]]:
    """Yields name and text of every kind of prompt of a game told by its rule book, from two played games."""
    how = HowTold.asked(game, "book", None, None)
    inputs = run_inputs.registered(game, GAMES, 0, how=how)
    ways = {"": HiddenInformation()}
    if not inputs.info.perfect_information:
        ways |= {"state ": HiddenInformation(inference="state"), "closed ": HiddenInformation("closed")}
    for way, hidden in ways.items():
        told = run_inputs.registered(game, GAMES, 0, how=how, deck=hidden.deck)
        for name, text in _of_synthesis(make_task(told, hidden), how):
            yield way + name, text
    untold = HowTold.asked(game, "book", None, None, told=False)
    yield "untold", _writer(make_task(run_inputs.registered(game, GAMES, 0, False, untold)), untold).synthesis()
    about = (inputs.rules, inputs.info, SOURCE, inputs.train, inputs.telling)
    samples = tuple(samples_of(inputs.train, "open"))
    vector_task = vectors.VectorTask(inputs.rules, inputs.info, SOURCE, samples, samples, samples, inputs.telling)
    yield from _of_function(value.KIND, value.task_of(*about), None)
    yield from _of_function(prior.KIND, prior.task_of(*about), prior.PriorConfig())
    yield from _of_function(vectors.KIND, vector_task.asked, vectors.VectorConfig())
    if is_simultaneous(game):
        joint = make_task(run_inputs.registered(game, GAMES, 0, how=how, joint=True))
        for name, text in _of_synthesis(joint, how):
            yield f"joint {name}", text
        for name, text in _of_joint_functions(game, how):
            yield f"joint {name}", text


def hashes(game: str) -> dict[str, str]:
    """Returns the SHA-256 of every prompt of a game, by its name."""
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in prompts(SHORTER.get(game, game))}


def _writer(task: SynthesisTask, how: HowTold) -> TaskPrompts:
    return TaskPrompts(task, SynthesisConfig.from_json(NEW))


def _of_synthesis(task: SynthesisTask, how: HowTold) -> Iterator[tuple[str, str]]:
    writer = _writer(task, how)
    results = tuple(
        UnitTestResult(test.id, test.kind, "fail", "next_state", 1, 2, "no", "", path=".a") for test in task.tests
    )
    report = SuiteReport(Outcome.OK, (), count_results(kinds(task.tests), results), results)
    failed = Candidate(0, SOURCE, "h", None, 0, 1, report)
    rejected = replace(failed, report=SuiteReport(Outcome.OK, ("line 1: it imports os",), {}, ()))
    earlier = Told(1, ("an earlier attempt",))
    yield "synthesis", writer.synthesis()
    yield "synthesis afresh", writer.synthesis(earlier)
    yield "refinement", writer.refinement(failed)
    yield "refinement again", writer.refinement(failed, earlier)
    yield "refinement of a rejected program", writer.refinement(rejected)
    yield "follow-up", writer.follow_up(failed, 1)
    yield "no program", writer.no_program()
    if task.joint is not None:
        return
    profile = SpeedProfile(100, (HotFunction("apply_action", 5, 0.5),))
    yield "faster", speed_prompt.faster(writer, SpeedTask(task, SOURCE), profile, ("an earlier version",))


def _of_function(kind: FunctionKind, task: FunctionTask, config: FunctionConfig | None) -> Iterator[tuple[str, str]]:
    yield kind.name, kind.prompt(task)
    if config is not None:
        slow = FunctionCandidate(0, SOURCE, "h", "slow", FunctionReport(("it is wrong",), 3.0, 5))
        yield f"{kind.name} repair", kind.repair_prompt(task, slow, config)


def _of_joint_functions(game: str, how: HowTold) -> Iterator[tuple[str, str]]:
    inputs = run_inputs.registered(game, GAMES, 0, how=how, joint=True)
    told: Any = SimpleNamespace(
        rules=inputs.rules,
        info=inputs.info,
        source=SOURCE,
        telling=inputs.telling,
        recorded=inputs.train,
        joint=inputs.joint_info,
    )
    for kind in JOINT_KINDS:
        assert kind.task is not None
        yield from _of_function(kind, kind.task(told), kind.config())


def main() -> None:
    """Writes the file and says which prompts of which games changed."""
    known = json.loads(FILE.read_text(encoding="ascii")) if FILE.exists() else {}
    found = {game: hashes(game) for game in registry.ids()}
    for game, now in found.items():
        changed = sorted(dict(known.get(game, {}).items() ^ now.items()))
        sys.stdout.write(f"{game}: {', '.join(changed)}\n" if changed else "")
    FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
