"""The language models of a tournament's players: named, capped together, recorded, and journaled.

One process asks for all games. A tournament with such a player plays its games in threads of the process that opened
the folder (which is locked), not in worker processes: so there is one journal with one writer, one budget and one
recording, and no worker needs a key.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final

from arena.agents.specs import AgentSpec, AgentSpecError
from arena.usage import UsageError
from cwm.llm.api import Completion, ConfigurationError, LanguageModel, Request
from cwm.llm.budget import Budget, Budgeted, Price, Tally
from cwm.llm.caps import Caps, budget, read_elapsed, write_elapsed
from cwm.llm.journaled import CompletionStore, Journaled, StoredCall, is_billed
from cwm.llm.provider_table import Provider, provider_of
from cwm.llm.providers import factory
from cwm.llm.providers.wishes import Polling
from cwm.llm.punctual import Punctual
from cwm.llm.recorder import Recorder
from cwm.llm.retry import RetryPolicy
from cwm.record.calls import RecordedCalls
from cwm.storage.journal import Journal

CALLS_FILE: Final = "calls.sqlite"
"""Journal of the calls, in the folder of a tournament."""


class PlayerModels:
    """Models by what players ask for. A context manager.

    Args:
        agents: of the tournament; those of other kinds are passed over.
        folder: keeps the calls, so that none is repeated after a kill; None to keep them in memory.
        caps: for all models together.
        recording: file that every answer is added to, None for none.
        game: id of the game, for a new recording.

    Raises:
        ConfigurationError: a name, key, address or price is missing or wrong.
        UsageError: one recording or one price cannot serve several models.
    """

    def __init__(
        self,
        agents: Iterable[AgentSpec],
        folder: Path | None = None,
        caps: Caps | None = None,
        recording: Path | None = None,
        game: str = "",
    ) -> None:
        self._caps = caps or Caps()
        players = _distinct([spec for spec in agents if spec.traits.asks])
        self._folder = folder if players else None
        self._budget: Budget = budget(self._caps)
        _check_shared(players, self._caps, recording)
        self._journal = Journal(None if self._folder is None else self._folder / CALLS_FILE)
        store = RecordedCalls(self._journal)
        try:
            calls = list(store.calls())
            self._go_on(players, calls)
            self._models = {_line(spec): self._composed(spec, store, calls, recording, game) for spec in players}
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "PlayerModels":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the journal; may be called more than once."""
        if self._folder is not None:
            # A full disk would hide what is wrong in truth: the cap on time then counts the answers' own seconds.
            with suppress(OSError):
                write_elapsed(self._folder, self._budget)
            self._folder = None
        self._journal.close()

    def model(self, spec: AgentSpec) -> LanguageModel:
        """Returns the model that an `llm` agent asks."""
        return self._models[_line(spec)]

    @property
    def parallel(self) -> int | None:
        """How many questions may be under way at once, None if nobody said."""
        return self._caps.line.parallel

    def used(self) -> Tally:
        """Returns calls and tokens so far, those before a resume included."""
        return self._budget.total()

    def _go_on(self, players: Sequence[AgentSpec], calls: Sequence[StoredCall]) -> None:
        prices = {_provider(spec): self._price(spec) for spec in players}
        answered = sum(call.completion.latency_s for call in calls if call.completion is not None)
        elapsed = 0.0 if self._folder is None else read_elapsed(self._folder)
        self._budget.restore_from(calls, prices, elapsed_s=max(answered, elapsed))

    def _price(self, spec: AgentSpec) -> Price | None:
        return factory.price_of(_provider(spec), self._caps.price_in, self._caps.price_out)

    def _composed(
        self,
        spec: AgentSpec,
        store: CompletionStore,
        calls: Sequence[StoredCall],
        recording: Path | None,
        game: str,
    ) -> LanguageModel:
        """Returns journal around recorder around budget around time limit around provider."""
        config, name = spec.llm_config(), _provider(spec)
        used = sum(call.status == "answered" and call.model == name for call in calls)
        if config.timeout is None:
            model = factory.make(name, base_url=config.base_url, line=self._caps.line, scripted_start=used)
        else:
            model = factory.make(
                name,
                base_url=config.base_url,
                line=self._caps.line,
                answer_s=config.timeout,
                retry=RetryPolicy(timeout_attempts=1),
                polling=Polling(timeout_s=config.timeout),
                scripted_start=used,
            )
        if not config.send_seed and _row(name).is_server:
            model = _Unseeded(model)
        if config.timeout is not None:
            model = Punctual(model, config.timeout)
        model = Budgeted(model, self._budget, self._price(spec))
        if recording is not None:
            model = Recorder(model, recording, game=game, note=f"player {spec.name}")
        return Journaled(model, store)


class _Unseeded:
    """Keeps the seed, which tells equal questions apart in journals and recordings, from the provider."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, request: Request) -> Completion:
        return self._model.complete(replace(request, seed=None))


def in_order(agents: Iterable[AgentSpec]) -> bool:
    """Tells whether games must be played one after the other: a script's answers come in its own order."""
    return any(spec.traits.asks and _row(_provider(spec)).in_order for spec in agents)


def check(spec: AgentSpec) -> None:
    """Checks the name of an `llm` agent's model.

    Raises:
        AgentSpecError: the provider is unknown, or an option does not go with it.
    """
    try:
        provider, _ = factory.split(_provider(spec))
    except ConfigurationError as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error
    if spec.llm_config().base_url is not None and not _row(provider).address_variable:
        raise AgentSpecError(f"agent {spec.name!r}: base_url goes with openai:MODEL, not with {provider}:.")


def _row(name: str) -> Provider:
    """Returns the row of `PROVIDER:MODEL`; raises a `ConfigurationError` where there is none."""
    row = provider_of(name)
    if row is None:
        factory.split(name)
    assert row is not None  # `split` refuses what has no row
    return row


def _provider(spec: AgentSpec) -> str:
    return spec.model or ""


def _line(spec: AgentSpec) -> tuple[object, ...]:
    """Returns what a model is shared by: agents that differ in how they ask may ask the same one."""
    config = spec.llm_config()
    return (_provider(spec), config.base_url, config.timeout, config.send_seed)


def _distinct(players: Sequence[AgentSpec]) -> list[AgentSpec]:
    return list({_line(spec): spec for spec in players}.values())


def _check_shared(players: Sequence[AgentSpec], caps: Caps, recording: Path | None) -> None:
    if recording is not None and len(players) != 1:
        raise UsageError(
            f"A recording takes the answers of one language model, and {len(players)} play: record them one by one."
        )
    billed = sorted({_provider(spec) for spec in players if is_billed(_provider(spec))})
    if len(billed) > 1 and caps.price_in is not None:
        raise UsageError(
            f"One pair of prices is given for {' and '.join(billed)}: leave the prices out and cap calls or tokens."
        )
