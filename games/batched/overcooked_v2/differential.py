"""Whole games played side by side on JaxMARL's OvercookedV2 and on the reference, everything compared at every step:
states, what chefs see to the bit, payments and shaping; and that every start is one that the reference may draw.

What is drawn in a step, the next recipe, is JaxMARL's; the reference must be able to draw it.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from games.batched import registry
from games.batched.api import BatchedEnv
from games.batched.differential import DifferentialReport
from games.batched.keys import root_key
from games.posg.api import PosgError
from games.posg.chance import replaying
from games.posg.overcooked_v2.model import OvercookedV2, make
from games.posg.overcooked_v2.partners import policies
from games.posg.overcooked_v2.rules import ACTIONS, INTERACT, Table
from games.posg.overcooked_v2.sight import KitchenSight, Seen
from games.posg.overcooked_v2.starts import Starts, named

BATCH: Final = 100
"""Games that run side by side."""
USES: Final = 0.3
"""How often a random chef uses what it faces."""
STRAYS: Final = 0.15
"""How often any other does what a random one would."""


class Players:
    """Chefs of games side by side: in every other game those that ship, who stray now and then, else random ones."""

    def __init__(self, model: OvercookedV2, rng: random.Random) -> None:
        """Args:
        model: of the kitchen.
        rng: of all choices.
        """
        self._chef, self._rng = policies(model)["chef"], rng
        self._minds: dict[tuple[int, int], tuple[Any, str]] = {}

    def choose(self, lane: int, seen: Sequence[Seen]) -> list[int]:
        """Returns the actions of a game's next step, given what its chefs see."""
        return [self._chosen(lane, agent, view) for agent, view in enumerate(seen)]

    def _chosen(self, lane: int, agent: int, view: Seen) -> int:
        rng = self._rng
        number = INTERACT if rng.random() < USES else rng.randrange(INTERACT)
        if lane % 2:
            mind, action = self._minds.get((lane, agent), (self._chef.start(agent), None))
            mind = self._chef.update(mind, action, view)
            if rng.random() > STRAYS:
                number = ACTIONS.index(self._chef.act(mind, rng))
            self._minds[lane, agent] = mind, ACTIONS[number]
        return number


class Pair(NamedTuple):
    """A game of JaxMARL, its compiled functions, and the reference."""

    init: Callable[..., Any]
    step: Callable[..., Any]
    observe: Callable[..., Any]
    model: OvercookedV2


@cache
def _compiled(game_id: str) -> Pair:
    return pair(registry.make(game_id).env("default"), make(game_id))


def pair(env: BatchedEnv[Any], model: OvercookedV2) -> Pair:
    """Returns an environment and a model of the same kitchen, ready to be compared."""
    return Pair(jax.jit(env.init), jax.jit(env.step), jax.jit(env.observe), model)


