"""From what the user writes, `PROVIDER:MODEL`, to a model."""

import importlib
import os
import time
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from cwm.llm.api import ConfigurationError, LanguageModel
from cwm.llm.budget import FREE, Price
from cwm.llm.concurrency import AdaptiveLimit, Throttled
from cwm.llm.line import Line
from cwm.llm.provider_table import FORMS, Provider, row_of
from cwm.llm.providers.wishes import Polling, Wishes
from cwm.llm.retry import Retrying, RetryPolicy

_LINE: Final = Line()


def make(
    spec: str,
    *,
    base_url: str | None = None,
    line: Line = _LINE,
    answer_s: float | None = None,
    retry: RetryPolicy | None = None,
    seed: int = 0,
    sleep: Callable[[float], None] = time.sleep,
    polling: Polling | None = None,
    scripted_start: int = 0,
    environment: Mapping[str, str] | None = None,
) -> LanguageModel:
    """Returns the model that `spec` names; nothing is sent before its first `complete`.

    Args:
        spec: `PROVIDER:MODEL`, see `cwm.llm.provider_table`.
        base_url: address of a server that speaks the provider's API, e.g. `http://localhost:8000/v1`; then the key may
            be absent.
        line: limits of time, pieces, headers, how many calls at once, who is told of waits; its address goes before
            `base_url`.
        answer_s: seconds that a whole answer may take, in pieces or not; None for what `line` says.
        retry: attempts and waits, None for the default.
        seed: of the jitter between attempts.
        sleep: waits between attempts, in seconds; injected by tests.
        polling: how a spool waits, None for the default.
        scripted_start: how many answers of a script an earlier process used up.
        environment: where the keys are, None for the process's own.

    Raises:
        ConfigurationError: unknown provider, no model name, no key, a malformed address, or an unreadable file.
    """
    provider, rest = split(spec)
    row = _row(spec)
    base_url = line.base_url or base_url
    if base_url is not None:
        _check_address(provider, base_url)
    variables = os.environ if environment is None else environment
    address = base_url or variables.get(row.address_variable) or None
    wishes = Wishes(
        key=_key(row, variables, spec, address),
        base_url=address,
        timeout_s=line.timeout_s,
        stream=line.stream,
        answer_s=answer_s,
        headers=line.headers,
        polling=polling,
        start=scripted_start,
    )
    # The client libraries take 0.6 s and 45 MB to load, which a replay should not pay.
    model: LanguageModel = importlib.import_module(row.module).opened(rest, wishes)
    if not row.is_server:
        return model
    limit = None if line.parallel is None else AdaptiveLimit(start=min(2, line.parallel), most=line.parallel)
    return Retrying(Throttled(model, limit), retry, seed=seed, sleep=sleep, tell=line.tell)


def split(spec: str) -> tuple[str, str]:
    """Splits `PROVIDER:MODEL` at its first colon.

    Raises:
        ConfigurationError: the provider is unknown or the rest is missing.
    """
    provider, _, rest = spec.partition(":")
    row = _row(spec)
    if not rest.strip():
        raise ConfigurationError(f"{spec!r} lacks what comes after the colon: write {row.form}.")
    return provider, rest.strip()


def _row(spec: str) -> Provider:
    row = row_of(spec.partition(":")[0])
    if row is None:
        raise ConfigurationError(f"Unknown language model {spec!r}: write one of {FORMS}.")
    return row


def price_of(spec: str, price_in: float | None = None, price_out: float | None = None) -> Price | None:
    """Returns what a model costs: what the user said, nothing for replay and scripts, else None for unknown.

    No table of prices is kept, since it would be wrong before it is read.

    Args:
        spec: `PROVIDER:MODEL`.
        price_in: per million input tokens, or None.
        price_out: per million output tokens, or None.

    Raises:
        ConfigurationError: only one of the two is given, or one is negative.
    """
    split(spec)
    if price_in is None and price_out is None:
        return FREE if _row(spec).is_free else None
    if price_in is None or price_out is None:
        raise ConfigurationError(
            "Only one price is given: give both options, `price_in` and `price_out`, per million tokens."
        )
    if not (price_in >= 0 and price_out >= 0):
        raise ConfigurationError(f"The prices {price_in:g} and {price_out:g} are not both 0 or more: correct them.")
    return Price(price_in, price_out)


def _check_address(provider: str, base_url: str) -> None:
    if not _row(provider).is_server:
        raise ConfigurationError(f"{provider}: takes no base URL: leave it out, or use openai:MODEL.")
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(
            "The base URL is no web address: write something like http://localhost:8000/v1 "
            f"(given: {base_url.split('@')[-1].split('?')[0]!r})."
        )


def _key(row: Provider, variables: Mapping[str, str], spec: str, address: str | None) -> str | None:
    key = next((variables[name].strip() for name in row.keys if variables.get(name, "").strip()), None)
    if key is None and row.keys and address is None:
        raise ConfigurationError(
            f"No key for {spec}: set {' or '.join(row.keys)}, or give the option `base_url` for a server of your own."
        )
    return key
