"""What a report says of the game, and of what the language model saw of it."""

from collections.abc import Sequence
from typing import Final

from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from cwm.trajectories.recorded import Trajectory

_UTILITIES: Final = {
    "identical": "all players are paid the same",
    "zero_sum": "what one gains the others lose",
    "win_loss_draw": "one wins what the other loses (1, 0, -1)",
    "general_sum": "each player is paid its own",
}


def facts(inputs: Inputs) -> tuple[tuple[str, str], ...]:
    """Returns (name, value) of what is fixed about the game."""
    info = inputs.info
    return (
        ("players", ", ".join(info.player_names)),
        ("information", "nothing is hidden" if info.perfect_information else "something is hidden from a player"),
        ("chance", "yes" if info.has_chance else "no"),
        ("payoffs", _UTILITIES.get(info.utility, info.utility)),
        ("return of a player", f"{info.min_utility:g} to {info.max_utility:g}"),
    )


def seen(inputs: Inputs, settings: RunSettings) -> tuple[tuple[str, str], ...]:
    """Returns (name, value) of what the language model was given, and of what was kept from it."""
    told = "joint actions, draws, observations and rewards, no states"
    deck = _deck(settings) if inputs.joint_info is None else told
    rows = [
        ("rules", f"{len(inputs.rules):,} characters"),
        ("games for its unit tests", f"{_counted(inputs.train)}; {deck}"),
    ]
    kept = _counted(inputs.held_out) if inputs.held_out else "games played anew, which it never saw"
    return (*rows, ("kept for the test", kept))


def _deck(settings: RunSettings) -> str:
    return "whole games with every state" if settings.deck == "open" else "one player's view of each (closed deck)"


def _counted(games: Sequence[Trajectory]) -> str:
    steps = sum(step.action is not None for game in games for step in game.steps)
    return f"{len(games):,} {'game' if len(games) == 1 else 'games'}, {steps:,} steps"
