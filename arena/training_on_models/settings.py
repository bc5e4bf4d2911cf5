"""What an agent that learns on a model is trained with; the defaults are those of the CWM paper (appendix D.1)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from arena.usage import UsageError
from cwm.storage.settings import known_fields
from search.learn.ppo.config import PpoConfig

PAPER_STEPS: Final = 10_000_000
MINIBATCHES: Final = 10
EPOCHS: Final = 4


@dataclass(frozen=True)
class PpoSettings:
    """One training of all seats and seeds.

    Attributes:
        steps: agent steps (decisions of the learner) of each seed.
        seeds: agents that are trained for each seat; the best is kept.
        environments: games side by side, a multiple of the ten minibatches.
        horizon: agent steps of each game between two updates.
        hidden: width of the network's layers.
        evaluation_games: against random players on the model, to find the best.
        explored_games: by chance, from which actions and the schema of observations are taken.
        explored_observations: no further of these games is begun after so many.
        max_actions: of one game, chance's included; then it is cut.
        stored_vectors: whether observations become vectors as the model's bundle says, not by a schema inferred anew.
    """

    steps: int = PAPER_STEPS
    seeds: int = 5
    environments: int = 50
    horizon: int = 100
    hidden: int = 256
    evaluation_games: int = 1000
    explored_games: int = 2000
    explored_observations: int = 6000
    max_actions: int = 2000
    stored_vectors: bool = False

    def __post_init__(self) -> None:
        least = self.environments * self.horizon
        if self.steps < least:
            raise UsageError(f"{self.steps} steps are less than one update: give at least {least}.")
        if self.environments % MINIBATCHES:
            raise UsageError(f"{self.environments} games cannot be shared out over {MINIBATCHES} minibatches.")

    def ppo(self) -> PpoConfig:
        """Returns the learner's settings (Table 17)."""
        return PpoConfig(
            total_steps=self.steps,
            environments=self.environments,
            steps=self.horizon,
            epochs=EPOCHS,
            minibatches=MINIBATCHES,
            learning_rate=3e-4,
            anneal_learning_rate=False,
            max_grad_norm=0.5,
            discount=0.99,
            gae_decay=0.95,
            clip=0.2,
            value_coefficient=0.5,
            entropy=0.1,
            entropy_end=0.01,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PpoSettings":
        """Builds settings; keys that a newer version wrote are passed over."""
        return cls(**known_fields(cls, data))
