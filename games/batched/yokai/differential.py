"""Whole games played side by side on batched Yōkai and on the reference, everything compared at every step."""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from games.api import TERMINAL
from games.batched.api import Array, lane
from games.batched.differential import DifferentialReport
from games.batched.keys import root_key
from games.batched.yokai import json, observe
from games.batched.yokai.environment import YokaiEnv, make
from games.batched.yokai.state import Sizes, State
from games.yokai import game as reference
from games.yokai import tensors
from games.yokai.game import YokaiGame
from games.yokai.rules import YokaiState

END_RATE: Final = 0.03
"""How often a random player ends the game where it may."""
BATCH: Final = 100
"""Games that run side by side."""

Shown: TypeAlias = dict[str, NDArray[Any]]
Choose: TypeAlias = Callable[[YokaiGame, YokaiState, Sequence[int], random.Random], int]
"""Picks an action: (game, reference state, indices of the legal actions, rng) -> index."""


def random_choice(game: YokaiGame, state: YokaiState, legal: Sequence[int], rng: random.Random) -> int:
    """Draws a legal action uniformly, but `end` with probability `END_RATE`."""
    if state["sub_step"] == 1:
        end = legal[-1]
        return end if rng.random() < END_RATE else rng.choice(legal[:-1])
    return rng.choice(legal)


class Compiled(NamedTuple):
    """An environment and its compiled functions; `show` returns masks, every observation and the outcome by name."""

    env: YokaiEnv
    init: Callable[..., Any]
    step: Callable[..., Any]
    show: Callable[..., Any]


@cache
def _compiled(game_id: str) -> Compiled:
    env = make(game_id)

    def show(state: State) -> dict[str, Array]:
        outcome = env.outcome(state)
        shown = {"legal_mask": env.legal_mask(state), "total": outcome.total, "length": outcome.length}
        shown |= {name: outcome.figures[name] for name in ("won", "ended_early", "score")}
        for view, memory in (("default", False), ("memory", True)):
            nodes, adjacency = observe.graph(env.sizes, state, memory)
            shown[f"{view} image"] = observe.image(env.sizes, state, memory)
            shown |= {f"{view} nodes": nodes, f"{view} adjacency": adjacency}
        return shown

    return Compiled(env, jax.jit(env.init), jax.jit(env.step), jax.jit(show))


def compare(game_id: str, games: int, seed: int, choose: Choose = random_choice) -> DifferentialReport:
    """Plays `games` random deals on both sides; arguments as for `compare_in_batches`."""
    return [DifferentialReport(), *compare_in_batches(game_id, games, seed, choose=choose)][-1]


