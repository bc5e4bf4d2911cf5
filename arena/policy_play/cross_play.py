"""Self-play and cross-play of trained policies in batches, on common deals, with the tables that all agents have."""

import random
from collections.abc import Callable, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any, Final

import jax
import numpy as np

from arena.checkpoints import on_game
from arena.checkpoints.on_game import LearnedPolicy
from arena.figures import metrics
from arena.figures.metrics import GameFacts
from arena.matches.cross_play import MOST_LINEUPS, TWO
from arena.policy_play.method_figures import LearnedCrossPlay, between_methods, method_figures
from arena.policy_play.played_lineups import WATCHED, Numbers, Seating, Tally, summary
from cwm.storage.keys import derive
from games import registry
from games.api import DEFAULT_VIEW
from games.batched import registry as batched_registry
from games.batched.api import BatchedEnv
from games.batched.game import BatchedGame
from games.batched.keys import root_key
from games.batched.other_play import OtherPlay, SymmetryGroup
from search.learn import checkpoint
from search.learn.api import Array
from search.learn.errors import CheckpointError, LearnError
from search.learn.play.evaluation import Played, Policy, PolicyEvaluator, StepReader, nothing

GAMES: Final = 5000
"""Of a seating, as in the paper (section 6.1)."""
VIEW: Final = "view"
FIRST: Final = (VIEW, "scale", "steps")
"""Settings by which trainings of one method are told apart before all others."""

FIGURES: Final = ("score_if_won", "won", "ended_early", "won_early")
"""Of a game (`Outcome.figures`), which the tables of all cooperative agents show."""

OnSeating = Callable[[int, int], None]
"""Told the number of seatings that were played, and that of all."""


def load_all(game: str, names: Sequence[str]) -> list[LearnedPolicy]:
    """Reads policies of one game; a folder without a policy of its own stands for those in its folders.

    Args:
        game: registry id.
        names: folders, or names of policies that ship.

    Raises:
        CheckpointError: one cannot be read, is of another game, or has a name that another one has.
    """
    found: dict[str, LearnedPolicy] = {}
    for folder in (folder for name in names for folder in _folders(name, game)):
        policy = on_game.load(folder)
        if policy.game != game:
            raise CheckpointError(f"{policy.name} in {folder} was trained on {policy.game}, not on {game}.")
        if policy.name in found:
            raise CheckpointError(
                f"Two checkpoints are named {policy.name}: give each once, or rename one in its config."
            )
        found[policy.name] = policy
    return list(found.values())


def _folders(name: str, game: str) -> list[Path]:
    inside = sorted(path.parent for path in Path(name).glob(f"*/{checkpoint.ABOUT}") if not is_belief(path.parent))
    if inside and not (Path(name) / checkpoint.ABOUT).exists():
        return inside
    return [on_game.find(name, game)]


def is_belief(folder: Path) -> bool:
    """Whether a folder holds a belief, which stands beside the policies of Off-Belief Learning and plays nothing."""
    return "belief" in checkpoint.load_about(folder)


def by_method(chosen: Sequence[LearnedPolicy]) -> dict[str, list[str]]:
    """Returns the names of the policies of each method, which count as its seeds.

    Policies that differ otherwise than by their seed are no seeds of one method: trained in several views, for
    different numbers of steps or with other settings they count as several, and the title says in what they differ.
    """
    groups: dict[str, list[LearnedPolicy]] = {}
    for policy in chosen:
        groups.setdefault(policy.method, []).append(policy)
    methods: dict[str, list[str]] = {}
    for method, group in groups.items():
        told = [_settings(policy) for policy in group]
        telling = _telling(told)
        for policy, settings in zip(group, told, strict=True):
            differs = (
                f"{settings.get(name)} view" if name == VIEW else f"{name} {settings.get(name)}" for name in telling
            )
            methods.setdefault(", ".join([method, *differs]), []).append(policy.name)
    return methods


def _settings(policy: LearnedPolicy) -> dict[str, Any]:
    """Returns all that a checkpoint says of its training but which seed it is, e.g. `ppo.entropy`."""
    found: dict[str, Any] = {}
    for name, value in policy.about.items():
        if name not in ("format", "name", "method", "seed"):
            found |= (
                {f"{name}.{key}": item for key, item in value.items()} if isinstance(value, dict) else {name: value}
            )
    return found


def _telling(told: Sequence[dict[str, Any]]) -> list[str]:
    """Returns names of settings that tell apart all those that differ, as few as follow from their order."""
    found: list[str] = []
    for name in dict.fromkeys((*FIRST, *(name for settings in told for name in settings))):
        if _kinds(told, [*found, name]) > _kinds(told, found):
            found.append(name)
    return found


def _kinds(told: Sequence[dict[str, Any]], names: Sequence[str]) -> int:
    return len({tuple(repr(settings.get(name)) for name in names) for settings in told})


