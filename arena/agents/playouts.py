"""Who plays games on from a position when its actions are valued: the game's policy prior, a partner, or chance."""

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any, Final

from arena.agents.partner import partners
from arena.usage import UsageError
from games import registry
from games.api import EstimatesPolicy, Game, UnknownGameError
from search.action_values import HistoryPlayouts, Playouts, PolicyPlayouts
from search.errors import ErrorCount
from search.priors import policy_of, uniform

POLICY: Final = "policy"
RANDOM: Final = "random"
PARTNER: Final = "partner:"


def default(game: Game) -> str:
    """Returns who plays a game on where nobody was named: the partner that it names for this (`playouts.DEFAULT`
    in its folder), its policy prior, else chance."""
    module = _module(game.info.id)
    if module is not None:
        return f"{PARTNER}{module.DEFAULT}"
    return POLICY if isinstance(game, EstimatesPolicy) else RANDOM


def playouts_of(game: Game, name: str | None = None) -> Playouts:
    """Returns who plays a game on.

    Args:
        game: true or synthesised; a partner that the game plays quickly (`playouts.QUICK` in its folder) is known by
            the game's id.
        name: `policy`, `random` or `partner:NAME`; None for `default`.

    Raises:
        UsageError: nobody has this name, or the game has no policy prior.
    """
    name = name or default(game)
    if name == RANDOM:
        return PolicyPlayouts(game, uniform)
    if name == POLICY:
        if not isinstance(game, EstimatesPolicy):
            raise UsageError(f"{game.info.id} has no policy prior: {_choices(game)}.")
        return PolicyPlayouts(game, policy_of(game, ErrorCount()))
    known = partners(game.info.id)
    partner = name.removeprefix(PARTNER)
    if not name.startswith(PARTNER) or partner not in known:
        raise UsageError(f"nobody called {name!r} plays {game.info.id} on: {_choices(game)}.")
    module = _module(game.info.id)
    if module is not None and partner in module.QUICK:
        quick: Playouts = module.QUICK[partner](game)
        return quick
    return HistoryPlayouts(game, known[partner])


def _choices(game: Game) -> str:
    names: list[str] = [POLICY] if isinstance(game, EstimatesPolicy) else []
    names += [RANDOM, *(f"{PARTNER}{partner}" for partner in partners(game.info.id))]
    return f"choose {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _module(game_id: str) -> Any | None:
    """Returns the module `playouts` of the game's folder, None if it has none."""
    try:
        package = registry.describe(game_id).package
    except UnknownGameError:  # a synthesised model of a user's own game
        return None
    if not package or importlib.util.find_spec(f"{package}.playouts") is None:
        return None
    return importlib.import_module(f"{package}.playouts")
