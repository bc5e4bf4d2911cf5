"""A second and a third chance, with more room, for an answer that was cut off."""

from dataclasses import replace

from cwm.llm.api import Completion, LanguageModel, Request


def complete_whole(
    model: LanguageModel, request: Request, *, more_room: int = 2, longest: int = 131_072
) -> tuple[Completion, ...]:
    """Asks, and asks again with twice the length cap while the answer is truncated.

    Args:
        model: whom to ask.
        request: what to ask.
        more_room: how many times to ask again at most.
        longest: cap of the length cap, in tokens.

    Returns:
        Every answer, the last one to be used if its outcome is `ok`. A truncated one must never be.

    Raises:
        LanguageModelError: a call failed.
    """
    completions = [model.complete(request)]
    for _ in range(more_room):
        larger = min(longest, 2 * request.max_output_tokens)
        if completions[-1].outcome != "truncated" or larger <= request.max_output_tokens:
            break
        request = replace(request, max_output_tokens=larger, occurrence=None)
        completions.append(model.complete(request))
    return tuple(completions)
