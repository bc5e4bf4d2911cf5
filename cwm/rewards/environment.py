"""An environment for the library `verifiers` (extra `train`): single turns from `cwm turns export --as rlvr`."""

import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from cwm.rewards import functions

REWARDS: Final[dict[str, Callable[..., Sequence[float | None]]]] = {
    "rating": functions.rating_reward,
    "regret": functions.regret_reward,
    "deduction": functions.deduction_reward,
    "format": functions.format_reward,
}
"""Every reward by its name."""


def load_environment(path: str, rewards: Sequence[str] = ("rating",), weights: Sequence[float] | None = None) -> Any:
    """Returns a single-turn environment of `verifiers`, whose interface is the one before its version 0.2.

    Args:
        path: a file of JSON lines, as `cwm turns export --as rlvr` writes them.
        rewards: names from `REWARDS`.
        weights: of each; None for 1.

    Raises:
        ValueError: there is no such reward, or the numbers of rewards and weights differ.
        OSError: the file cannot be read.
    """
    unknown = [name for name in rewards if name not in REWARDS]
    if unknown:
        raise ValueError(f"there is no reward {unknown[0]!r}; there are {', '.join(REWARDS)}.")
    if weights is not None and len(weights) != len(rewards):
        raise ValueError(f"{len(weights)} weights were given for {len(rewards)} rewards.")
    verifiers, datasets = importlib.import_module("verifiers"), importlib.import_module("datasets")
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    rubric = verifiers.Rubric(
        funcs=[_one(REWARDS[name], name) for name in rewards], weights=list(weights or [1.0] * len(rewards))
    )
    # Its `info` is an object, and holds the text as the other trainers have it.
    kept = [
        {
            "prompt": row["prompt"],
            "answer": row["answer"],
            "info": {"row": row["info"]},
            "example_id": row["example_id"],
        }
        for row in rows
    ]
    return verifiers.SingleTurnEnv(dataset=datasets.Dataset.from_list(kept), rubric=rubric)


def _one(reward: Callable[..., Sequence[float | None]], name: str) -> Callable[..., float]:
    """Returns a reward of one answer, as this library calls it."""

    def single(completion: Any, info: dict[str, Any], **columns: Any) -> float:
        said = [{"role": "assistant", "content": _content(completion)}]
        return reward([said], [info["row"]])[0] or 0.0

    single.__name__ = f"{name}_reward"
    return single


def _content(completion: Any) -> str:
    """Returns the text of an answer: messages of this library are objects or mappings."""
    if isinstance(completion, str):
        return completion
    last = completion[-1] if completion else {}
    found = last.get("content") if isinstance(last, dict) else getattr(last, "content", None)
    return found if isinstance(found, str) else ""
