"""`cwm benchmark strength`: the planner on the recorded model of yokai-9c-2p, with itself, 200 games on fixed seeds.
`cwm benchmark ceiling`: what players get there who see all cards."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from arena.agents.specs import AgentSpec
from arena.benchmarks.measurement import Measurement
from arena.figures.intervals import Estimate, mean_estimate
from arena.figures.metrics import SHOWN
from arena.matches import tournament
from arena.matches.plan import TournamentConfig
from arena.matches.tournament import TournamentResult
from arena.papers.yokai.published import figures as paper_figures
from arena.papers.yokai.published.results import SHOWN_SOURCE
from cwm.storage.keys import derive
from games.api import DEFAULT_VIEW
from games.yokai.ceiling import deal, fewest_moves, score
from games.yokai.config import config as yokai_config
from games.yokai.grid import grid

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


def ceiling(deals: int, seed: int = 0) -> Iterator[Measurement]:
    """Yields the mean of R over random deals of players who see all cards, and how many moves the deals take.

    Args:
        deals: how many.
        seed: of the deals.
    """
    configuration = yokai_config(9, 2)
    board = grid(configuration.grid)
    found = [fewest_moves(board, deal(configuration, derive("ceiling", seed, number))) for number in range(deals)]
    mean = mean_estimate([float(score(configuration, moves)) for moves in found])
    if mean is None:
        return
    error = "" if mean.standard_error is None else f" ± {mean.standard_error:.2f}"
    note = f"R {mean.mean:.2f}{error} over {deals} deals, seed {seed}; exhaustive"
    yield Measurement(f"ceiling/{GAME}", mean.mean, "", note=note)
    for moves in sorted(set(found)):
        share = fmean(each == moves for each in found)
        worth = f"fewest moves {moves}: R {score(configuration, moves)}"
        yield Measurement(f"ceiling/{GAME}/{moves}-moves", share, "of the deals", note=worth)
