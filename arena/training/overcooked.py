"""How policies are trained on OvercookedV2: the settings of its paper (appendices A.2, C.1 and D), and smaller ones.

Where ours differ: minibatches are of whole sequences, also where a network has no memory; a partner of Fictitious
Co-Play is drawn for every game by itself; the members of its population are kept after a tenth and a half of their
training beside its end, which the paper leaves open; the last layers begin at a scale of 0.01, the critic's included.
"""

from dataclasses import replace
from typing import Any, Final

from games.posg.overcooked_v2 import layouts
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.config import PpoConfig

HALF: Final = 0.5
"""Share of the training after which there is no shaping any more, in every table of the paper."""

OLD: Final = frozenset({"cramped_room", "asymm_advantages", "coord_ring", "forced_coord", "counter_circuit"})
"""Layouts of Table 1, played without a memory: everything is seen."""
ROLLOUTS: Final = 10
"""Games of every ordered pair of state-augmented policies, by the experiments' code."""
OTHER_PLAY: Final = "op-ing"

OLD_NETWORK: Final = NetworkConfig(
    core="none",
    hidden=64,
    convolutions=((5, 32), (3, 32), (3, 32)),
    layer_norm=True,
    shared_layers=1,
    head_scale=0.01,
)
"""Appendix A.2."""
NETWORK: Final = NetworkConfig(
    hidden=128,
    convolutions=((1, 128), (1, 128), (1, 8), (3, 16), (3, 32), (3, 32)),
    layer_norm=True,
    extra_layers=1,
    head_scale=0.01,
)
"""Appendix C.1."""
SMALL_NETWORK: Final = NetworkConfig(
    core="gru", hidden=64, convolutions=((3, 16), (3, 16)), layer_norm=True, head_scale=0.01
)


def knows(game_id: str) -> bool:
    """Whether a game is a layout of OvercookedV2."""
    return game_id.split(",")[0] in layouts.BY_ID


def paper(method: str, game_id: str) -> tuple[NetworkConfig, PpoConfig, dict[str, Any]]:
    """Returns network, settings of PPO and fields of the recipe as in the paper: its Tables 3, 4, 5, 7, 9 and 11.

    Layouts that the paper does not train on are trained as its challenges are.
    """
    layout, _ = layouts.parse(game_id)
    network, ppo = _published(method, layout.name)
    return network, _more_entropy(ppo) if method == "he" else ppo, _own(method)


def _published(method: str, layout: str) -> tuple[NetworkConfig, PpoConfig]:
    shared: dict[str, Any] = {"steps": 256, "cosine": True, "warm_up_share": 0.05, "shaping_share": HALF}
    if layout in OLD:
        ppo = PpoConfig(10_000_000, 64, minibatches=16, learning_rate=4e-4, entropy=0.04, max_grad_norm=0.5, **shared)
        return OLD_NETWORK, ppo
    shared |= {"minibatches": 64, "max_grad_norm": 0.25}
    if layout == "cramped_room_v2" or layout.startswith("asymm_advantages_recipes"):
        steps = 10_000_000 if layout == "cramped_room_v2" else 20_000_000
        shared |= {"warm_up_share": 0.001}
        return NETWORK, PpoConfig(steps, 256, learning_rate=5e-4, entropy=0.01, **shared)
    if method == OTHER_PLAY:
        ppo = PpoConfig(50_000_000, 64, learning_rate=2.5e-4, entropy=0.02, **shared)
    elif method == "fcp":
        ppo = PpoConfig(30_000_000, 256, learning_rate=7e-4, entropy=0.04, gae_decay=0.9, **shared)
    else:
        ppo = PpoConfig(30_000_000, 256, learning_rate=2.5e-4, entropy=0.01, **shared)
    return NETWORK, ppo


def reduced(method: str, game_id: str) -> tuple[NetworkConfig, PpoConfig, dict[str, Any]]:
    """Returns settings for a processor; they claim nothing about the paper."""
    ppo = PpoConfig(
        total_steps=3_000_000,
        environments=64,
        steps=128,
        minibatches=8,
        learning_rate=1e-3,
        entropy=0.02,
        shaping_share=HALF,
        cosine=True,
        warm_up_share=0.05,
    )
    return SMALL_NETWORK, _more_entropy(ppo) if method == "he" else ppo, _own(method)


def _more_entropy(ppo: PpoConfig) -> PpoConfig:
    """Returns the settings of High-Entropy IPPO, which the paper does not train: those of Yōkai for two players."""
    return replace(ppo, entropy=0.07, gae_decay=0.85)


def _own(method: str) -> dict[str, Any]:
    return {"rollouts": ROLLOUTS, "untrained_start": True} if method == "sa" else {}
