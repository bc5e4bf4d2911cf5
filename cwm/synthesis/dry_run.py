"""What a synthesis would begin with: its first prompt, the size of it, and what it would cost."""

from dataclasses import dataclass

from cwm.llm.api import Message, Request
from cwm.llm.budget import Price
from cwm.llm.tokens import estimate_request
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.prompts import TaskPrompts
from cwm.synthesis.task import SynthesisTask


@dataclass(frozen=True)
class DryRun:
    """What the first call would be.

    Attributes:
        prompt: its text in full.
        input_tokens: estimated.
        max_output_tokens: the answer's cap.
        first_call_cost: at most so much money, None without a price.
        most_calls: calls that the settings allow at most.
    """

    prompt: str
    input_tokens: int
    max_output_tokens: int
    first_call_cost: float | None
    most_calls: int


def dry_run(task: SynthesisTask, config: SynthesisConfig, price: Price | None = None) -> DryRun:
    """Returns the first prompt and its estimated size and cost; calls no model and runs no program."""
    prompt = TaskPrompts(task, config).synthesis()
    tokens = estimate_request(Request((Message("user", prompt),), task.purpose))
    return DryRun(
        prompt=prompt,
        input_tokens=tokens,
        max_output_tokens=config.max_output_tokens,
        first_call_cost=None if price is None else price.cost(tokens, config.max_output_tokens),
        most_calls=(1 + config.num_retries) * (1 + config.max_truncated_retries),
    )
