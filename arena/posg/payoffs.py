"""Payoff tables: what each policy of a population gets beside each, over many games. Kept pair by pair, resumable."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

from arena.checkpoints import for_planners
from arena.figures.intervals import mean_estimate
from arena.posg.kept import KeptPieces
from arena.posg.published import published
from arena.usage import UsageError
from games.posg import registry
from games.posg.api import PosgModel
from games.posg.policies import PosgPolicy, UniformPolicy, play_policies

RANDOM: Final = "random"
"""A uniformly random co-player, beside the policies of a game."""


@dataclass(frozen=True)
class Payoff:
    """What one policy got beside another.

    Attributes:
        row: who is paid; agent 0.
        column: its co-player; agent 1.
        mean: of its undiscounted returns.
        low: lower end of the 95 % interval.
        high: upper end.
        episodes: games played.
        published: what the authors of POSGGym got, None where they published nothing.
    """

    row: str
    column: str
    mean: float
    low: float
    high: float
    episodes: int
    published: float | None


def payoff_table(
    game_id: str,
    *,
    episodes: int = 1_000,
    seed: int = 0,
    names: Sequence[str] = (),
    params: Mapping[str, Any] | None = None,
    out: Path | None = None,
    on_pair: Callable[[int, int], None] = lambda done, total: None,
) -> list[Payoff]:
    """Plays every ordered pair of policies and returns what the first got, row by row.

    Args:
        game_id: of a game of two agents.
        episodes: games a pair.
        seed: of all chance; each pair has its own.
        names: policies that ship with the game, `random`, and folders of trained ones; () for all that ship.
        params: of the game.
        out: file that keeps finished pairs; those that it has are not played again.
        on_pair: told how many pairs are done, and of how many.

    Raises:
        UsageError: the game has no such policies, or the file is of other settings.
        UnknownGameError: no game has the id.
        PlannerConfigError: a trained policy cannot be read, or is of another game.
    """
    model = registry.make(game_id, **(params or {}))
    trained = {name: Path(name) for name in names if for_planners.is_checkpoint(name)}
    found = _written(game_id, model) if not names or set(names) - trained.keys() - {RANDOM} else {}
    found.setdefault(RANDOM, [UniformPolicy(own) for own in model.info.actions])
    for name, folder in trained.items():
        found[name] = cast("Sequence[PosgPolicy]", for_planners.load(folder, model))  # memories are not looked up here
    chosen = list(names) or [name for name in found if name != RANDOM]
    unknown = [name for name in chosen if name not in found]
    if unknown or model.info.num_agents != 2:
        known = ", ".join(found)
        raise UsageError(f"{game_id} has two agents' policies {known}, not {', '.join(unknown) or 'those of more'}.")
    settings: dict[str, Any] = {"game": game_id, "episodes": episodes, "seed": seed, "params": dict(params or {})}
    if trained:
        settings["trained"] = {name: for_planners.content_hash(folder) for name, folder in trained.items()}
    kept = KeptPieces(out, settings, "payoffs", "pairs")
    pairs = [(row, column) for row in chosen for column in chosen]
    found_pairs = {(piece["row"], piece["column"]): piece for piece in kept.pieces.values()}
    for done, (row, column) in enumerate(pairs):
        on_pair(done, len(pairs))
        if (row, column) not in found_pairs:
            key = _key(row, column)
            rng = random.Random(f"payoffs {game_id} {seed} {key}")
            players = [found[row][0], found[column][1]]
            estimate = mean_estimate([play_policies(model, players, rng).returns[0] for _ in range(episodes)])
            assert estimate is not None
            low, high = (estimate.mean if end is None else end for end in (estimate.low, estimate.high))
            payoff = Payoff(row, column, estimate.mean, low, high, episodes, published(game_id, row, column))
            found_pairs[row, column] = asdict(payoff)
            kept.add(key, found_pairs[row, column])
    on_pair(len(pairs), len(pairs))
    return [Payoff(**found_pairs[pair]) for pair in pairs]


def _key(row: str, column: str) -> str:
    """Returns what a pair is kept by, and its chance drawn from: another for each pair, though names have spaces."""
    return json.dumps([row, column]) if " " in row + column else f"{row} {column}"


def _written(game_id: str, model: PosgModel) -> dict[str, Sequence[PosgPolicy]]:
    """Returns the policies that ship with a game, each for every agent."""
    return {name: [policy] * model.info.num_agents for name, policy in registry.policies(game_id, model).items()}
