"""How each baseline is trained: method, network and settings by name (the Yōkai Learning Environment paper).

Two scales: `paper` is that of the paper (section 6.1, Table 8 and what its Tables 2 to 6 changed); `reduced` is ours,
for the small game yokai-8c-2p or for machines without an accelerator, and claims nothing about the paper.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from arena.checkpoints.methods import LEVELS, TITLES
from games.batched.yokai.environment import parse_id
from games.yokai.config import BOARDS, config
from games.yokai.modalities import modalities
from games.yokai.tensors import channels
from search.learn.beliefs.belief_training import BeliefTrainingConfig
from search.learn.errors import LearnError
from search.learn.networks.belief import BeliefConfig
from search.learn.networks.config import GRAPHS, NetworkConfig
from search.learn.ppo.config import PpoConfig

Scale: TypeAlias = Literal["paper", "reduced"]

TWO: Final = 2
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

    def __post_init__(self) -> None:
        if self.exact_belief and self.method != "obl":
            raise RecipeError(f"the exact belief is of obl alone, the method is {self.method}: leave it out.")
        if self.population < 1:
            raise RecipeError(f"a population of {self.population} has nobody to play with: expected 1 or more.")
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
        return "memory" if self.memory else "default"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Recipe":
        """Builds a recipe; keys that a newer version wrote are left out."""
        known = {item.name for item in fields(cls)}
        kept = {key: value for key, value in data.items() if key in known}
        kept["network"] = NetworkConfig.from_json(kept["network"])
        kept["ppo"] = PpoConfig.from_json(kept["ppo"])
        return cls(**kept)


def recipe(game: str, method: str, scale: str = "paper", memory: bool = True, level: int = 1) -> Recipe:
    """Returns the settings of a method.

    Raises:
        RecipeError: there is no such method, scale or level.
        GameError: there is no such batched game.
    """
    for value, known, what in ((method, tuple(TITLES), "method"), (scale, get_args(Scale), "scale")):
        if value not in known:
            raise RecipeError(f"There is no {what} {value!r}: choose one of {', '.join(known)}.")
    if level not in LEVELS:
        raise RecipeError(f"Off-Belief Learning has the levels 1 to 5, not {level}.")
    players = parse_id(game)[1]
    network, ppo = _paper(method, players) if scale == "paper" else _reduced(method, game)
    made = Recipe(game, method, scale, memory, network, ppo, level)  # type: ignore[arg-type]
    return _off_belief(made) if method == "obl" else made


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
    layers: dict[str, Any] = _pointing(made.game) if pointing else {}
    if network.get("encoder") in GRAPHS:
        of_game = modalities(config(*parse_id(made.game)))
        layers |= {"modalities": of_game, "layers": 4 if network["encoder"] == "relation" else 2}
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


def _reduced(method: str, game: str) -> tuple[NetworkConfig, PpoConfig]:
    """Returns settings that two processor cores can train; found by a few trials on yokai-8c-2p."""
    sizes = config(*parse_id(game))
    network = NetworkConfig(encoder="slots", filters=64, layers=2, hidden=64, **_pointing(game))
    ppo = PpoConfig(
        total_steps=1_500_000 if sizes.cards == min(BOARDS) else 2_500_000,
        environments=128,
        steps=sizes.max_length,
        minibatches=8,
        learning_rate=1.2e-3,
        value_clip=None,
        entropy=0.015,
        shaping_share=0.4,
    )
    if method == "he":
        ppo = replace(ppo, entropy=0.03, gae_decay=0.85)
    return network, ppo


def _pointing(game: str) -> dict[str, Any]:
    """Returns the settings of a network whose actions point at cards, hints and cells (`games.yokai.tensors`)."""
    sizes = config(*parse_id(game))
    return {
        "objects": (sizes.cards, channels(sizes).identity, 1),
        "actions": ("plain", "objects", "objects at cells", "items", "items at cells", "plain"),
        "items": sizes.hints,
    }


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


def _off_belief(made: Recipe) -> Recipe:
    """Returns the recipe with the public-private network that Off-Belief Learning rolls on with, and its λ."""
    colours = config(*parse_id(made.game)).colours
    network = replace(made.network, public_private=True, private_channels=len(colours))
    return replace(made, network=network, fictitious_decay=made.ppo.gae_decay)
