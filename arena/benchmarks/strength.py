"""`cwm benchmark strength`: the planner on the recorded model of yokai-9c-2p, with itself, 200 games on fixed seeds."""

from collections.abc import Iterator
from pathlib import Path

from arena.agents.specs import AgentSpec
from arena.benchmarks.measurement import Measurement
from arena.figures.intervals import Estimate
from arena.figures.metrics import SHOWN
from arena.matches import tournament
from arena.matches.plan import TournamentConfig
from arena.matches.tournament import TournamentResult
from arena.papers.yokai.published import figures as paper_figures
from arena.papers.yokai.published.results import SHOWN_SOURCE
from games.api import DEFAULT_VIEW

GAME = "yokai-9c-2p"
GAMES = 200
SEED = 2026
SIMULATIONS = 3000
FIRST = ("R", "return", "won")
"""The figures that are told first."""
PLANNER = {
    # The plain search, whatever was found best for the model: `cwm xp` measures that.
    "selection": "ucb",
    "simulations": SIMULATIONS,
    "leaf": "value",
    "widening_coefficient": 3.0,
    "exploration": 0.3,
    "belief_size": 500,
}


def run(model: Path, store: Path, workers: int, games: int = GAMES) -> Iterator[Measurement]:
    """Plays the games that are missing and yields the cooperative figures with their 95 % intervals.

    Args:
        model: folder of the model.
        store: folder that keeps the games, so that the benchmark goes on after a kill.
        workers: processes.
        games: deals; both seats are the same agent, so that a deal is one game.
    """
    agent = AgentSpec("cwm", "cwm", planner=dict(PLANNER), model=str(model))
    config = tournament.prepare(TournamentConfig(GAME, (agent,), games, SEED, "self"))
    yield from figures(config, tournament.open_and_run(store, config, workers=workers))


def figures(config: TournamentConfig, result: TournamentResult) -> Iterator[Measurement]:
    """Yields the cooperative figures of finished games.

    Args:
        config: with its one agent resolved.
        result: the games.
    """
    found = result.table.agents[0].self_play
    assert found is not None
    note = _settings(config, len(result.records))
    for metric in sorted(SHOWN, key=lambda metric: FIRST.index(metric.name) if metric.name in FIRST else len(FIRST)):
        name, estimate = metric.name, getattr(found, metric.key)
        value = None if estimate is None else estimate.mean
        yield Measurement(f"strength/{GAME}/{name}", value, "", note=f"{_interval(estimate)}, {note}")
    seconds = result.table.agents[0].seconds
    if seconds is not None:
        yield Measurement(f"strength/{GAME}/move", seconds, "s", note=f"mean of a move, {note}")


def published() -> list[Measurement]:
    """Returns the paper's figures of its agents and of people, as records beside ours."""
    found = []
    for row in paper_figures.rows(GAME):
        agent = f"{row.agent}, {'with' if row.memory else 'no'} memory help"
        for name, figure in (
            ("R with itself", row.self_play),
            ("R with others", row.cross_play),
            ("SEE", row.cross_success_early),
            ("EE", row.cross_early),
            ("WEE", row.cross_won_given_early),
            ("LEN", row.cross_length),
        ):
            value = figure[0] if isinstance(figure, tuple) else figure
            error = f"standard error {figure[1]}, " if isinstance(figure, tuple) else ""
            missing = "not published, " if figure is None else ""
            note = f"{error}{missing}{SHOWN_SOURCE}"
            found.append(Measurement(f"strength/{GAME}/published/{agent}/{name}", value, "", note=note))
    return found


def _settings(config: TournamentConfig, games: int) -> str:
    """Returns all that the figures depend on: games, seed, view, planner, sandbox, model."""
    (agent,) = config.agents
    planner = ", ".join(f"{name} {value}" for name, value in agent.planner.items())
    view = "no memory help" if agent.view == DEFAULT_VIEW else f"view {agent.view}"
    digest = (agent.model_hash or "")[:12]
    runtime = f"{config.runtime.move_timeout_s:g} s and {config.runtime.memory_mb} MiB at level {config.runtime.level}"
    return f"{games} games, seed {config.seed}, {view}, {planner}, {runtime}, model {digest}"


def _interval(estimate: Estimate | None) -> str:
    if estimate is None:
        return "nobody ended early"
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"95 % interval {estimate.low:.2f} to {estimate.high:.2f}"
