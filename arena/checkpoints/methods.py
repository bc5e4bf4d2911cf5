"""The methods that policies are trained by: their names in options, checkpoints and tables, and their titles."""

from typing import Final

from games.batched import registry

TITLES: Final[dict[str, str]] = {
    "sp": "Self-Play IPPO",
    "he": "High-Entropy IPPO",
    **registry.symmetries(),  # kinds of Other-Play, each of the games that have its symmetries
    "obl": "Off-Belief Learning",
    "sa": "state-augmented Self-Play",
    "fcp": "Fictitious Co-Play",
}
RESPONSES: Final[dict[str, str]] = {
    "br": "Best Response",
    "klr": "Synchronous K-Level Reasoning",
    "sp-br": "Independent Self-Play",
}
"""Of games of simultaneous moves; the latter two are followed by a best response to all of their policies."""
OFF_BELIEF: Final = "obl"
LEVELS: Final = range(1, 6)
"""Of Off-Belief Learning; each is a policy of its own, e.g. `obl1`."""


def title_of(policy: str) -> str:
    """Returns the title of a policy without its seed, e.g. of `op-rot` or `obl1`."""
    levels = {f"{OFF_BELIEF}{level}": f"{TITLES[OFF_BELIEF]}, level {level}" for level in LEVELS}
    return {**TITLES, **RESPONSES, **levels}[policy]
