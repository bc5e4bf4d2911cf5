"""Policy priors: how a sensible player would choose, as code, asked for and chosen as `cwm.one_shot` does.

Two baselines take part in the tournament: the planner as it is without any prior, and one with the uniform prior.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from cwm import api_text, templates
from cwm.function_types import FunctionCandidate, FunctionChosen, FunctionReport, FunctionResult, FunctionTested
from cwm.llm.api import LanguageModel
from cwm.one_shot import FunctionChecker, FunctionKind, FunctionTournament, OneShot, Prompts
from cwm.prior_task import PriorConfig, PriorConfigError, PriorTask
from cwm.program_api import POLICY_FUNCTION
from cwm.record import RunRecord
from cwm.sandbox.static_check import ALLOWED_MODULES
from cwm.synthesis_events import OnEvent, ignore

__all__ = [
    "UNIFORM",
    "PriorCandidate",
    "PriorChosen",
    "PriorConfig",
    "PriorConfigError",
    "PriorReport",
    "PriorResult",
    "PriorTask",
    "PriorTested",
    "prompt",
    "repair_prompt",
    "synthesize_priors",
]

UNIFORM: Final = "uniform"
"""The baseline with a uniform prior."""

PriorReport: TypeAlias = FunctionReport
PriorCandidate: TypeAlias = FunctionCandidate
PriorResult: TypeAlias = FunctionResult


@dataclass(frozen=True)
class PriorTested(FunctionTested):
    """A policy prior was checked."""

    kind = "prior_tested"


@dataclass(frozen=True)
class PriorChosen(FunctionChosen):
    """The tournament is over; `chosen` is `uniform`, or None if the planner without prior stays."""

    kind = "prior_chosen"


KIND = FunctionKind("prior", POLICY_FUNCTION, "policy priors", PriorTested, PriorChosen, (None, UNIFORM))


def prompt(task: PriorTask) -> str:
    """Returns the prompt for one policy prior."""
    return templates.render("policy", **_shared(task))


def repair_prompt(task: PriorTask, candidate: PriorCandidate, config: PriorConfig) -> str:
    """Returns the prompt that shows a policy prior and what its checks say of it."""
    problems = list(candidate.report.problems)
    if candidate.status == "slow":
        problems.append(
            f"It is too slow: it answers {candidate.report.calls_per_s:,.0f} calls a second, "
            f"at least {config.min_calls_per_s:,.0f} are needed."
        )
    return templates.render("policy_repair", **_shared(task), candidate=candidate.source, problems=problems)


def _shared(task: PriorTask) -> dict[str, Any]:
    return {
        "rules": task.rules,
        "player_names": task.info.player_names,
        "source": task.source,
        "interface": api_text.render((POLICY_FUNCTION,)),
        "min_utility": task.info.min_utility,
        "max_utility": task.info.max_utility,
        "utility": task.info.utility,
        "perfect_information": task.info.perfect_information,
        "allowed_modules": sorted(ALLOWED_MODULES),
        "examples": task.examples_text,
    }


def synthesize_priors(
    task: PriorTask,
    config: PriorConfig,
    model: LanguageModel,
    checker: FunctionChecker,
    tournament: FunctionTournament,
    context: Mapping[str, Any],
    record: RunRecord | None = None,
    on_event: OnEvent = ignore,
) -> PriorResult:
    """Asks for policy priors and chooses one, the uniform one, or none.

    Args:
        task: rules, model, examples.
        config: settings.
        model: as the caller composed it.
        checker: checks candidates, see `cwm.prior_checking.ProcessPriorChecker`.
        tournament: plays "none", "uniform" and the candidates against each other.
        context: what else decides the scores, e.g. the value function: part of the key under which they are stored.
        record: where programs, scores and events are kept.
        on_event: told of everything that happens.

    Raises:
        LanguageModelError: a call failed for good (other than by a budget's cap).
        TesterError: candidates could not be checked through no fault of theirs.
        RunRecordError: the record cannot be written.
    """
    prompts = Prompts(prompt(task), lambda candidate: repair_prompt(task, candidate, config), config.repairs)
    kind = replace(KIND, context={"kind": KIND.name, **context})
    return OneShot(kind, prompts, task.source, config, model, checker, tournament, record, on_event).run()
