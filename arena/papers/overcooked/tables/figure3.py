"""Figure 3 as a table: what every Alice comes to with every Bob, and the same for Cat-Dog; both learn in seconds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.figures.sheet import Sheet
from arena.papers.overcooked.tables.q_learning import Pair, QSettings, gap, matrix, population
from arena.papers.overcooked.tables.two_steps import TwoSteps

SEEDS: Final = range(10)
EXPLORATIONS: Final = (0.0, 0.002, 0.01, 0.05)
"""Shares of random actions by which the means of a game are shown."""


def sheet(game: TwoSteps, source: str, settings: QSettings | None = None) -> Sheet:
    """Returns the matrix of a game: ten pairs that learned alone, a random Alice (U) and the best response to her (BR).

    Args:
        game: what is played.
        source: where the paper shows it.
        settings: how pairs learn; None: ours, for the paper does not print its own.
    """
    chosen = settings or QSettings()
    pairs = population(game, SEEDS, chosen)
    played = matrix(game, pairs)
    made = Sheet(f"{game.name} ({source})", ["Alice"], [*(pair.name for pair in pairs[:-1]), "BR"])
    for pair, row in zip(pairs, played, strict=True):
        made.add("U" if pair is pairs[-1] else pair.name, *(f"{value:.1f}" for value in row))
    made.note = f"{_of_settings(chosen)} {_means(game, pairs, played)} {_by_exploration(game, chosen)}"
    return made


def _of_settings(settings: QSettings) -> str:
    return (
        "Columns are Bobs. Exact means over the two pets; the paper prints no settings, ours are "
        f"{settings.games:,} games, rate {settings.rate:g}, {settings.exploration:.1%} of actions drawn."
    )


def _means(game: TwoSteps, pairs: Sequence[Pair], played: Sequence[Sequence[float]]) -> str:
    alone = len(pairs) - 1
    with_itself, apart = gap([row[:alone] for row in played[:alone]])
    with_best = [row[alone] for row in played]
    return (
        f"SP {with_itself:.1f}, XP {apart:.1f}; the best response to a random Alice gets "
        f"{min(with_best):.1f} to {max(with_best):.1f}."
    )


def _by_exploration(game: TwoSteps, settings: QSettings) -> str:
    told = []
    for share in EXPLORATIONS:
        pairs = population(game, SEEDS, replace(settings, exploration=share))[:-1]
        found = gap(matrix(game, pairs))
        told.append(f"{share:.1%}: {found[0]:.1f} and {found[1]:.1f}")
    return f"SP and XP by share of drawn actions: {'; '.join(told)}."
