"""Agents that are trained on a synthesis's model, and their matches (the CWM paper, appendix D).

Whoever trains one plays it in tournaments whose games stand in `learned/` of the synthesis's folder, with the agents
named as in `arena.papers.cwm.tables.matches` and itself as `AGENT`; the tables then show them without further ado.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from arena.agents.specs import AgentSpec
from arena.checkpoints.places import read_about
from arena.machine import accelerated, shipped
from arena.matches import tournament
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.papers.cwm.tables import matches
from arena.papers.cwm.tables.matches import Deals
from arena.papers.cwm.tables.places import LEARNED, PUPILS, Place
from arena.papers.cwm.tables.settings import PaperWishes, Scale
from arena.pipeline import twin as twins
from arena.runs.folder import MODEL
from arena.training_on_models.settings import PAPER_STEPS, PpoSettings
from cwm.model.bundle import ModelBundle
from cwm.model.environment import training_limits
from cwm.sandbox.parent.host import Sandbox
from cwm.twins.stored import StoredTwin
from games import registry
from search.learn.errors import CheckpointError

AGENT: Final = "learned"
"""Name of the trained agent in its games."""


def games(place: Place) -> list[GameRecord]:
    """Returns the finished games of an agent trained on a synthesis's model, [] if none was trained."""
    return matches.stored(place, LEARNED)


def train(
    place: Place, asked: PaperWishes, on_stage: Callable[[str], None], on_progress: Callable[[str, int, int], None]
) -> None:
    """Trains agents for all seats on a synthesis's model, on its twin where it has one, as far as they are not trained.

    Raises:
        GameError: what learning needs is not installed.
        UsageError: other agents are trained there.
        WorldModelError: the model cannot be learned on.
        SandboxUnavailableError: no worker can be started.
        TwinProblemError: the twin cannot be compared, or learned on, here.
    """
    bundle = ModelBundle.load(place.folder)
    settings = PpoSettings(steps=asked.learned or PAPER_STEPS, seeds=asked.learned_seeds)
    sandbox = Sandbox(training_limits(), shipped.level_of([bundle.hash]))
    seats = range(bundle.game_info.num_players)

    def told(progress: Any) -> None:
        on_progress(f"seat {progress.seat}, seed {progress.seed}: steps", progress.steps, progress.total)

    course = accelerated.load("arena.training_on_models.course")
    folder = place.part(PUPILS)
    begun = course.begun_with(folder)
    if (begun is not None and "twin" not in begun) or not twins.add_recorded(place.folder, on_stage):
        course.train(bundle, seats, settings, folder, sandbox, on_stage, told)
        return
    teachers = accelerated.load("arena.training_on_twins.teacher")
    twin = StoredTwin.load(place.folder / MODEL)
    with teachers.TwinTeacher(bundle, twin, settings, folder, "random", told) as teacher:
        course.train_with(teacher, bundle, seats, settings, folder, on_stage)


def config(place: Place, scale: Scale, asked: PaperWishes, deals: Deals, *, llm: bool = False) -> TournamentConfig:
    """Returns the matches of the agent that is trained on a synthesis's model, prepared.

    Args:
        place: the synthesis.
        scale: simulations and rollouts of the planners.
        asked: the language model.
        deals: how many, and which.
        llm: the language model as the opponent, instead of random and both planners.
    """
    usual = matches.config(place, scale, asked, deals, llm=llm)
    pupil = AgentSpec("learned", AGENT, model=str(place.part(PUPILS)), greedy=True)
    others = usual.agents[1:] if llm else usual.agents
    lineups = tuple((0, other) for other in range(1, len(others) + 1))
    return tournament.prepare(replace(usual, agents=(pupil, *others), lineups=lineups))


def words(place: Place) -> str | None:
    """Returns how the agents of a synthesis's model were trained, None if they were not."""
    try:
        seats = range(registry.make(place.game).info.num_players)
        told = [read_about(place.part(PUPILS), seat) for seat in seats]
    except CheckpointError:
        return None
    steps = " and ".join(f"{count:,}" for count in sorted({int(about["steps"]) for about in told}))
    seeds = max(len(about.get("all_results", {})) for about in told) or 1
    of_all = f"the best of {seeds} a seat" if seeds > 1 else "one a seat"
    return f"trained for {steps} decisions each, {of_all}, on the model of the synthesis with the seed {place.seed}"
