"""Whole games played side by side on batched rules and on the reference, with the same chance, everything compared.

Half of the games are played at random, half by the hand-written policies, whose batched twins are compared at every
decision of theirs.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from games.api import State
from games.batched.api import Array, Outcome, lane
from games.batched.differential import DifferentialReport
from games.batched.posg.chance import BITS, answering
from games.batched.posg.environment import SimultaneousEnv, SimultaneousState
from games.batched.posg.game import partners, rules
from games.batched.posg.policies import BatchedPartner
from games.posg import registry
from games.posg.api import ReportsEnd
from games.posg.policies import PosgPolicy

BATCH: Final = 100
"""Games that run side by side."""
AT_RANDOM: Final = 0.5
"""Share of the games that are played at random."""
TOLERANCE: Final = 1e-5
"""Of payments and probabilities, which are float32 here and float64 in the reference."""

FIGURE: Final = "figure "

Told: TypeAlias = dict[str, Any]
"""What the batched side shows of one game, by name."""


class CompiledSides(NamedTuple):
    """Batched rules and policies, those of the reference, and what starts, shows and steps the batched ones."""

    env: SimultaneousEnv
    twins: Mapping[str, BatchedPartner]
    known: Mapping[str, PosgPolicy]
    start: Any
    show: Any
    step: Any


class _Game:
    """One game on the reference's side, and who plays it."""

    def __init__(self, compiled: CompiledSides, names: Sequence[str | None], bits: Sequence[int]) -> None:
        """Args:
        compiled: both sides.
        names: of the policies by agent; None: at random.
        bits: of the start's draws.
        """
        self.rules, self.names = compiled.env.rules, names
        self.model: Any = self.rules.model
        self.policies = [None if name is None else compiled.known[name] for name in names]
        choose = answering(self.rules.start_draws, bits)
        self.state: State = self.model.initial_state(choose)
        self.told = self.model.observe(self.state, None, choose)
        self.active = self.model.active(self.state)
        self.returns, self.steps = [0.0] * len(names), 0
        self.memories = [
            None if policy is None else policy.update(policy.start(agent), None, self.told[agent])
            for agent, policy in enumerate(self.policies)
        ]

    def choose(self, rng: random.Random) -> list[int]:
        """Returns what the agents do, by number; 0 for those for whom the game is over."""
        actions = [0] * len(self.names)
        for agent in self.active:
            names, policy = self.rules.info.actions[agent], self.policies[agent]
            actions[agent] = (
                rng.randrange(len(names)) if policy is None else names.index(policy.act(self.memories[agent], rng))
            )
        return actions

    def play(self, actions: Sequence[int], bits: Sequence[int]) -> Sequence[float]:
        """Plays a step, and returns what it paid."""
        choose = answering(self.rules.step_draws, bits)
        joint = tuple(names[action] for names, action in zip(self.rules.info.actions, actions, strict=True))
        self.state, paid, _ = self.model.move(self.state, joint, choose)
        self.told = self.model.observe(self.state, joint, choose)
        for agent in self.active:
            policy = self.policies[agent]
            if policy is not None:
                self.memories[agent] = policy.update(self.memories[agent], joint[agent], self.told[agent])
        self.active = self.model.active(self.state)
        self.returns = [before + more for before, more in zip(self.returns, paid, strict=True)]
        self.steps += 1
        return list(paid)

    def shown(self) -> dict[str, Any]:
        """Returns what the batched side has to show."""
        info = self.rules.info
        vectors = np.zeros((info.num_agents, self.rules.width), np.float32)
        mask = np.zeros((info.num_agents, len(info.actions[0])), bool)
        mask[:, 0] = True
        for agent, told in enumerate(self.told):
            if told is not None:
                vectors[agent] = self.model.encode(agent, told)
            if agent in self.active:
                mask[agent] = True
        return {"vectors": vectors, "mask": mask, "over": np.array(not self.active)}

    def figures(self) -> dict[str, float]:
        """Returns the total, and, where the reference says how games end, the share of the agents by ending."""
        alike = self.rules.info.utility == "identical"
        told = {"total": self.returns[0] if alike else sum(self.returns) / len(self.returns)}
        if not alike:
            told |= {
                f"{FIGURE}return {name}": own
                for name, own in zip(self.rules.info.agent_names, self.returns, strict=True)
            }
        if isinstance(self.model, ReportsEnd):
            endings = list(self.model.ending(self.state).values())
            told |= {FIGURE + name: endings.count(name) / len(endings) for name in self.rules.endings}
        return told


@cache
def _compiled(game_id: str) -> CompiledSides:
    env, twins = SimultaneousEnv(rules(game_id)), partners(game_id)

    def show(state: SimultaneousState, memories: dict[str, Any]) -> tuple[dict[str, Array], dict[str, Any], Any]:
        seen = env.observe(state)
        lanes = seen.reshape(-1, env.rules.width)
        after, chances = {}, {}
        for name, twin in twins.items():
            after[name], likely = twin.chances(memories[name], lanes)
            chances[name] = likely.reshape(*seen.shape[:2], -1)
        shown = {"vectors": seen[:, :, 0, 0], "mask": env.legal_mask(state), "over": env.is_over(state)}
        return {**shown, **_totals(env.outcome(state))}, after, chances

    def step(state: SimultaneousState, memories: dict[str, Any], actions: Array, bits: Array) -> Any:
        remembered = {name: twin.acted(memories[name], actions.reshape(-1)) for name, twin in twins.items()}
        return *env.step_drawn(state, actions, bits), remembered

    known = registry.policies(game_id, env.rules.model)
    return CompiledSides(env, twins, known, jax.jit(env.start), jax.jit(show), jax.jit(step))