def compare_in_batches(game_id: str, games: int, seed: int, first: int = 0) -> Iterator[DifferentialReport]:
    """Plays random games on both sides and yields what was found so far after every batch, one report that grows.

    Args:
        game_id: e.g. `overcooked-v2-cramped-room,steps=50`.
        games: number of the last game, rounded up to whole batches of `BATCH`.
        seed: everything random derives from it; a batch depends on it and on the batch's number alone.
        first: games before this one, rounded down to whole batches, are left out.

    Raises:
        GameError: no batched game has that id.
    """
    report = DifferentialReport()
    for batch in range(first // BATCH, -(-games // BATCH)):
        rng = random.Random(f"differential/{seed}/{batch}")
        compare(_compiled(game_id), report, BATCH, root_key("differential", seed, batch), rng)
        yield report


def compare(both: Pair, report: DifferentialReport, lanes: int, key: Any, rng: random.Random) -> None:
    """Plays games of a kitchen to their limit of steps on both sides and adds to `report`.

    Args:
        both: what is compared.
        report: what was found so far.
        lanes: games.
        key: of JaxMARL's chance.
        rng: of the chefs' choices.
    """
    model, limit = both.model, both.model.info.step_limit
    assert limit is not None
    state = both.init(jax.random.split(jax.random.fold_in(key, 0), lanes))
    tables = _tables(model, state.game, lanes)
    _compare_starts(model, tables, report)
    wins, players = [False] * lanes, Players(model, rng)
    for step in range(limit):
        seen = [model.sight.of(table) for table in tables]
        _compare_seen(model, seen, np.asarray(both.observe(state)), report)
        chosen = [players.choose(lane, views) for lane, views in enumerate(seen)]
        keys = jax.random.split(jax.random.fold_in(key, step + 1), lanes)
        state, paid = both.step(state, jnp.asarray(chosen, jnp.int32), keys)
        theirs = _tables(model, state.game, lanes)
        rewards, shaping = np.asarray(paid.reward), np.asarray(paid.info["shaping"])
        for lane in range(lanes):
            after, reward, shaped = model.rules.step(tables[lane], chosen[lane])
            if after[5] and model.redraws and theirs[lane][4] in model.kitchen.recipes:
                after = (*after[:4], theirs[lane][4], after[5])
            where = (model, tables[lane], chosen[lane])
            _expect(report, where, "state", after, theirs[lane])
            _expect(report, where, "payments", [float(reward)] * len(shaped), rewards[lane].tolist())
            _expect(report, where, "shaping", [float(one) for one in shaped], shaping[lane].tolist())
            wins[lane] = wins[lane] or reward > 0
        tables = theirs
        report.steps += lanes
    report.games += lanes
    report.wins += sum(wins)


def _expect(
    report: DifferentialReport, where: tuple[OvercookedV2, Table, Sequence[int]], what: str, *sides: Any
) -> None:
    if sides[0] != sides[1]:
        model, table, chosen = where
        actions = " | ".join(ACTIONS[number] for number in chosen)
        told = model.state_to_json(table)
        report.add(f"{model.info.id}: {what} after {actions} in {told}: reference {sides[0]}, JaxMARL {sides[1]}")


def _tables(model: OvercookedV2, game: Any, lanes: int) -> list[Table]:
    """Returns JaxMARL's states, whose last axis is that of the games, as states of the reference.

    Raises:
        AssertionError: something lies where nothing can.
    """
    kitchen, agents = model.kitchen, game.agents
    grid = np.moveaxis(np.asarray(game.grid), -1, 0).reshape(lanes, -1, 3)
    cells = np.asarray(agents.pos.y) * kitchen.width + np.asarray(agents.pos.x)
    chefs = np.stack([cells, np.asarray(agents.dir), np.asarray(agents.inventory)], axis=1)
    chefs = np.moveaxis(chefs, -1, 0).reshape(lanes, -1)
    parts = [
        chefs,
        grid[:, list(kitchen.holders), 1],
        grid[:, list(kitchen.pots), 2],
        grid[:, list(kitchen.buttons), 2],
    ]
    assert (grid[..., 1].sum(axis=1) == parts[1].sum(axis=1)).all()
    assert (grid[..., 2].sum(axis=1) == parts[2].sum(axis=1) + parts[3].sum(axis=1)).all()
    rows = zip(*(part.astype(int).tolist() for part in parts), strict=True)
    recipes, praised = np.asarray(game.recipe).tolist(), np.asarray(game.new_correct_delivery).tolist()
    return [
        (tuple(own), tuple(items), tuple(cooking), tuple(lights), recipe, is_praised)
        for (own, items, cooking, lights), recipe, is_praised in zip(rows, recipes, praised, strict=True)
    ]


def _compare_starts(model: OvercookedV2, tables: Sequence[Table], report: DifferentialReport) -> None:
    """Checks that the reference may draw the same."""
    whole = KitchenSight(model.kitchen, None, model.house.signal)
    starts = Starts(model.kitchen, model.house, whole)
    for table in tables:
        try:
            drawn = starts.given(0, whole.of(table)[0], replaying({"recipe": named(table[4])}))
        except PosgError as error:
            report.add(f"{model.info.id}: the reference cannot draw the start {model.state_to_json(table)}: {error}")
            continue
        if drawn != table:
            report.add(f"{model.info.id}: the start {model.state_to_json(table)} is drawn as {drawn}")


def _compare_seen(
    model: OvercookedV2, seen: Sequence[Sequence[Seen]], images: NDArray[Any], report: DifferentialReport
) -> None:
    ours = np.array([[model.sight.encode(view) for view in views] for views in seen], np.float32).reshape(images.shape)
    for lane, agent in zip(*np.nonzero((ours != images).any(axis=(2, 3, 4))), strict=True):
        cell = tuple(np.argwhere(ours[lane, agent] != images[lane, agent])[0].tolist())
        sides = f"the reference has {ours[lane, agent][cell]:g}, JaxMARL {images[lane, agent][cell]:g}"
        report.add(
            f"{model.info.id}: chef {agent} sees {model.sight.to_json(seen[lane][agent])}; "
            f"at {cell} (row, column, channel) {sides}"
        )
