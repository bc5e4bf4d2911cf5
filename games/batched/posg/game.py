"""Batched games of simultaneous moves as learners know them: environments, hand-written partners, metrics."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from games.api import DEFAULT_VIEW, GameError
from games.batched.game import BatchedGame
from games.batched.posg.cooperative_reaching import partners as reaching_partners
from games.batched.posg.cooperative_reaching.rules import ReachingRules
from games.batched.posg.driving import partners as driving_partners
from games.batched.posg.driving.rules import DrivingRules
from games.batched.posg.environment import SimultaneousEnv, SimultaneousState
from games.batched.posg.foraging import partners as foraging_partners
from games.batched.posg.foraging.rules import ForagingRules
from games.batched.posg.policies import BatchedPartner
from games.batched.posg.predator_prey import partners as hunters
from games.batched.posg.predator_prey.rules import PredatorPreyRules
from games.batched.posg.pursuit_evasion import partners as walkers
from games.batched.posg.pursuit_evasion.rules import PursuitEvasionRules
from games.batched.posg.rules import SimultaneousRules
from games.batched.posg.table import SimultaneousTable
from games.batched.wrappers import StepLimit
from games.posg import registry


class _Parts(NamedTuple):
    """What a game is made of.

    Attributes:
        rules: on arrays, given the reference.
        partners: hand-written policies by name, given the reference.
        reduced_steps: see `BatchedGame`.
    """

    rules: Callable[[Any], SimultaneousRules]
    partners: Callable[[Any], Mapping[str, BatchedPartner]]
    reduced_steps: int


_PARTS: Final = {
    "cooperative-reaching": _Parts(ReachingRules, reaching_partners.partners, 800_000),
    "driving": _Parts(DrivingRules, driving_partners.partners, 3_300_000),
    "foraging": _Parts(ForagingRules, foraging_partners.partners, 4_600_000),
    "foraging-random": _Parts(ForagingRules, foraging_partners.partners, 4_600_000),
    "predator-prey": _Parts(PredatorPreyRules, hunters.partners, 16_000_000),
    "pursuit-evasion": _Parts(PursuitEvasionRules, walkers.partners, 36_000_000),
}


@cache
def rules(game_id: str) -> SimultaneousRules:
    """Returns the rules of a registered game, always the same ones."""
    return _PARTS[game_id].rules(registry.make(game_id))


@cache
def partners(game_id: str) -> Mapping[str, BatchedPartner]:
    """Returns the hand-written policies of a registered game by name, always the same ones."""
    return _PARTS[game_id].partners(rules(game_id).model)


@cache
def make(game_id: str) -> BatchedGame:
    """Returns a game, always the same one: what is compiled for its environment is so once.

    Raises:
        GameError: it has no such view, when its environment is asked for.
    """
    info = rules(game_id).info
    assert info.step_limit is not None, "every registered game has a limit of steps"
    limited = StepLimit(SimultaneousEnv(rules(game_id)), info.step_limit)

    def env(view: str) -> StepLimit[SimultaneousState]:
        if view != DEFAULT_VIEW:
            raise GameError(f"{game_id} has no view {view!r}; it has {DEFAULT_VIEW}.")
        return limited

    return BatchedGame(
        id=game_id,
        num_players=info.num_agents,
        max_length=info.step_limit,
        round_length=1,
        reduced_steps=_PARTS[game_id].reduced_steps,
        env=env,
        simultaneous=True,
        partners=lambda: partners(game_id),
        table=lambda: SimultaneousTable(rules(game_id).model),
    )
