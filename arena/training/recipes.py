"""How each baseline is trained: method, network and settings by name (the Yōkai Learning Environment paper).

Two scales: `paper` is that of the paper (section 6.1, Table 8 and what its Tables 2 to 6 changed; of OvercookedV2, its
own: `arena.training.overcooked`); `reduced` is ours, for small games or for machines without an accelerator, and claims
nothing about the paper.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from arena.checkpoints.methods import LEVELS, OFF_BELIEF, TITLES
from arena.training import overcooked
from games.api import DEFAULT_VIEW
from games.batched import registry
from games.batched.api import Means
from games.batched.game import BatchedGame
from search.learn.added_fields import without_defaults
from search.learn.beliefs.belief_training import BeliefTrainingConfig
from search.learn.errors import LearnError
from search.learn.networks.belief import BeliefConfig
from search.learn.networks.config import GRAPHS, NetworkConfig
from search.learn.ppo.config import PpoConfig

Scale: TypeAlias = Literal["paper", "reduced"]

TWO: Final = 2
ADDED: Final = ("rollouts", "untrained_start", "partners", "levels", "seat")
"""Fields that older trainings do not have: told where they are not at their defaults alone."""
COUNTED: Final = 1 << 31
"""Updates and steps of the optimiser are counted in 32 bits."""
TRANSFORMER_WIDTH: Final = 64
"""Of the Transformer-XL in the paper's appendix D.2."""


class RecipeError(LearnError):
    """There is no such recipe; the message says which there are."""


@dataclass(frozen=True)
class Recipe:
    """One training.

    Attributes:
        game: registry id of a batched game.
        method: what is trained for; `arena.checkpoints.methods` has their titles.
        scale: whose settings they are.
        memory: whether observations help the memory (the paper's perfect-memory setting).
        network: the network.
        ppo: settings of PPO.
        level: of Off-Belief Learning, 1 to 5.
        exact_belief: level 1 of Off-Belief Learning draws from the exact belief about random players.
        population: self-play policies that an agent of Fictitious Co-Play is trained with, each at three ages.
        fictitious_decay: λ of the fictitious games of Off-Belief Learning, 0 for other methods.
        rollouts: games of every ordered pair of state-augmented policies at the start of an iteration.
        untrained_start: state-augmented policies begin their first iteration where untrained ones come to.
        partners: of a best response: names of hand-written policies of the game, and folders of trained ones.
        levels: of k-level reasoning, the random one not counted; 0 for other methods.
        seat: of a best response in a game whose agents differ: the learner's agent; None: drawn for every game.
    """

    game: str
    method: str
    scale: Scale
    memory: bool
    network: NetworkConfig
    ppo: PpoConfig
    level: int = 1
    exact_belief: bool = False
    population: int = 8
    fictitious_decay: float = 0.0
    rollouts: int = 32
    untrained_start: bool = False
    partners: tuple[str, ...] = ()
    levels: int = 0
    seat: int | None = None

    def __post_init__(self) -> None:
        if self.exact_belief and self.method != "obl":
            raise RecipeError(f"the exact belief is of obl alone, the method is {self.method}: leave it out.")
        if self.population < 1:
            raise RecipeError(f"a population of {self.population} has nobody to play with: expected 1 or more.")
        if self.rollouts < 1:
            raise RecipeError(f"rollouts is {self.rollouts}: expected 1 or more games of every pair.")
        steps = self.ppo.updates * self.ppo.epochs * self.ppo.minibatches
        if steps >= COUNTED:
            raise RecipeError(
                f"{self.ppo.total_steps:,} environment steps are {steps:,} of the optimiser, more than it counts "
                f"({COUNTED:,}): train for fewer steps, or in more environments."
            )

    @property
    def name(self) -> str:
        """What the policy is called, without its seed, e.g. `op-rot` or `obl1`."""
        return f"obl{self.level}" if self.method == "obl" else self.method

    @property
    def view(self) -> str:
        """The view of the game that the policy is trained on."""
        return registry.MEMORY if self.memory else DEFAULT_VIEW

    @property
    def means(self) -> Means | None:
        """Metrics over finished games that are told while it trains; None: the mean of every figure."""
        return registry.make(self.game).means

    def to_json(self) -> dict[str, Any]:
        told = asdict(self) | {"network": self.network.to_json(), "ppo": self.ppo.to_json()}
        return without_defaults(self, told, ADDED)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Recipe":
        """Builds a recipe; keys that a newer version wrote are left out."""
        known = {item.name for item in fields(cls)}
        kept = {key: value for key, value in data.items() if key in known}
        kept["network"] = NetworkConfig.from_json(kept["network"])
        kept["ppo"] = PpoConfig.from_json(kept["ppo"])
        kept["partners"] = tuple(kept.get("partners", ()))
        return cls(**kept)


def recipe(game: str, method: str, scale: str = "paper", memory: bool = True, level: int = 1) -> Recipe:
    """Returns the settings of a method.

    Raises:
        RecipeError: there is no such method, scale or level, or the game has no such symmetries or view.
        GameError: there is no such batched game.
    """
    for value, known, what in ((method, tuple(TITLES), "method"), (scale, get_args(Scale), "scale")):
        if value not in known:
            raise RecipeError(f"There is no {what} {value!r}: choose one of {', '.join(known)}.")
    if level not in LEVELS:
        raise RecipeError(f"Off-Belief Learning has the levels 1 to 5, not {level}.")
    batched = registry.make(game)
    _check_offers(batched, method, memory)
    if method == OFF_BELIEF and batched.hidden is None:
        raise RecipeError(f"{game} does not say what is hidden in it, which obl believes in: choose another method.")
    own: dict[str, Any] = {}
    if overcooked.knows(batched.id):
        network, ppo, own = (overcooked.paper if scale == "paper" else overcooked.reduced)(method, batched.id)
    else:
        network, ppo = _paper(method, batched.num_players) if scale == "paper" else _reduced(method, batched)
    made = Recipe(batched.id, method, scale, memory, network, ppo, level, **own)  # type: ignore[arg-type]
    return _off_belief(made, batched) if method == "obl" else made


