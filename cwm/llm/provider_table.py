"""Who can be asked: one row a provider. Pure data, so that game processes and `--help` load no client library."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Provider:
    """One provider of language models.

    Attributes:
        form: what a user writes, e.g. `openai:MODEL`.
        module: has `opened(rest, wishes)`, which makes the model that `rest` names, see `cwm.llm.providers.wishes`.
        keys: environment variables that may hold its key, the first that is set is taken; () if it needs none. It is
            given its key by the factory, and no game process inherits these variables.
        is_server: it is asked over the network: attempts are repeated, calls cost something even if they are cut off,
            a sampling seed is sent, and an address of the user's may take the place of its own.
        address_variable: environment variable that may hold the address of another server that speaks the same API, ""
            where there is none; players at a table may name such a server, too.
        is_free: its answers cost nothing.
        in_order: its answers come in an order of their own, so that games must be played one after the other.
    """

    form: str
    module: str
    keys: tuple[str, ...] = ()
    is_server: bool = False
    address_variable: str = ""
    is_free: bool = False
    in_order: bool = False


PROVIDERS: Final = {
    "openai": Provider(
        "openai:MODEL",
        "cwm.llm.providers.openai",
        keys=("OPENAI_API_KEY",),
        is_server=True,
        address_variable="OPENAI_BASE_URL",
    ),
    "google": Provider(
        "google:MODEL", "cwm.llm.providers.google", keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"), is_server=True
    ),
    "spool": Provider("spool:DIR", "cwm.llm.providers.spool"),
    "replay": Provider("replay:NAME-OR-FILE", "cwm.llm.providers.replay", is_free=True),
    "scripted": Provider("scripted:FILE", "cwm.llm.providers.scripted", is_free=True, in_order=True),
}
FORMS: Final = ", ".join(provider.form for provider in PROVIDERS.values())
"""What a user may write, for help and errors."""
KEY_VARIABLES: Final = tuple(dict.fromkeys(name for provider in PROVIDERS.values() for name in provider.keys))
"""Every environment variable that may hold a key."""


def provider_of(spec: str) -> Provider | None:
    """Returns the row of `PROVIDER:MODEL`, None if the provider is unknown."""
    return PROVIDERS.get(spec.partition(":")[0])