def _totals(outcome: Outcome) -> dict[str, Array]:
    return {"total": outcome.total, **{f"{FIGURE}{name}": value for name, value in outcome.figures.items()}}


def compare(game_id: str, games: int, seed: int) -> DifferentialReport:
    """Plays games on both sides and compares them at every step; see `compare_in_batches`."""
    return [DifferentialReport(), *compare_in_batches(game_id, games, seed)][-1]


def compare_in_batches(game_id: str, games: int, seed: int, first: int = 0) -> Iterator[DifferentialReport]:
    """Plays games on both sides and yields the report after every batch, one that grows.

    Args:
        game_id: e.g. `driving`.
        games: how many; rounded up to whole batches.
        seed: of everything random; a batch depends on it and on its own number alone.
        first: games before this one, rounded down to whole batches, are left out.

    Raises:
        GameError: no batched game of simultaneous moves has that id.
    """
    compiled = _compiled(game_id)
    batched, names = compiled.env.rules, list(compiled.twins)
    report = DifferentialReport()
    for batch in range(first // BATCH, -(-games // BATCH)):
        rng = random.Random(f"differential/{seed}/{batch}")
        bits = _bits(rng, len(batched.start_draws))
        sides = []
        for number in range(BATCH):
            is_random = not names or number < AT_RANDOM * BATCH
            seats = [None if is_random else rng.choice(names) for _ in batched.info.agent_names]
            sides.append(_Game(compiled, seats, bits[:, number].tolist()))
        _compare_lanes(compiled, sides, compiled.start(bits), report, rng)
        yield report


def _bits(rng: random.Random, draws: int) -> Any:
    """Returns the bits of so many draws in every lane, uint32 [draws, BATCH]."""
    drawn = [[rng.getrandbits(BITS) for _ in range(BATCH)] for _ in range(draws)]
    return np.array(drawn, np.uint32).reshape(draws, BATCH)


def _compare_lanes(
    compiled: CompiledSides,
    sides: list[_Game],
    state: SimultaneousState,
    report: DifferentialReport,
    rng: random.Random,
) -> None:
    env = compiled.env
    memories: Any = {name: twin.initial(BATCH * env.num_players) for name, twin in compiled.twins.items()}
    limit = env.rules.info.step_limit or 0
    for step in range(limit + 1):
        shown, memories, chances = compiled.show(state, memories)
        shown, chances, host = jax.tree.map(np.asarray, (shown, chances, state))
        for number, side in enumerate(sides):
            if side.steps == step:
                _compare_state(
                    side, lane(host, number), {name: values[number] for name, values in shown.items()}, report
                )
                _compare_chances(side, {name: likely[number] for name, likely in chances.items()}, report)
        if step == limit or not any(side.active for side in sides):
            break
        bits = _bits(rng, len(env.rules.step_draws))
        actions = np.array([side.choose(rng) for side in sides], np.int32)
        state, paid, memories = compiled.step(state, memories, jnp.asarray(actions), jnp.asarray(bits))
        paid = jax.tree.map(np.asarray, paid)
        for number, side in enumerate(sides):
            if side.active:
                wanted = side.play(actions[number].tolist(), bits[:, number].tolist())
                _compare_payment(side, jax.tree.map(lambda leaf, at=number: leaf[at], paid), wanted, report)
                report.steps += 1
    report.games += len(sides)
    report.wins += sum(any(side.returns) for side in sides)


def _compare_state(side: _Game, own: SimultaneousState, shown: Told, report: DifferentialReport) -> None:
    found, expected = side.rules.described(own.game), side.state
    if found != expected:
        report.add(f"the state is {found}, not {expected}")
    for name, array in side.shown().items():
        if not np.array_equal(shown[name], array):
            where = np.argwhere(shown[name] != array)[:3].tolist() if shown[name].shape == array.shape else ""
            report.add(f"{name} differs {where} in {expected}")
    if int(own.length) != side.steps:
        report.add(f"the length is {int(own.length)}, not {side.steps}")
    for name, value in side.figures().items():
        if abs(float(shown[name]) - value) > TOLERANCE:
            report.add(f"{name} is {float(shown[name])}, not {value}, in {expected}")


def _compare_chances(side: _Game, chances: Told, report: DifferentialReport) -> None:
    for agent in side.active:
        policy, name = side.policies[agent], side.names[agent]
        if policy is None or name is None:
            continue
        expected = policy.probabilities(side.memories[agent], side.rules.info.actions[agent])
        if not np.allclose(chances[name][agent], expected, rtol=0.0, atol=TOLERANCE):
            told = f"{name} of agent {agent} has {chances[name][agent].tolist()}, not {list(expected)}"
            report.add(f"{told}, in {side.state}")


def _compare_payment(side: _Game, paid: Any, wanted: Sequence[float], report: DifferentialReport) -> None:
    if not np.allclose(paid.reward, wanted, rtol=0.0, atol=TOLERANCE):
        report.add(f"the reward is {paid.reward.tolist()}, not {list(wanted)}, in {side.state}")
    if bool(paid.done) == bool(side.active) or paid.info["illegal"].any():
        report.add(f"done and illegal are {bool(paid.done)} and {paid.info['illegal'].tolist()}, in {side.state}")
