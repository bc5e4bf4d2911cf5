"""Token counts where no provider has counted: an estimate, and always marked as one."""

import math

from cwm.llm.api import Request, Usage

_CHARACTERS_PER_TOKEN = 4.0
_CAUTIOUS_CHARACTERS_PER_TOKEN = 3.0
_TOKENS_PER_MESSAGE = 4


def estimate_tokens(text: str) -> int:
    """Returns about how many tokens `text` has: four ASCII characters each, and one for every other character."""
    return _estimate(text, _CHARACTERS_PER_TOKEN)


def estimate_usage(request: Request, answer: str) -> Usage:
    """Returns the estimated tokens of a call, marked as estimated."""
    return Usage(estimate_request(request), estimate_tokens(answer), estimated=True)


def estimate_request(request: Request) -> int:
    """Returns about how many input tokens `request` has."""
    return sum(estimate_tokens(message.text) + _TOKENS_PER_MESSAGE for message in request.messages)


def reserve_request(request: Request) -> int:
    """Returns an estimate of the input tokens on the high side (three characters each, as in dense code).

    A cap is checked with it, so that the true count seldom passes the cap.
    """
    return sum(
        _estimate(message.text, _CAUTIOUS_CHARACTERS_PER_TOKEN) + _TOKENS_PER_MESSAGE for message in request.messages
    )


def _estimate(text: str, characters_per_token: float) -> int:
    ascii_characters = sum(character.isascii() for character in text)
    return math.ceil(ascii_characters / characters_per_token) + len(text) - ascii_characters
