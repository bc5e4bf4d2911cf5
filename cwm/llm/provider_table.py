"""Who can be asked: one row a provider. Pure data, so that game processes and `--help` load no client library."""

from dataclasses import dataclass
from typing import Final

from games import plugins


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
    "anthropic": Provider(
        "anthropic:MODEL",
        "cwm.llm.providers.anthropic",
        keys=("ANTHROPIC_API_KEY",),
        is_server=True,
        address_variable="ANTHROPIC_BASE_URL",
    ),
    "spool": Provider("spool:DIR", "cwm.llm.providers.spool"),
    "replay": Provider("replay:NAME-OR-FILE", "cwm.llm.providers.replay", is_free=True),
    "scripted": Provider("scripted:FILE", "cwm.llm.providers.scripted", is_free=True, in_order=True),
}
FORMS: Final = ", ".join(provider.form for provider in PROVIDERS.values())
"""What a user may write, for help and errors."""
KEY_VARIABLES: Final = tuple(dict.fromkeys(name for provider in PROVIDERS.values() for name in provider.keys))
"""Every environment variable that may hold a key of a provider of ours; `key_variables` has those of others, too."""


def row_of(name: str) -> Provider | None:
    """Returns the row of a provider of ours, or of one that an installed distribution brings; None if there is none.

    Raises:
        games.plugins.PluginError: a distribution's cannot be loaded.
    """
    if name in PROVIDERS or name not in plugins.names(plugins.PROVIDERS):
        return PROVIDERS.get(name)
    row = plugins.load(plugins.PROVIDERS, name)
    if not isinstance(row, Provider):
        brought = plugins.brought_by(plugins.PROVIDERS, name)
        raise plugins.PluginError(
            f"{name!r} of the distribution {brought} is {row!r}, no cwm.llm.provider_table.Provider: mend it."
        )
    return row


def provider_of(spec: str) -> Provider | None:
    """Returns the row of `PROVIDER:MODEL`, None if the provider is unknown; errors as for `row_of`."""
    return row_of(spec.partition(":")[0])


def key_variables() -> tuple[str, ...]:
    """Returns every environment variable that may hold a key, those of installed providers too."""
    names = list(KEY_VARIABLES)
    for name in plugins.names(plugins.PROVIDERS):
        try:
            row = row_of(name)
        except plugins.PluginError:
            # It asks nothing, and whoever names it is told.
            continue
        names += [] if row is None else row.keys
    return tuple(dict.fromkeys(names))