def _check_offers(game: BatchedGame, method: str, memory: bool) -> None:
    """Refuses a kind of Other-Play or a view that the game does not have."""
    entry = registry.describe(game.id)
    if method in registry.symmetries() and method not in entry.symmetries:
        believes = game.hidden is not None
        known = [name for name in _methods_of(entry) if believes or name != OFF_BELIEF]
        raise RecipeError(f"{game.id} has no symmetries for {method}: choose one of {', '.join(known)}.")
    if memory and registry.MEMORY not in entry.views:
        raise RecipeError(f"{game.id} has no view that helps the memory: ask for its {DEFAULT_VIEW} view.")


def _methods_of(entry: registry.BatchedEntry) -> list[str]:
    """Returns the methods by which a game can be trained."""
    return [name for name in TITLES if name in entry.symmetries or name not in registry.symmetries()]


def adapted(
    made: Recipe, network: Mapping[str, Any], ppo: Mapping[str, Any], pointing: bool = False, **own: Any
) -> Recipe:
    """Returns a recipe with other settings, by name; networks on graphs get what they need to know of the game.

    Args:
        made: the recipe.
        network: settings of the network.
        ppo: settings of PPO.
        pointing: whether the actor is to score actions by what they point at, as at the reduced scale.
        own: fields of the recipe itself, e.g. `population`.

    Raises:
        LearnError: a setting is out of range.
    """
    facts = registry.make(made.game).network
    layers: dict[str, Any] = dict(facts.pointing) if pointing else {}
    if network.get("encoder", "cnn") != "cnn":
        layers["convolutions"] = ()
    if network.get("encoder") in GRAPHS:
        layers |= {"modalities": facts.modalities, "layers": 4 if network["encoder"] == "relation" else 2}
        if not pointing:
            layers["actions"] = ()
    if network.get("core") == "transformer_xl":
        layers["hidden"] = TRANSFORMER_WIDTH
    return replace(made, network=replace(made.network, **{**layers, **network}), ppo=replace(made.ppo, **ppo), **own)


def _paper(method: str, players: int) -> tuple[NetworkConfig, PpoConfig]:
    """Returns Table 8 with the coefficients that section 6.2 names."""
    ppo = PpoConfig(entropy=0.05 if players == TWO else 0.01)
    if method == "he":
        # With three and four players the paper sweeps α from 0.01 to 0.07; its tables show the collapse beyond 0.01.
        ppo = replace(ppo, entropy=0.07 if players == TWO else 0.01, gae_decay=0.85)
    if method == "obl":
        ppo = replace(ppo, environments=256)
    return NetworkConfig(), ppo


def _reduced(method: str, game: BatchedGame) -> tuple[NetworkConfig, PpoConfig]:
    """Returns settings that two processor cores can train; found by a few trials on a small game."""
    pointing = game.network.pointing
    network = NetworkConfig(encoder="slots" if pointing else "mlp", filters=64, layers=2, hidden=64, **pointing)
    return network, reduced_ppo(method, game.reduced_steps, game.max_length)


def reduced_ppo(method: str, total_steps: int, steps: int, environments: int = 128) -> PpoConfig:
    """Returns settings of PPO that two processor cores can train.

    Args:
        method: what is trained for.
        total_steps: environment steps of the whole training.
        steps: of every game between updates.
        environments: games at once.
    """
    ppo = PpoConfig(
        total_steps=total_steps,
        environments=environments,
        steps=steps,
        minibatches=8,
        learning_rate=1.2e-3,
        value_clip=None,
        entropy=0.015,
        shaping_share=0.4,
    )
    return replace(ppo, entropy=0.03, gae_decay=0.85) if method == "he" else ppo


def belief_settings(made: Recipe) -> tuple[BeliefConfig, BeliefTrainingConfig]:
    """Returns how the beliefs of Off-Belief Learning are trained: on as many games at once as the policies.

    The paper does not say how long; ours are trained as long as a policy, at most 50,000,000 steps, and half as long
    at the reduced scale.
    """
    sizes = {name: getattr(made.ppo, name) for name in ("environments", "steps", "minibatches")}
    if made.scale == "paper":
        steps = min(BeliefTrainingConfig().total_steps, made.ppo.total_steps)
        return BeliefConfig(), BeliefTrainingConfig(total_steps=steps, **sizes)
    steps = max(made.ppo.total_steps // 2, made.ppo.steps_per_update)
    training = BeliefTrainingConfig(total_steps=steps, learning_rate=2e-3, max_grad_norm=1.0, **sizes)
    return BeliefConfig("mlp", filters=64, layers=1, hidden=64), training


def _off_belief(made: Recipe, game: BatchedGame) -> Recipe:
    """Returns the recipe with the public-private network that Off-Belief Learning rolls on with, and its λ."""
    network = replace(made.network, public_private=True, private_channels=game.network.private_channels)
    return replace(made, network=network, fictitious_decay=made.ppo.gae_decay)
