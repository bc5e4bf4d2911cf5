"""Whole games played side by side on batched Hanabi and on OpenSpiel's, everything compared at every step."""

import random
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pyspiel

from games.api import TERMINAL
from games.batched.api import Array
from games.batched.differential import DifferentialReport
from games.batched.hanabi.environment import HanabiEnv, make
from games.batched.hanabi.state import DISCARD, PLAY, HanabiArrays, HanabiTables
from games.batched.keys import root_key
from games.hanabi.config import VARIANTS

BATCH: Final = 100
"""Games that run side by side."""
CAREFUL: Final = 0.5
"""Share of the games whose players never play a card that does not fit: at random all end by the third bomb."""


class CompiledHanabi(NamedTuple):
    """An environment, what starts games from decks, and what steps and shows them."""

    env: HanabiEnv
    start: Any
    step: Any
    show: Any


class _Side:
    """One game on OpenSpiel's side, and how it is played."""

    def __init__(self, game: Any, deck: list[int], careful: bool) -> None:
        self.state = game.new_initial_state()
        self._deck, self._careful, self._dealt = deck, careful, 0
        self.deal()

    def deal(self) -> None:
        """Lets chance deal from the deck until a player is to move."""
        while self.state.is_chance_node():
            self.state.apply_action(self._deck[self._dealt])
            self._dealt += 1

    def choose(self, sizes: HanabiTables, arrays: HanabiArrays, lane: int, rng: random.Random) -> int:
        """Returns a legal action, drawn uniformly; careful players play no card that does not fit, if they can."""
        legal = self.state.legal_actions()
        if self._careful:
            player = self.state.current_player()
            fits = []
            for action in legal:
                kind, slot, _ = sizes.table[action]
                if kind == PLAY:
                    colour, rank = divmod(int(arrays.cards[player, slot, lane]), sizes.ranks)
                    fits += [action] * 6 if arrays.fireworks[colour, lane] == rank else []
                else:
                    fits += [action] * (3 if kind == DISCARD else 1)
            legal = fits or legal
        return int(rng.choice(legal))


@cache
def _compiled(game_id: str) -> CompiledHanabi:
    env = make(game_id)

    def show(state: HanabiArrays) -> dict[str, Array]:
        outcome = env.outcome(state)
        shown = {"mask": env.legal_mask(state), "features": env.observe(state)[:, :, 0, 0], "over": env.is_over(state)}
        return {**shown, "total": outcome.total, "length": outcome.length}

    return CompiledHanabi(env, jax.jit(env.start), jax.jit(env.step), jax.jit(show))


def native_game(game_id: str) -> Any:
    """Returns OpenSpiel's game of a registered id."""
    return pyspiel.load_game(VARIANTS[game_id].engine)


def compare(game_id: str, games: int, seed: int) -> DifferentialReport:
    """Plays random games on both sides and compares them at every step; see `compare_in_batches`."""
    report = DifferentialReport()
    for report in compare_in_batches(game_id, games, seed):  # noqa: B007  # the last one
        pass
    return report


def compare_in_batches(game_id: str, games: int, seed: int, first: int = 0) -> Iterator[DifferentialReport]:
    """Plays random games on both sides, half of them by careful players, and yields the report after every batch.

    Args:
        game_id: e.g. `hanabi-2p`.
        games: how many; rounded up to whole batches.
        seed: of everything random.
        first: games before this one, rounded down to whole batches, are left out.

    Raises:
        GameError: no batched game has that id.
    """
    compiled = _compiled(game_id)
    report = DifferentialReport()
    native = native_game(game_id)
    for batch in range(first // BATCH, -(-games // BATCH)):
        keys = jax.random.split(root_key("differential", seed, batch), BATCH)
        decks = np.asarray(jax.vmap(lambda key: compiled.env.init(key).deck)(keys))
        rng = random.Random(f"differential/{seed}/{batch}")
        sides = [_Side(native, deck.tolist(), lane < CAREFUL * BATCH) for lane, deck in enumerate(decks)]
        _compare_lanes(compiled, sides, compiled.start(jnp.asarray(decks.T)), report, rng)
        yield report


def _compare_lanes(
    compiled: CompiledHanabi, sides: list[_Side], lanes: HanabiArrays, report: DifferentialReport, rng: random.Random
) -> None:
    env, _, step, show = compiled
    for _ in range(env.sizes.max_length + 1):
        shown = {name: np.asarray(array) for name, array in show(lanes).items()}
        arrays: HanabiArrays = jax.tree.map(np.asarray, lanes)
        actions = np.full((len(sides), env.num_players), env.sizes.no_op, np.int32)
        going = []
        for lane, side in enumerate(sides):
            _compare_state(env, side.state, {name: array[lane] for name, array in shown.items()}, report)
            if not side.state.is_terminal():
                actions[lane, side.state.current_player()] = side.choose(env.sizes, arrays, lane, rng)
                going.append(lane)
        if not going:
            break
        before = [side.state.returns() for side in sides]
        for lane in going:
            sides[lane].state.apply_action(int(actions[lane].min()))
            sides[lane].deal()
        lanes, paid = step(lanes, actions)
        report.steps += len(going)
        _compare_payments(sides, before, jax.tree.map(np.asarray, paid), report)
    report.games += len(sides)
    report.wins += sum(side.state.returns()[0] > 0 for side in sides)
    if not all(side.state.is_terminal() for side in sides):
        report.add(f"a game lasts more than {env.sizes.max_length} moves")


def _compare_state(env: HanabiEnv, state: Any, shown: dict[str, Any], report: DifferentialReport) -> None:
    mask = np.zeros((env.num_players, env.num_actions), bool)
    mask[:, env.sizes.no_op] = True
    player = state.current_player()
    if player != TERMINAL:
        mask[player] = False
        mask[player, state.legal_actions()] = True
    seen = [state.observation_tensor(observer) for observer in range(env.num_players)]
    expected = {
        "mask": mask,
        "features": np.array(seen, np.float32),
        "over": np.array(state.is_terminal()),
        "total": np.array(state.returns()[0], np.float32),
    }
    for name, array in expected.items():
        if not np.array_equal(shown[name], array):
            where = np.argwhere(shown[name] != array)[:3].tolist() if shown[name].shape == array.shape else ""
            report.add(f"{name} differs {where} in {state}")


def _compare_payments(sides: list[_Side], before: list[Any], paid: Any, report: DifferentialReport) -> None:
    for lane, (side, old) in enumerate(zip(sides, before, strict=True)):
        expected = [now - then for now, then in zip(side.state.returns(), old, strict=True)]
        found = {
            "reward": (paid.reward[lane].tolist(), expected),
            "done": (bool(paid.done[lane]), side.state.is_terminal()),
            "illegal": (bool(paid.info["illegal"][lane].any()), False),
        }
        for name, (got, wanted) in found.items():
            if got != wanted:
                report.add(f"{name} is {got}, not {wanted}, in {side.state}")
