"""Several independent syntheses of one game in one run: seeds, folders, recordings, and a budget that they share."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from arena.matches.rejection import RejectionConfig
from arena.runs import inputs as run_inputs
from arena.runs import language_model, shipped
from arena.runs.folder import INPUTS, opened_record, read_caps, write_caps
from arena.runs.inputs import Inputs
from arena.runs.settings import DEFAULT_LLM, RunSettings
from arena.usage import UsageError
from cwm.llm import recordings
from cwm.llm.budget import Budget, Price, Tally
from cwm.llm.caps import Caps, budget, read_elapsed
from cwm.llm.journaled import StoredCall
from cwm.record.record import RUN_FILE, RunRecord
from cwm.storage.journal import RunCorruptError

KIND: Final = "syntheses"


@dataclass(frozen=True)
class SeveralSettings:
    """What several syntheses are asked for.

    Attributes:
        first: settings of the first synthesis; the others differ from it in the seed alone.
        syntheses: how many.
        rejection: how their models are compared where information is hidden.
    """

    first: RunSettings
    syntheses: int
    rejection: RejectionConfig

    def each(self) -> list[RunSettings]:
        """Returns the settings of every synthesis, with the seeds from the first one's on."""
        return [self.first.seeded(self.first.seed + number) for number in range(self.syntheses)]

    def to_json(self) -> dict[str, Any]:
        """Returns the settings as the record keeps them."""
        return self.first.to_json() | {"syntheses": self.syntheses, "rejection": self.rejection.to_json()}

    @classmethod
    def from_record(cls, data: Mapping[str, Any]) -> "SeveralSettings":
        """Builds the settings of a stored run.

        Raises:
            RunCorruptError: they are no settings of several syntheses.
        """
        try:
            return cls(RunSettings.from_record(data), int(data["syntheses"]), RejectionConfig(**data["rejection"]))
        except (KeyError, TypeError, ValueError) as error:
            raise RunCorruptError(
                f"The settings in the run's run.json are damaged ({type(error).__name__}: {error}); "
                "restore the file from a copy."
            ) from error


def name_of(settings: RunSettings) -> str:
    """Returns the name of one synthesis, and of its folder within the run, by its seed."""
    return f"s{settings.seed}"


def check(settings: SeveralSettings, caps: Caps) -> None:
    """Checks model, prices, recordings and isolation level before anything is made.

    Raises:
        SandboxUnavailableError: programs may not run at the run's level.
        ConfigurationError: the model's name, key, address or price is missing or wrong.
        UsageError: no recorded completions ship for one of the seeds.
    """
    for one in settings.each():
        language_model.check(one, caps)
        there = recordings.bundled_seeds(one.recorded)
        if one.llm == DEFAULT_LLM and one.seed not in there:
            raise UsageError(
                f"Recorded completions of {one.recorded} ship for the seeds {', '.join(map(str, there))}, not for "
                f"{one.seed}; ask for fewer syntheses, or name a language model by the option `llm`."
            )
        shipped.check(one)


def open_record(folder: Path, settings: SeveralSettings, inputs: Inputs, caps: Caps) -> RunRecord:
    """Opens a new run's folder, or goes on in one with the same settings.

    Raises:
        RunRecordError: the folder is in use, damaged, or of a run with other settings.
    """
    return opened_record(folder, KIND, settings.to_json(), settings.first, inputs, caps)


def inputs_of(folder: Path, settings: RunSettings) -> Inputs:
    """Returns what one synthesis starts from: a user's own games, or those that its seed plays on a registered game.

    Raises:
        UsageError: one of the run's files is missing.
    """
    if settings.registered:
        return run_inputs.played(settings)
    return run_inputs.load(folder / INPUTS, settings)


def raised(folder: Path, by: Caps) -> Caps:
    """Returns the caps that the run was last given, with those of `by` in their place, and stores them."""
    caps = read_caps(folder).raised(by)
    write_caps(folder, caps)
    return caps


def left_for(folder: Path, settings: SeveralSettings, own: RunSettings, caps: Caps) -> Caps:
    """Returns what the common caps leave for one synthesis, after what the others have used.

    Args:
        folder: of the run.
        settings: of the run.
        own: of the synthesis.
        caps: common to all.
    """
    calls, tokens, money, minutes = 0, 0, 0.0, 0.0
    for other in settings.each():
        place = folder / name_of(other)
        if other.seed == own.seed or not (place / RUN_FILE).exists():
            continue
        used = _used(place, other, caps)
        calls += used.calls
        tokens += used.output_tokens
        money += used.money or 0.0
        minutes += read_elapsed(place) / 60.0
    return replace(
        caps,
        calls=None if caps.calls is None else max(0, caps.calls - calls),
        tokens=None if caps.tokens is None else max(0, caps.tokens - tokens),
        money=None if caps.money is None else max(0.0, caps.money - money),
        minutes=None if caps.minutes is None else max(0.0, caps.minutes - minutes),
    )


def opened_budget(folder: Path, syntheses: Mapping[Path, RunSettings], caps: Caps) -> Budget:
    """Returns the budget of all syntheses together, what they used before included.

    Args:
        folder: of the run.
        syntheses: settings by folder, which need not be there.
        caps: common to all.
    """
    calls: list[StoredCall] = []
    prices: dict[str, Price | None] = {}
    minutes = 0.0
    for place, one in syntheses.items():
        if (place / RUN_FILE).exists():
            found = _calls(place)
            calls += found
            prices |= dict.fromkeys((call.model for call in found), language_model.price(one, caps))
            minutes += read_elapsed(place) / 60.0
    # Beside each other they take less time than one after the other: what the clock said of the whole run counts.
    elapsed_s = read_elapsed(folder) or minutes * 60.0
    common = budget(caps)
    common.restore_from(calls, prices, elapsed_s=elapsed_s)
    return common


def recording_of(recording: Path | None, settings: RunSettings, first: RunSettings) -> Path | None:
    """Returns the file that a synthesis adds its answers to: that of the first, with the seed in the others' names."""
    if recording is None or settings.seed == first.seed:
        return recording
    return recording.with_name(f"{recording.stem}-s{settings.seed}{recording.suffix}")


def _used(folder: Path, settings: RunSettings, caps: Caps) -> Tally:
    """Returns what a synthesis has used, counted from its stored calls: a killed run has no other account."""
    calls = _calls(folder)
    counted = Budget()
    price = language_model.price(settings, caps)
    counted.restore_from(calls, dict.fromkeys((call.model for call in calls), price))
    return counted.total()


def _calls(folder: Path) -> list[StoredCall]:
    with RunRecord.read(folder) as record:
        return list(record.calls.calls())
