"""`cwm benchmark strength`: the planner on the recorded model of yokai-9c-2p, with itself, 200 games on fixed seeds."""

from collections.abc import Iterator
from pathlib import Path

from arena import tournament
from arena.agent_specs import AgentSpec
from arena.benchmarks.measurement import Measurement
from arena.intervals import Estimate
from arena.store import GameStore
from arena.tournament import TournamentConfig

GAME = "yokai-9c-2p"
GAMES = 200
SEED = 2026
SIMULATIONS = 3000
PLANNER = {
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
    store.mkdir(parents=True, exist_ok=True)
    with GameStore(store, config.to_json()) as opened:
        result = tournament.run(config, opened, workers=workers)
    found = result.table.agents[0].self_play
    assert found is not None
    digest = (config.agents[0].model_hash or "")[:12]
    note = f"{len(result.records)} games, {SIMULATIONS} simulations, no memory help, model {digest}"
    for name, estimate in (
        ("R", found.score),
        ("return", found.returns),
        ("won", found.won),
        ("SEE", found.success_early),
        ("EE", found.early),
        ("WEE", found.won_given_early),
        ("LEN", found.length),
    ):
        if estimate is not None:
            yield Measurement(f"strength/{GAME}/{name}", estimate.mean, "", note=f"{_interval(estimate)}, {note}")
    seconds = result.table.agents[0].seconds
    if seconds is not None:
        yield Measurement(f"strength/{GAME}/move", seconds, "s", note=f"mean of a move, {note}")


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"95 % interval {estimate.low:.2f} to {estimate.high:.2f}"
