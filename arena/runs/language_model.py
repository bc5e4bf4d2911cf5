"""The language model of a run: named by its settings, capped, recorded, and journaled."""

from pathlib import Path

from arena.runs import replayed
from arena.runs.settings import DEFAULT_LLM, RunSettings
from arena.runs.turns import WorkTurn
from arena.usage import UsageError
from cwm.llm import recordings
from cwm.llm.api import LanguageModel
from cwm.llm.budget import Budget, Budgeted, Price, check_price
from cwm.llm.caps import Caps, budget, read_elapsed
from cwm.llm.concurrency import SideBySide
from cwm.llm.journaled import Journaled
from cwm.llm.line import AskedWith
from cwm.llm.provider_table import provider_of
from cwm.llm.providers import factory
from cwm.llm.recorder import Recorder
from cwm.record.record import RunRecord


def compose(
    settings: RunSettings,
    caps: Caps,
    record: RunRecord,
    spent: Budget,
    recording: Path | None,
    restore: bool = True,
    turn: WorkTurn | None = None,
) -> LanguageModel:
    """Returns the run's language model: journal around recorder around budget around provider.

    Temperature and effort that the run is asked for are part of every request, and so of its key.

    Args:
        settings: which model.
        caps: prices.
        record: holds the calls made so far.
        spent: the run's budget, which goes on from those calls.
        recording: file that every answer is added to, None for none.
        restore: whether the budget is to take account of the calls made so far; False for a second model of the run.
        turn: the run's part among others that ask at the same time, None if there are none.

    Raises:
        ConfigurationError: provider, model name, key, address or price is missing or wrong.
        UsageError: no recorded completions ship for the game.
    """
    spec = model_spec(settings)
    paid = price(settings, caps)
    calls = list(record.calls.calls())
    answers = [call.completion for call in calls if call.completion is not None]
    used = sum(call.completion is not None and call.model == spec for call in calls)
    provider = factory.make(spec, base_url=settings.base_url, line=caps.line, seed=settings.seed, scripted_start=used)
    model: LanguageModel = Budgeted(provider, spent, paid)
    if restore:
        answered = sum(answer.latency_s for answer in answers)
        prices = {call.model: factory.price_of(call.model, caps.price_in, caps.price_out) for call in calls}
        spent.restore_from(calls, prices | {spec: paid}, elapsed_s=max(answered, read_elapsed(record.folder)))
    if recording is not None:
        told = replayed.header_settings(settings)
        model = Recorder(model, recording, game=settings.game, note=f"seed {settings.seed}", settings=told)
    model = Journaled(model, record.calls)
    if settings.temperature is not None or settings.reasoning_effort is not None:
        model = AskedWith(model, settings.temperature, settings.reasoning_effort)
    if turn is not None:
        model = turn.around(model)
    several = at_once(settings, caps)
    return model if several == 1 else SideBySide(model, several)


def at_once(settings: RunSettings, caps: Caps) -> int:
    """Returns how many questions may be under way at once: what the user allows, one where answers have an order."""
    row = provider_of(model_spec(settings))
    return 1 if row is None or row.in_order else caps.line.parallel or 1


def check(settings: RunSettings, caps: Caps) -> None:
    """Checks the model's name, key, address and price, so that a mistake is named before a run's folder is made.

    Raises:
        ConfigurationError: one is missing or wrong.
        UsageError: no recorded completions ship for the game.
    """
    provider = factory.make(model_spec(settings), base_url=settings.base_url, line=caps.line, seed=settings.seed)
    Budgeted(provider, budget(caps), price(settings, caps))


def check_cap_on_money(settings: RunSettings, caps: Caps) -> None:
    """Checks that a cap on money can be kept; needs neither key nor address.

    Raises:
        ConfigurationError: money is capped and the price is unknown, or the model's name is wrong.
    """
    named = settings.llm if settings.llm != DEFAULT_LLM else "a language model that is named"
    check_price(named, budget(caps), price(settings, caps))


def price(settings: RunSettings, caps: Caps) -> Price | None:
    """Returns what the model costs, None if nobody said.

    Raises:
        ConfigurationError: the model's name is wrong, or the prices are.
    """
    # The recorded completions cost nothing; where none ship for the game, a model with a price is still to be named.
    unnamed = "replay:recorded" if replayed.ships(settings) else "openai:unnamed"
    return factory.price_of(unnamed if settings.llm == DEFAULT_LLM else settings.llm, caps.price_in, caps.price_out)


def model_spec(settings: RunSettings) -> str:
    """Returns `PROVIDER:MODEL`; `recorded` stands for the recording that ships for the game.

    Raises:
        UsageError: none ships, or the game is a user's own.
    """
    if settings.llm != DEFAULT_LLM:
        return settings.llm
    if replayed.ships(settings):
        return f"replay:{replayed.name_for(settings)}"
    if not settings.hidden.usual:
        raise UsageError(
            f"No recorded completions ship for {settings.game} with deck {settings.deck} and inference "
            f"{settings.inference}; name a language model by the option `llm`, e.g. openai:MODEL."
        )
    names = recordings.bundled_games()
    own = "" if settings.registered else "your own game "
    raise UsageError(
        f"No recorded completions ship for {own}{settings.game} (they do for: {', '.join(names) or 'none'}); "
        "name a language model by the option `llm`, e.g. openai:MODEL."
    )
