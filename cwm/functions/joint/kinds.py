"""The kinds of functions that can be synthesised beside a program with a joint step: one row each."""

from dataclasses import dataclass, replace
from typing import Final

from cwm.functions import kinds, prior, value
from cwm.functions.joint import asking
from cwm.functions.joint.asking import JointConfig, with_settings
from cwm.functions.joint.check import JointChecker
from cwm.functions.joint.task import joint_of, moments, payments, samples, task_of
from cwm.functions.materials import Materials
from cwm.functions.one_shot import FunctionKind
from cwm.functions.prior import PriorConfig
from cwm.functions.types import (
    FunctionChosen,
    FunctionConfigError,
    FunctionResult,
    FunctionTested,
)
from cwm.interface import beside_joint
from games.api import Json

TOO_SLOW: Final = "It is too slow: it answers {measured:,.0f} calls a second, at least {needed:,.0f} are needed."


@dataclass(frozen=True)
class InferenceConfig(JointConfig):
    """Settings of asking for inference.

    Attributes:
        points: moments of agents at which samples are drawn.
        draws: how many at each.
    """

    min_calls_per_s: float = 30.0
    points: int = 100
    draws: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.points < 1 or self.draws < 1:
            raise FunctionConfigError(
                f"points and draws must be at least 1; given points={self.points}, draws={self.draws}"
            )


@dataclass(frozen=True)
class InferenceTested(FunctionTested):
    """An inference was checked."""

    kind = "resample_tested"


@dataclass(frozen=True)
class InferenceChosen(FunctionChosen):
    """The tournament is over; `chosen` is None if beliefs are carried on without."""

    kind = "resample_chosen"


def _ask_values(given: Materials, config: JointConfig) -> FunctionResult:
    joint_of(given)
    argument: dict[str, Json] = {"games": config.games, "bounds": given.telling.bounds_known}
    checker = JointChecker(given, "value_source", "value", "repeat_value", argument)
    return asking.ask(
        given,
        VALUE,
        config,
        config.repairs,
        task_of(given, payments(given)),
        checker,
        lambda without, item: with_settings(without, asking.BY_VALUE, value=item.source),
    )


def _ask_priors(given: Materials, config: PriorConfig) -> FunctionResult:
    checker = JointChecker(given, "prior_source", "policy", "repeat_policy", {"games": config.games})
    return asking.ask(
        given,
        PRIOR,
        config,
        config.repairs,
        task_of(given, moments(given)),
        checker,
        lambda without, item: with_settings(without, asking.BY_PRIOR, prior=item.source),
    )


def _ask_inference(given: Materials, config: InferenceConfig) -> FunctionResult:
    argument: dict[str, Json] = {"games": config.games, "points": config.points, "draws": config.draws}
    checker = JointChecker(given, "inference_source", "inference", "", argument)
    return asking.ask(
        given,
        INFERENCE,
        config,
        config.repairs,
        task_of(given, samples(given)),
        checker,
        lambda without, item: with_settings(without, asking.BY_INFERENCE, inference=item.source),
    )


def _about_prior(result: FunctionResult) -> dict[str, Json]:
    if result.none_score is None:
        return {}
    settings = dict(asking.BY_PRIOR if result.best is not None else asking.PLAIN)
    return {"priors": asking.about(result), "plays_with": settings}


def _about_inference(result: FunctionResult) -> dict[str, Json]:
    if result.none_score is None:
        return {}
    settings = {"plays_with": dict(asking.BY_INFERENCE)} if result.best is not None else {}
    return {"resamples": asking.about(result), **settings}


VALUE: Final = replace(
    value.KIND,
    template="joint_value",
    config=JointConfig,
    ask=_ask_values,
    too_slow=TOO_SLOW,
    interface=beside_joint,
    task=lambda given: task_of(given, payments(given)),
)
PRIOR: Final = replace(
    prior.KIND,
    template="joint_policy",
    ask=_ask_priors,
    too_slow=TOO_SLOW,
    baselines=(None,),
    interface=beside_joint,
    metadata=_about_prior,
    task=lambda given: task_of(given, moments(given)),
)
INFERENCE: Final = FunctionKind(
    "resample",
    beside_joint.INFERENCE_FUNCTION,
    "inference function",
    "inference functions",
    "resamples",
    InferenceConfig,
    InferenceTested,
    InferenceChosen,
    "joint_inference",
    _ask_inference,
    too_slow=TOO_SLOW,
    otherwise="beliefs are carried on without",
    unused="beliefs are carried on without",
    interface=beside_joint,
    metadata=_about_inference,
    task=lambda given: task_of(given, samples(given)),
)
JOINT_KINDS: Final[tuple[FunctionKind, ...]] = (VALUE, PRIOR, INFERENCE)
"""One row each, in the order in which they are chosen."""


def kinds_for(joint: bool) -> tuple[FunctionKind, ...]:
    """Returns the kinds of functions beside a program with a joint step, or beside one whose players take turns."""
    return JOINT_KINDS if joint else kinds.KINDS


def every_kind() -> tuple[FunctionKind, ...]:
    """Returns all kinds, one of each name: where a program is of one sort or the other, and only names matter."""
    return (*kinds.KINDS, *(kind for kind in JOINT_KINDS if kind.name not in {one.name for one in kinds.KINDS}))


def kind_of(event: FunctionTested | FunctionChosen) -> FunctionKind:
    """Returns the kind of function that an event tells of."""
    return next(kind for kind in every_kind() if isinstance(event, kind.tested | kind.chosen))
