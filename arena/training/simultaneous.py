"""How policies are trained on games of simultaneous moves: settings of the POSGGym paper (tables 6, 8), smaller ones.

Where ours differ: rollouts are 60 steps instead of 64, so that pieces of 10 steps divide them (100 and 20 in pursuit
and evasion, with 24 games instead of 20), minibatches are of whole pieces, and the paper does not say how networks
begin, nor that values are not clipped.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, get_args

from arena.checkpoints.methods import RESPONSES
from arena.training.recipes import Recipe, RecipeError, Scale
from games.batched import registry as batched
from games.posg import registry
from games.posg.api import Vectors
from search.learn.networks.config import NetworkConfig, Values
from search.learn.ppo.config import PpoConfig

MOST_VALUES: Final = 64
"""A place of a vector that may hold more numbers is read as a number."""
PURSUIT: Final = "pursuit-evasion"
LEVELS: Final = 4
RUNS: Final = 5

NETWORK: Final = NetworkConfig("mlp", "lstm", 64, trunk=(64, 64), head_widths=(64,), activation="tanh")
PURSUIT_NETWORK: Final = replace(NETWORK, hidden=256, trunk=(64, 32), head_widths=())
"""Of populations in pursuit and evasion; best responses have the usual one."""
RESPONSE: Final = PpoConfig(
    total_steps=32_000_000,
    environments=1024,
    steps=60,
    bptt_steps=10,
    epochs=2,
    minibatches=32,
    anneal_learning_rate=False,
    max_grad_norm=10.0,
    value_clip=None,
    shaping=0.0,
)
POPULATION: Final = replace(RESPONSE, environments=96, minibatches=3)
PURSUIT_POPULATION: Final = replace(
    RESPONSE, environments=24, steps=100, bptt_steps=20, minibatches=8, entropy=0.001, value_coefficient=1.0, clip=0.3
)
STEPS: Final = {"foraging": 100_000_000, "predator-prey": 100_000_000, PURSUIT: 10_000_000}
"""Of each policy of a population; 32 million elsewhere."""
PURSUER_STEPS: Final = (1_000_000_000, 100_000_000)
"""Of a best response in pursuit and evasion, by agent."""


def recipe(
    game_id: str,
    method: str,
    scale: str = "paper",
    *,
    partners: Sequence[str] = (),
    levels: int | None = None,
    runs: int | None = None,
    seat: int | None = None,
) -> Recipe:
    """Returns the settings of a method.

    Args:
        game_id: of a batched game of simultaneous moves.
        method: `br`, `klr` or `sp-br`.
        scale: `paper` or `reduced`, for a few processor cores.
        partners: of `br`: names of hand-written policies, and folders of trained ones.
        levels: of `klr`; None for 4.
        runs: of `sp-br`; None for 5.
        seat: of `br`: the learner's agent, where agents differ.

    Raises:
        RecipeError: there is no such method, scale or game, or a setting is of another method.
        GameError: there is no such batched game.
    """
    for value, known, what in ((method, tuple(RESPONSES), "method"), (scale, get_args(Scale), "scale")):
        if value not in known:
            raise RecipeError(f"There is no {what} {value!r}: choose one of {', '.join(known)}.")
    both = batched.SIMULTANEOUS
    if game_id not in both:
        raise RecipeError(f"{game_id} is no batched game of simultaneous moves: choose one of {', '.join(both)}.")
    _check_own(method, partners, levels, runs, seat)
    _check_seat(game_id, method, seat)
    network, ppo = (_paper if scale == "paper" else _reduced)(game_id, method, seat)
    own: dict[str, Any] = {"partners": tuple(partners), "seat": seat}
    own["levels"] = (LEVELS if levels is None else levels) if method == "klr" else 0
    if method == "sp-br":
        own["population"] = RUNS if runs is None else runs
    return Recipe(game_id, method, scale, False, replace(network, values_of=values_of(game_id)), ppo, **own)  # type: ignore[arg-type]


def values_of(game_id: str) -> tuple[Values, ...]:
    """Returns what the places of a game's vectors may hold; () if one of them may hold any number, or very many."""
    model = registry.make(game_id)
    assert isinstance(model, Vectors), "batched games show vectors"
    bounds = [model.vector_bounds(agent) for agent in range(model.info.num_agents)]
    lowest = [min(places) for places in zip(*(low for low, _ in bounds), strict=True)]
    highest = [max(places) for places in zip(*(high for _, high in bounds), strict=True)]
    found: list[Values] = []
    for low, high in zip(lowest, highest, strict=True):
        count = int(high - low) + 1
        if low != int(low) or high != int(high) or count > MOST_VALUES:
            return ()
        # Whether a mark is there is one number; a place of several values is one of as many.
        found.append((1, 1) if (low, high) == (0, 1) else (int(low), count))
    return tuple(found)


def differ(game_id: str) -> bool:
    """Whether the agents of a game differ, so that each has policies of its own."""
    return not registry.make(game_id).info.symmetric


def _check_own(method: str, partners: Sequence[str], levels: int | None, runs: int | None, seat: int | None) -> None:
    given = {
        "partners": bool(partners),
        "levels": levels is not None,
        "runs": runs is not None,
        "seat": seat is not None,
    }
    of = {"partners": "br", "levels": "klr", "runs": "sp-br", "seat": "br"}
    for name, is_given in given.items():
        if is_given and method != of[name]:
            option = "population" if name == "partners" else name
            raise RecipeError(f"the option `{option}` is of the method {of[name]}, not of {method}: leave it out.")
    for name, count in (("levels", levels), ("runs", runs)):
        if count is not None and count < 1:
            raise RecipeError(f"{name} is {count}: expected 1 or more.")
    if method == "br" and not partners:
        raise RecipeError(
            "br needs somebody to answer: give the option `population` names of policies of the game, e.g. H1+H2, "
            "folders of trained ones, or a population."
        )


def _check_seat(game_id: str, method: str, seat: int | None) -> None:
    info = registry.make(game_id).info
    if seat is not None and not 0 <= seat < info.num_agents:
        raise RecipeError(f"{game_id} has the agents 0 to {info.num_agents - 1}, not {seat}.")
    if method == "br" and seat is None and not info.symmetric:
        raise RecipeError(
            f"the agents of {game_id} differ: say by the option `seat` which of them learns, 0 to "
            f"{info.num_agents - 1}."
        )


def _paper(game_id: str, method: str, seat: int | None) -> tuple[NetworkConfig, PpoConfig]:
    if method == "br":
        return NETWORK, replace(RESPONSE, total_steps=PURSUER_STEPS[seat or 0]) if game_id == PURSUIT else RESPONSE
    if game_id == PURSUIT:
        return PURSUIT_NETWORK, replace(PURSUIT_POPULATION, total_steps=STEPS[game_id])
    return NETWORK, replace(POPULATION, total_steps=STEPS.get(game_id, POPULATION.total_steps))


def _reduced(game_id: str, method: str, seat: int | None) -> tuple[NetworkConfig, PpoConfig]:
    """Returns settings that two processor cores can train."""
    game = batched.make(game_id)
    network = replace(NETWORK, hidden=32, trunk=(32,), head_widths=(32,))
    ppo = replace(
        RESPONSE,
        total_steps=game.reduced_steps,
        environments=128,
        steps=game.max_length,
        minibatches=8,
        learning_rate=1e-3,
        anneal_learning_rate=True,
        max_grad_norm=0.5,
    )
    return network, ppo
