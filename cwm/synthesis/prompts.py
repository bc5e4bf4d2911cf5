"""Prompts for one synthesis task: templates filled in with rules, interface, tests and failures."""

from dataclasses import replace
from typing import Any

from cwm.interface import templates, text
from cwm.sandbox.parent.static_check import ALLOWED_MODULES
from cwm.suite import failure_groups
from cwm.suite.contract import as_tests
from cwm.suite.rendering import render
from cwm.suite.selection import PromptOptions, select_for_prompt
from cwm.synthesis.attempts import NOTHING, Told
from cwm.synthesis.candidate import Candidate, KindCounts, SuiteReport
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.task import SynthesisTask

FAILED_CHARACTERS = 60_000
"""Room for failed tests in one prompt; the first is shown whatever its length."""


class TaskPrompts:
    """Writes every prompt of a synthesis; the same state gives the same text.

    Args:
        task: what programs are written for.
        config: how many programs and which tests a prompt holds.
    """

    def __init__(self, task: SynthesisTask, config: SynthesisConfig) -> None:
        self._task = task
        self._config = config
        self._options = PromptOptions(
            mode=config.prompt_tests,
            on_init=config.num_tests_on_init,
            on_error=config.num_tests_on_error,
            seed=config.seed,
        )

    def synthesis(self, approaches: Told = NOTHING) -> str:
        """Returns the first prompt, which tells of earlier approaches."""
        told = self.shared() | {"tests": self.shown_tests(), "approaches": approaches.lines}
        return templates.render(self._template("synthesis"), **told)

    def refinement(self, candidate: Candidate, attempts: Told = NOTHING) -> str:
        """Returns a fresh prompt with the program, its failures and, for each shown, what was expected and got."""
        told = self._verdict(candidate.report, attempts.number) | {"attempts": attempts.lines}
        return templates.render(self._template("refinement"), **self.shared(), **told, source=candidate.source)

    def follow_up(self, candidate: Candidate, num_given: int, turn: int = 0) -> str:
        """Returns the next message of a conversation; see `PromptWriter`."""
        verdict = self._verdict(candidate.report, turn)
        numbers: dict[str, Any] = {
            "num_given": num_given,
            "number": candidate.version,
            "num_programs": self._num_programs,
        }
        # There is one of joint steps, and one for all others.
        name = "follow_up" if self._task.joint is None else "joint_follow_up"
        return templates.render(name, **self._task.telling.templates, **verdict, **numbers)

    def no_program(self) -> str:
        """Returns the next message of a conversation whose last answer held no program."""
        told: dict[str, Any] = {"functions": self._task.functions, "num_programs": self._num_programs}
        return templates.render("no_program", **self._task.telling.templates, **told)

    def shown_tests(self) -> str:
        """Returns the tests that a prompt shows where no program has failed any."""
        initial = self._task.initial_state
        return render(select_for_prompt(self._task.tests, None, self._options, initial), (), initial)

    def shared(self) -> dict[str, Any]:
        """Returns what the templates of all prompts for a program are filled in with."""
        return {
            "rules": self._task.rules,
            **self._task.telling.words(),
            "player_names": self._task.info.player_names,
            "interface": text.render(self._task.functions, self._task.interface),
            "functions": self._task.functions,
            "deck": self._task.deck,
            "sampler": self._task.sampler,
            "initial_state": repr(self._task.initial_state),
            "allowed_modules": sorted(ALLOWED_MODULES),
            "example_history": self._example(),
            "num_programs": self._num_programs,
        } | self._joint()

    def _joint(self) -> dict[str, Any]:
        """Returns what the prompts for a program with a joint step say of the agents."""
        joint = self._task.joint
        if joint is None:
            return {}
        agents = [{"name": name, "actions": joint.actions[number]} for number, name in enumerate(joint.agent_names)]
        return {"agents": agents, "step_limit": joint.step_limit}

    @property
    def _num_programs(self) -> int:
        return self._config.programs_per_answer

    def _template(self, name: str) -> str:
        return f"{self._task.family}{name}"

    def _example(self) -> dict[str, Any] | None:
        example = self._task.example_history()
        if example is None:
            return None
        info = self._task.info
        return {
            "player": example.player,
            "history": repr(list(example.history)),
            "answer": repr(list(example.answer)),
            "state": repr(example.state),
            "random": info.has_chance or not info.perfect_information,
        }

    def _verdict(self, report: SuiteReport, turn: int = 0) -> dict[str, Any]:
        if report.problems:
            return {"rejection": report.problems, "summary": "", "groups": [], "tests": "", "rotated": False}
        suite = [*self._task.tests, *as_tests(report.results)]
        tests = select_for_prompt(suite, report.results, replace(self._options, turn=turn))
        return {
            "rejection": (),
            "rotated": turn > 0,
            "summary": summary(report, self._config.test_seconds, self._task.sampler),
            "groups": failure_groups.listing(failure_groups.grouped(suite, report.results)),
            "tests": render(tests, report.results, self._task.initial_state, FAILED_CHARACTERS),
        }


def summary(report: SuiteReport, test_seconds: float, sampler: str | None = None) -> str:
    """Returns one line for each kind of test on how many passed and what became of the others.

    Args:
        report: of a program.
        test_seconds: allowed for one test.
        sampler: name of the inference function, which the tests of inference are called after.
    """
    counts = [(kind, count) for kind, count in sorted(report.counts.items()) if count.total]
    return "\n".join(_summary_line(_title(kind, sampler), count, test_seconds) for kind, count in counts)


def _title(kind: str, sampler: str | None) -> str:
    return f"`{sampler}`" if kind == "inference" and sampler is not None else kind.replace("_", " ")


def _summary_line(title: str, count: KindCounts, test_seconds: float) -> str:
    parts = [
        (count.failed, "gave a wrong answer"),
        (count.errors, "raised an exception"),
        (count.timeouts, f"took longer than {test_seconds:g} seconds"),
        (count.not_run, "were not run"),
    ]
    rest = ", ".join(f"{number} {what}" for number, what in parts if number)
    return f"- {title}: {count.passed} of {count.total} tests passed" + (f"; {rest}" if rest else "")
