"""An environment as others write them, without their packages."""

from types import SimpleNamespace
from typing import Any

import numpy as np


class Discrete:
    def __init__(self, n: int) -> None:
        self.n = n

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Discrete) and other.n == self.n

    def __repr__(self) -> str:
        return f"Discrete({self.n})"


class Dice:
    """A parallel environment: `b` leaves after its second step, `a` after its third; both are told a die."""

    metadata = {"name": "dice"}  # noqa: RUF012

    def __init__(self, *, rolls: bool = True) -> None:
        self.possible_agents = ["a", "b"]
        self.agents: list[str] = []
        self.inner = SimpleNamespace(rng=np.random.default_rng(0))  # environments are wrapped
        self.rolls, self.time = rolls, 0

    def action_space(self, agent: str) -> Any:
        return Discrete(3)

    def reset(self, seed: int | None = None) -> Any:
        self.inner.rng, self.time = np.random.default_rng(seed), 0
        self.agents = list(self.possible_agents)
        return self.told(self.agents), {}

    def told(self, agents: list[str]) -> dict[str, Any]:
        die = int(self.inner.rng.integers(6)) if self.rolls else 0
        return {name: {"seen": np.array([die, self.time]), "action_mask": np.array([1, 1, 0])} for name in agents}

    def step(self, actions: dict[str, int]) -> Any:
        acted = self.agents
        self.time += 1
        ended = {name: self.time >= (3 if name == "a" else 2) for name in acted}
        self.agents = [name for name in acted if not ended[name]]
        paid = {name: float(actions[name]) for name in acted}
        return self.told(acted), paid, ended, dict.fromkeys(acted, False), {}