def compare_in_batches(
    game_id: str, games: int, seed: int, first: int = 0, choose: Choose = random_choice
) -> Iterator[DifferentialReport]:
    """Plays random deals on both sides and yields what was found so far after every batch, one report that grows.

    Args:
        game_id: e.g. `yokai-9c-2p`.
        games: number of the last game, rounded up to whole batches of `BATCH`.
        seed: everything random derives from it; a batch depends on it and on the batch's number alone.
        first: games before this one, rounded down to whole batches, are left out.
        choose: how the players play; it is told the reference's state.

    Raises:
        GameError: no batched game has that id.
    """
    init = _compiled(game_id).init
    report = DifferentialReport()
    for batch in range(first // BATCH, -(-games // BATCH)):
        keys = jax.random.split(root_key("differential", seed, batch), BATCH)
        compare_from(game_id, init(keys), report, random.Random(f"differential/{seed}/{batch}"), choose)
        yield report


def compare_from(game_id: str, state: State, report: DifferentialReport, rng: random.Random, choose: Choose) -> None:
    """Plays every lane of freshly dealt games to the end on both sides and adds to `report`."""
    compiled = _compiled(game_id)
    sizes = compiled.env.sizes
    host: State = jax.tree.map(np.asarray, state)
    states = [json.to_json(sizes, lane(host, index), []) for index in range(host.player.shape[0])]
    _compare_lanes(compiled, states, state, report, rng, choose)


def compare_states(
    game_id: str,
    states: list[YokaiState],
    report: DifferentialReport,
    rng: random.Random,
    choose: Choose = random_choice,
) -> None:
    """Plays reference states, dealt in full, to the end on both sides and adds to `report`.

    Args:
        game_id: e.g. `yokai-9c-2p`.
        states: at most `BATCH`, none of them over; the batch is filled up with games that are.
        report: what was found so far.
        rng: source of the players' choices.
        choose: how they choose.
    """
    compiled = _compiled(game_id)
    filling: list[YokaiState] = [{**states[0], "phase": "over", "player": None, "sub_step": None, "log": ["end"]}]
    lanes = [*states, *filling * (BATCH - len(states))]
    _compare_lanes(compiled, lanes, json.from_json(compiled.env, lanes), report, rng, choose)


def _compare_lanes(
    compiled: Compiled,
    states: list[YokaiState],
    lanes: State,
    report: DifferentialReport,
    rng: random.Random,
    choose: Choose,
) -> None:
    env, _, step, show = compiled
    game = reference.make(env.sizes.cards, env.sizes.players)
    finished: set[int] = set()
    for _ in range(game.config.max_length + 1):
        shown = jax.tree.map(np.asarray, show(lanes))
        actions = np.zeros((len(states), env.num_players), np.int32)
        before = list(states)
        for index, state in enumerate(states):
            if index in finished:
                continue
            _compare_state(game, state, {name: array[index] for name, array in shown.items()}, report)
            if state["phase"] == "over":
                finished.add(index)
                continue
            legal = [game.action_index(action) for action in game.legal_actions(state)]
            action = choose(game, state, legal, rng)
            actions[index, state["player"]] = action
            states[index] = game.apply_action(state, game.action_string(action))
        if len(finished) == len(before):
            break
        lanes, transition = step(lanes, jnp.asarray(actions))
        _compare_payments(game, before, states, transition, report)
    _compare_ends(game, env.sizes, states, lanes, shown, report)


def _compare_state(game: YokaiGame, state: YokaiState, shown: Shown, report: DifferentialReport) -> None:
    mask = np.zeros((game.config.players, len(game.all_actions())), bool)
    mask[:, 0] = True
    player = game.current_player(state)
    if player != TERMINAL:
        mask[player] = False
        mask[player, [game.action_index(action) for action in game.legal_actions(state)]] = True
    expected: dict[str, NDArray[Any]] = {"legal_mask": mask}
    for view_name in ("default", "memory"):
        images, nodes = [], []
        for observer in range(game.config.players):
            view = game.observation(state, observer, view_name)
            nodes.append(tensors.node_features(view, game.config))
            images.append(tensors.image_of(nodes[-1], view, game.config))
        expected[f"{view_name} adjacency"] = tensors.adjacency(view)
        expected[f"{view_name} image"] = np.stack(images)
        expected[f"{view_name} nodes"] = np.stack(nodes)
    for name, array in expected.items():
        if shown[name].dtype != array.dtype or not np.array_equal(shown[name], array):
            report.add(f"{name} differs in {state}")


def _compare_payments(
    game: YokaiGame, before: list[YokaiState], after: list[YokaiState], transition: Any, report: DifferentialReport
) -> None:
    arrays = jax.tree.map(np.asarray, transition)
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        moved = old is not new
        rewards = game.rewards(new) if moved else [0.0] * game.config.players
        shaping = _shaping(game, old, new) if moved else [0.0] * game.config.players
        found = {
            "reward": (arrays.reward[index].tolist(), rewards),
            "shaping": (arrays.info["shaping"][index].tolist(), shaping),
            "done": (bool(arrays.done[index]), new["phase"] == "over"),
            "illegal": (bool(arrays.info["illegal"][index].any()), False),
        }
        report.steps += moved
        for name, (got, expected) in found.items():
            if got != expected:
                report.add(f"{name} is {got}, not {expected}, in {new}")


def _shaping(game: YokaiGame, old: YokaiState, new: YokaiState) -> list[float]:
    paid = [0.0] * game.config.players
    player = old["player"]
    paid[player] += len(new["observed"][player]) - len(old["observed"][player])
    for was, hint in zip(old["hints"], new["hints"], strict=True):
        placed = hint["status"] == "placed" != was["status"]
        paid[player] += placed and new["colours"][hint["card"]] in hint["colours"]
    return paid


def _compare_ends(
    game: YokaiGame, sizes: Sizes, states: list[YokaiState], lanes: State, shown: Shown, report: DifferentialReport
) -> None:
    host: State = jax.tree.map(np.asarray, lanes)
    names = {"won": "won", "ended_early": "ended_early", "score": "score", "total": "return", "length": "length"}
    for index, state in enumerate(states):
        converted = json.to_json(sizes, lane(host, index), state["log"])
        if converted != state:
            report.add(f"the final state is {converted}, not {state}")
        expected = game.outcome(state)
        for name, key in names.items():
            if shown[name][index] != expected[key]:
                report.add(f"{name} is {shown[name][index]}, not {expected[key]}, in {state}")
        report.games += 1
        report.wins += bool(expected["won"])
