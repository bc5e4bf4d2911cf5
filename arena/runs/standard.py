"""Settings of the demo, and what the same synthesis is by another method."""

from dataclasses import replace
from typing import Final

from arena.runs.how_told import HowTold
from arena.runs.replayed import recorded_settings
from arena.runs.settings import DEFAULT_LLM, MatchSettings, RunSettings
from cwm.functions.prior import PriorConfig
from cwm.functions.types import FunctionConfig
from cwm.synthesis.config import NEW, SynthesisConfig
from games import registry

STANDARD_FUNCTIONS: Final = 2
"""Value functions of every game, and policy priors of every game in which something is hidden: whether they help is for
a tournament to say, not for a table."""
STANDARD_SECONDS: Final = 20.0
"""Of each tournament of the demo with a live model."""


def standard_settings(game: str, llm: str | None, base_url: str | None, seed: int) -> RunSettings:
    """Returns the settings of the demo: those of the recording that is replayed, else those of a live model.

    Raises:
        UnknownGameError: no game has this id.
        GameError: a file of the user's own cannot be read, or OpenSpiel refuses the game.
        RecordingError: the recording is missing, or not as it was written.
    """
    asked = RunSettings(game=game, registered=True, llm=llm or DEFAULT_LLM, base_url=base_url, seed=seed)
    recorded = recorded_settings(asked, seed)
    if recorded is not None:
        return replace(recorded, matches=MatchSettings())
    how = HowTold.asked(game, "book", None, None)
    hidden = not registry.make(game).info.perfect_information
    settings = replace(
        asked,
        synthesis=SynthesisConfig.from_json({"seed": seed, **NEW}),
        value=FunctionConfig(num_candidates=STANDARD_FUNCTIONS, seed=seed),
        prior=PriorConfig(num_candidates=STANDARD_FUNCTIONS, seed=seed) if hidden else None,
        matches=MatchSettings(),
        rules_detail=how.detail,
        chance=how.chance,
    )
    return settings.with_budget(STANDARD_SECONDS)


def by_way(settings: RunSettings, way: str) -> RunSettings:
    """Returns the settings of the same synthesis by another method.

    Args:
        settings: of the usual one.
        way: the closed deck (`closed`), inference of the present state (`state`), or refinement by `conversation`.
    """
    if way == "closed":
        return replace(settings, deck="closed")
    if way == "state":
        return replace(settings, inference="state")
    return replace(settings, synthesis=replace(settings.synthesis, method="conversation"))
