"""Settings of proximal policy optimisation: plain data that is stored with every checkpoint."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from search.learn.added_fields import without_defaults
from search.learn.errors import PpoConfigError
from search.learn.ranges import is_number, is_positive, is_whole

ADDED: Final = ("warm_up_share", "cosine", "bptt_steps")
"""Fields that older checkpoints do not have: told where they are not at their defaults alone."""


@dataclass(frozen=True)
class PpoConfig:
    """Recurrent PPO; the defaults are those of the Yōkai Learning Environment paper (Table 8).

    Attributes:
        total_steps: environment steps of the whole training; annealing ends with them.
        environments: games at once, E.
        steps: steps of every game between updates, T.
        epochs: passes over the steps of an update.
        minibatches: parts of a pass; sequences are not cut, lanes are shared out.
        accumulate: pieces in which the gradient of a minibatch is summed up, to save memory; they change nothing
            but rounding.
        learning_rate: of Adam.
        anneal_learning_rate: let it fall linearly to 0.
        adam_epsilon: of Adam.
        max_grad_norm: gradients of a larger norm are scaled down to it.
        discount: γ.
        gae_decay: λ.
        clip: of the probability ratio.
        value_clip: of the value's change; None for none.
        value_coefficient: of the value loss.
        entropy: α, coefficient of the entropy.
        entropy_end: where α falls linearly to; None to keep it.
        shaping: coefficient of the shaping reward at the start; it falls linearly to 0.
        shaping_share: share of the training after which it is 0.
        warm_up_share: share of the training in which the learning rate rises linearly from 0.
        cosine: let it fall to 0 along a cosine instead of linearly; with `anneal_learning_rate`.
        bptt_steps: steps that a gradient goes back in time, a divisor of `steps`: sequences are cut into pieces of so
            many, each read from the memory that the game was played with, and pieces are shared out over minibatches;
            0: they are not cut.
    """

    total_steps: int = 1_000_000_000
    environments: int = 1024
    steps: int = 128
    epochs: int = 4
    minibatches: int = 4
    accumulate: int = 1
    learning_rate: float = 3e-4
    anneal_learning_rate: bool = True
    adam_epsilon: float = 1e-5
    max_grad_norm: float = 0.5
    discount: float = 0.99
    gae_decay: float = 0.95
    clip: float = 0.2
    value_clip: float | None = 0.2
    value_coefficient: float = 0.5
    entropy: float = 0.01
    entropy_end: float | None = None
    shaping: float = 1.0
    shaping_share: float = 1.0
    warm_up_share: float = 0.0
    cosine: bool = False
    bptt_steps: int = 0

    def __post_init__(self) -> None:
        for name in ("total_steps", "environments", "steps", "epochs", "minibatches", "accumulate"):
            if not is_whole(getattr(self, name), 1):
                raise PpoConfigError(f"{name} is {getattr(self, name)}: expected a whole number from 1 on.")
        if not is_whole(self.bptt_steps, 0) or (self.bptt_steps and self.steps % self.bptt_steps):
            raise PpoConfigError(
                f"bptt_steps is {self.bptt_steps}: expected a divisor of the {self.steps} steps of a rollout, or 0."
            )
        self._check_numbers()
        if self.total_steps < self.steps_per_update:
            raise PpoConfigError(
                f"total_steps is {self.total_steps}, less than one update of {self.environments} environments × "
                f"{self.steps} steps: train longer, or take fewer of them."
            )

    def _check_numbers(self) -> None:
        if self.cosine and not self.anneal_learning_rate:
            raise PpoConfigError(
                "cosine says how the learning rate falls, but anneal_learning_rate is off: leave it out."
            )
        for name in ("discount", "gae_decay", "shaping_share", "warm_up_share"):
            if not is_number(getattr(self, name), 0, 1):
                raise PpoConfigError(f"{name} is {getattr(self, name)}: expected a number from 0 to 1.")
        for name in ("adam_epsilon", "value_coefficient", "entropy", "entropy_end", "shaping"):
            value = getattr(self, name)
            if not is_number(value, 0) and not (name == "entropy_end" and value is None):
                raise PpoConfigError(f"{name} is {value}: expected a number from 0 on.")
        if self.value_clip is not None and not is_positive(self.value_clip):
            raise PpoConfigError(f"value_clip is {self.value_clip}: expected a number above 0, or none.")
        for name in ("learning_rate", "clip", "max_grad_norm"):
            if not is_positive(getattr(self, name)):
                raise PpoConfigError(f"{name} is {getattr(self, name)}: expected a number above 0.")

    @property
    def steps_per_update(self) -> int:
        """Environment steps between two updates."""
        return self.environments * self.steps

    @property
    def updates(self) -> int:
        """Updates of the whole training, of whole rollouts alone."""
        return self.total_steps // self.steps_per_update

    @property
    def pieces(self) -> int:
        """Sequences that a lane's steps between two updates are cut into."""
        return self.steps // self.bptt_steps if self.bptt_steps else 1

    def check_lanes(self, lanes: int, shares: int = 1) -> None:
        """Refuses lanes that cannot be shared out.

        Args:
            lanes: in all.
            shares: see `ppo.update`; each of these equal parts must fall into minibatches by itself.

        Raises:
            PpoConfigError: minibatches times pieces do not divide a share.
        """
        if lanes % (shares * self.minibatches * self.accumulate):
            each, fewer = (
                (f" in each of {shares} shares (one a device)", ", or fewer devices") if shares > 1 else ("", "")
            )
            cut = ", times the pieces of bptt_steps" if self.bptt_steps else ""
            raise PpoConfigError(
                f"{lanes} sequences (environments, times the players who learn at once{cut}) cannot be shared out over "
                f"{self.minibatches} minibatches of {self.accumulate} pieces{each}: choose numbers that divide{fewer}."
            )

    def to_json(self) -> dict[str, Any]:
        return without_defaults(self, asdict(self), ADDED)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "PpoConfig":
        """Builds a configuration; keys that a newer version wrote are left out."""
        known = {item.name for item in fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in known})
