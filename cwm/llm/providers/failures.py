"""What a provider's failure means for the user, in one sentence that names no secret."""

import email.utils
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from cwm.llm.api import ConfigurationError, LanguageModelError, QuotaExhaustedError
from cwm.llm.line import Secret
from cwm.llm.provider_table import PROVIDERS
from cwm.llm.providers.wishes import Wishes
from cwm.llm.retry import FailureKind, TransientError

_LONGEST_QUOTE = 300
_KEY_SHAPES = re.compile(r"(?i)\b(?:sk-[\w*.-]{4,}|AIza[\w*-]{4,}|AQ\.[\w*-]{8,}|(?:bearer|key=)\s*[\w*.~+/=-]{4,})")
_RETRIED = frozenset({408, 409, 425, 429})
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})


@dataclass(frozen=True)
class Service:
    """Who is asked, as error messages name it.

    Attributes:
        name: `PROVIDER:MODEL`.
        model: the model's name.
        address: where it is asked, without user, password and query.
        key_variable: the environment variable that holds the key.
        key: the key, None where there is none.
        hidden: further secrets that the server is sent and may repeat.
    """

    name: str
    model: str
    address: str
    key_variable: str
    key: Secret | None
    hidden: tuple[Secret, ...] = ()

    @classmethod
    def of(cls, provider: str, model: str, address: str, wishes: Wishes) -> Self:
        """Returns who is asked.

        Args:
            provider: its name in the table of providers.
            model: the model's name.
            address: of the server.
            wishes: how it is opened.
        """
        key = Secret(wishes.key) if wishes.key else None
        hidden = tuple(value for _, value in wishes.headers)
        keys = " or ".join(PROVIDERS[provider].keys)
        return cls(f"{provider}:{model}", model, public_address(address), keys, key, hidden)

    def quote(self, text: object) -> str:
        """Returns what a server said, on one line, shortened, without anything that looks like a key."""
        said = " ".join(str(text).split())
        for secret in (self.key, *self.hidden):
            if secret is not None and secret.reveal():
                said = said.replace(secret.reveal(), "[key]")
        said = _KEY_SHAPES.sub("[key]", said)
        return said if len(said) <= _LONGEST_QUOTE else said[: _LONGEST_QUOTE - 1] + "…"


@dataclass(frozen=True)
class Refusal:
    """An HTTP answer that is no success.

    Attributes:
        status: the HTTP status.
        code: the provider's own error code, empty where it gives none.
        message: the provider's words.
        retry_after_s: seconds that it asks us to wait, or None.
        quota: the quota is used up for longer than a wait can help.
    """

    status: int
    code: str = ""
    message: str = ""
    retry_after_s: float | None = None
    quota: bool = False


def public_address(url: str) -> str:
    """Returns a URL's scheme, host, port and path, without user, password, query and fragment."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}" if parts.scheme else url.split("?")[0]


def retry_after_s(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Returns the wait that the headers ask for: `retry-after-ms`, or `Retry-After` in seconds or as a date.

    Args:
        headers: of the answer; names in any case.
        now: seconds since the epoch, for dates.
    """
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if re.fullmatch(r"\d+(\.\d+)?", lower.get(name, "")):
            return float(lower[name]) * scale
    try:
        moment = email.utils.parsedate_to_datetime(lower.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - now())


def explain_refusal(service: Service, refusal: Refusal) -> LanguageModelError:
    """Returns the error that an HTTP refusal means.

    Returns:
        `QuotaExhaustedError` for an empty account, `TransientError` for what may pass, else `ConfigurationError`.
    """
    said = service.quote(refusal.message or refusal.code or "no reason given")
    status = refusal.status
    if status == 402 or refusal.quota or refusal.code in _QUOTA_CODES:
        return QuotaExhaustedError(
            f"{service.name} at {service.address} has no quota left ({status}: {said}): add credit or wait for the "
            "quota to renew, then resume the run."
        )
    if status in _RETRIED or status >= 500:
        kind: FailureKind = "rate_limit" if status == 429 else "timeout" if status == 408 else "server"
        message = f"{service.name} at {service.address} answered {status} ({said})."
        return TransientError(message, kind, retry_after_s=refusal.retry_after_s)
    return ConfigurationError(_advice(service, status, said))


def _advice(service: Service, status: int, said: str) -> str:
    where = f"{service.name} at {service.address}"
    if status == 401 and service.key is None:
        return f"{where} asks for a key (401) and {service.key_variable} is not set: set it to a valid key."
    if status == 401:
        return f"{where} did not accept the key in {service.key_variable} (401): set it to a valid key."
    if status == 403:
        return f"The key in {service.key_variable} may not use {where} (403: {said}): get access or take another model."
    if status == 404:
        return (
            f"{service.address} knows no model {service.model!r} or is no such address (404: {said}): "
            "check the model's name and the base URL, which often ends in /v1."
        )
    return f"{where} did not accept the request ({status}: {said}): change what it names and ask again."


def unreachable(service: Service, reason: str) -> TransientError:
    """Returns the error for a server to which no connection could be made."""
    return TransientError(
        f"No connection to {service.address} for {service.name} ({service.quote(reason)}): "
        "check that the server runs and that the address is right.",
        "unreachable",
    )


def timed_out(service: Service, seconds: float, silent: bool = False) -> TransientError:
    """Returns the error for an answer that did not come, or not whole, in `seconds`.

    Args:
        service: who was asked.
        seconds: the limit.
        silent: whether it came in pieces, of which none followed for so long.
    """
    shown = f"{seconds:g} s" if seconds >= 1000 else f"{seconds:.3g} s"
    what = f"sent nothing for {shown}" if silent else f"gave no whole answer within {shown}"
    message = f"{service.name} at {service.address} {what}."
    return TransientError(message, "timeout", maybe_billed=True)


def broken_off(service: Service, reason: str) -> TransientError:
    """Returns the error for a connection that broke after the request was sent."""
    message = f"The connection to {service.name} at {service.address} broke off ({service.quote(reason)})."
    return TransientError(message, "connection", maybe_billed=True)


def unreadable(service: Service, start: str) -> TransientError:
    """Returns the error for an answer of status 200 that is no completion."""
    message = (
        f"{service.name} at {service.address} answered with something that is no completion ({service.quote(start)})."
    )
    return TransientError(message, "bad_answer", maybe_billed=True)
