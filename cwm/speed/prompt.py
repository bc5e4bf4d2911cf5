"""The prompt for a faster program."""

from collections.abc import Sequence

from cwm.interface import templates
from cwm.speed.task import HOT, SpeedProfile, SpeedTask
from cwm.synthesis.prompts import TaskPrompts


def faster(prompts: TaskPrompts, asked: SpeedTask, profile: SpeedProfile, attempts: Sequence[str]) -> str:
    """Returns the prompt for a faster version of a program that passes every test.

    Args:
        prompts: of the program's own synthesis.
        asked: the program in place.
        profile: where the planner's time goes in it.
        attempts: one sentence on each earlier version.
    """
    return templates.render(
        "faster",
        **prompts.shared(),
        usual=asked.task.interface is None,
        source=asked.source,
        used_beside=asked.used_beside,
        values=asked.values,
        simulations=max(1, profile.simulations),
        share=profile.share,
        hot=profile.functions[:HOT],
        attempts=attempts,
        tests=prompts.shown_tests(),
    )
