"""What an agent that searches has considered before a move, as games keep it where that is asked for."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from games.api import Action

MOST_MOVES: Final = 60
"""Moves that are kept, the most visited first."""
LARGEST: Final = 1e150
LONGEST: Final = 200
"""Characters of a text; answers come from processes in which untrusted programs run."""

Thought = dict[str, Any]
"""JSON: `simulations`; `moves`, the most visited first, each with `action` and, where it is known, `visits`, `value`
(mean return of the player to move), `prior` (what the search began with), `share` (how likely a policy is to play it)
and `rating` (a language model's); `left_out`, moves that are not listed; `belief`, as `search.marginals.shares` has it;
`reason`, a language model's."""


def of_search(visits: Any, values: Any, simulations: Any, belief: Any, priors: Any = None) -> Thought | None:
    """Returns what a search considered, None where it says nothing that can be read.

    Args:
        visits: simulations by action.
        values: mean return by action.
        simulations: how many ran.
        belief: as `search.marginals.shares` gives it.
        priors: by action, None where there are none.
    """
    if not isinstance(visits, Mapping) or type(simulations) is not int:
        return None
    counted = [(str(action)[:LONGEST], count) for action, count in visits.items() if type(count) is int and count >= 0]
    ranked = sorted(counted, key=lambda item: -item[1])
    moves = [
        {"action": action, "visits": count} | _figure("value", values, action) | _figure("prior", priors, action)
        for action, count in ranked[:MOST_MOVES]
    ]
    told = {"simulations": simulations, "moves": moves, "left_out": len(ranked) - len(moves)}
    return told | {"belief": believed} if (believed := _belief(belief)) else told


def of_policy(actions: Sequence[Action], shares: Sequence[float]) -> Thought:
    """Returns what a policy thinks of the legal moves.

    Args:
        actions: the legal ones.
        shares: how likely the policy is to play each, summing to 1.
    """
    ranked = sorted(zip(actions, shares, strict=True), key=lambda item: -item[1])
    moves = [{"action": action, "share": round(float(share), 6)} for action, share in ranked[:MOST_MOVES]]
    return {"moves": moves, "left_out": len(ranked) - len(moves)}


def _figure(name: str, figures: Any, action: Action) -> dict[str, float]:
    """Returns the figure of an action under a name, {} where there is none that is finite."""
    value: Any = figures.get(action) if isinstance(figures, Mapping) else None
    return {name: round(value, 6)} if type(value) in (int, float) and abs(value) < LARGEST else {}


def _belief(belief: Any) -> list[list[Any]]:
    """Returns the parts of a belief that have the form of one."""
    return [
        [str(part[0])[:LONGEST], [[str(value)[:LONGEST], share] for value, share in part[1]]]
        for part in (belief if isinstance(belief, list) else [])
        if _is_part(part)
    ]


def _is_part(part: Any) -> bool:
    return (
        isinstance(part, list)
        and len(part) == 2
        and isinstance(part[1], list)
        and all(isinstance(one, list) and len(one) == 2 and _is_share(one[1]) for one in part[1])
    )


def _is_share(share: Any) -> bool:
    return type(share) in (int, float) and 0 <= share <= 1