def seatings(methods: dict[str, list[str]], players: int, seed: int) -> list[Seating]:
    """Returns who sits where: every policy with itself, then every ordered pair of two different ones.

    For more players, ordered tuples of seeds of one method that are all different (the paper's Eq. 3) or, where there
    are too few seeds for that, not all the same; if there are many, some of them, drawn by the seed.
    """
    names = [name for group in methods.values() for name in group]
    alone = [(name,) * players for name in names]
    if players == TWO:
        return [*alone, *permutations(names, TWO)]
    mixed: list[Seating] = []
    for method, group in methods.items():
        every = list(permutations(group, players)) or [
            found for found in product(group, repeat=players) if len(set(found)) > 1
        ]
        if len(every) > MOST_LINEUPS:
            every = sorted(random.Random(derive("seatings", method, seed)).sample(every, MOST_LINEUPS))
        mixed += every
    return [*alone, *mixed]


class PolicyTable:
    """Policies of one game, ready to be seated: those of one network and view share compiled programs.

    Attributes:
        game: what is played.
        env: plays the games.
        seats: policies by name, their parameters on the device.
    """

    def __init__(self, chosen: Sequence[LearnedPolicy], symmetries: SymmetryGroup | None = None) -> None:
        """Seats policies.

        Args:
            chosen: of one game, with distinct names, at least one.
            symmetries: through which each player sees the games of `OtherPlay`; None: everybody sees `env`'s alike.
        """
        self.game: BatchedGame = batched_registry.make(chosen[0].game)
        self.env: BatchedEnv[Any] = self.game.env(DEFAULT_VIEW)
        readers: dict[Any, StepReader] = {}
        self.seats: dict[str, Policy] = {}
        for policy in chosen:
            env = policy.env() if symmetries is None else OtherPlay(policy.env(), symmetries)
            reader = readers.setdefault((policy.network.config, policy.view), StepReader(policy.network, env))
            self.seats[policy.name] = Policy(reader, jax.device_put(policy.params))

    @property
    def steps(self) -> int:
        """Steps after which every game is over."""
        return self.game.max_length

    def evaluator(self, greedy: bool) -> PolicyEvaluator:
        """Returns what plays the games and watches what is moved, where the game says how; see `tally`."""
        watch = nothing if self.game.watch_moves is None else self.game.watch_moves()
        return PolicyEvaluator(self.env, self.steps, greedy, watch)

    def deals(self, games: int, seed: int) -> Array:
        """Returns the keys of the deals, the same whoever plays them."""
        return jax.random.split(root_key("deals", self.game.id, seed), games)

    def play(
        self,
        evaluator: PolicyEvaluator,
        seating: Seating,
        deals: Array,
        seed: int,
        drawn_as: Sequence[str] | None = None,
    ) -> Played:
        """Plays one game on every deal; what is drawn depends on who plays, not on who else is compared.

        Args:
            evaluator: plays.
            seating: names of the policies, in the order of the seats.
            deals: keys.
            seed: of what policies draw.
            drawn_as: names that stand for the policies there; default: those of the seating.
        """
        draws = jax.random.split(root_key("draws", seed, *(drawn_as or seating)), len(deals))
        return evaluator.play([self.seats[name] for name in seating], deals, draws)


def run(
    chosen: Sequence[LearnedPolicy],
    games: int = GAMES,
    seed: int = 0,
    greedy: bool = False,
    on_seating: OnSeating | None = None,
) -> LearnedCrossPlay:
    """Plays everybody with everybody.

    Args:
        chosen: of one game, with distinct names, at least one.
        games: of a seating.
        seed: of the deals, of what policies draw, and of the choice of seatings.
        greedy: take each policy's likeliest action.
        on_seating: told after each.
    """
    table, methods = PolicyTable(chosen), by_method(chosen)
    info = registry.make(chosen[0].game).info
    evaluator = table.evaluator(greedy)
    deals = table.deals(games, seed)
    planned = seatings(methods, info.num_players, seed)
    played: dict[Seating, Tally] = {}
    for number, seating in enumerate(planned, start=1):
        played[seating] = tally(table.play(evaluator, seating, deals, seed))
        if on_seating is not None:
            on_seating(number, len(planned))
    return LearnedCrossPlay(
        found=summary(played, info, [policy.name for policy in chosen]),
        seatings={" + ".join(seating): float(found["score"].mean()) for seating, found in played.items()},
        methods=method_figures(played, methods),
        between=between_methods(played, methods) if info.num_players == TWO and len(methods) > 1 else (),
        policies={policy.name: policy.about for policy in chosen},
        settings={"games": games, "seed": seed, "greedy": greedy},
    )


def tally(played: Played) -> Tally:
    """Returns the figures of games that the evaluator of a `PolicyTable` played.

    Raises:
        LearnError: the game lacks figures that the tables show.
    """
    figures = played.outcome.figures
    missing = [name for name in FIGURES if name not in figures]
    if missing:
        raise LearnError(f"Tables of cross-play show {', '.join(FIGURES)}: the game's figures lack {missing[0]}.")

    def numbers(values: Array) -> Numbers:
        return np.asarray(values).astype(np.float64)

    facts = GameFacts(
        score=numbers(figures["score_if_won"]),
        won=numbers(figures["won"]),
        early=numbers(figures["ended_early"]),
        returns=numbers(played.outcome.total),
        length=numbers(played.outcome.length),
    )
    if played.kept == ():
        return metrics.taken(facts) | dict.fromkeys(WATCHED, np.zeros_like(facts.won))
    watched = {"moves": played.kept.made, "border": played.kept.border}
    return metrics.taken(facts) | {name: numbers(values).sum(axis=0) for name, values in watched.items()}
