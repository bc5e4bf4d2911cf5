"""Models made from the recordings that ship with the project: replayed, tested, and kept in the user's cache."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from arena.agents.specs import AgentSpec
from arena.machine.user_cache import cache_folder
from arena.pipeline import chosen
from arena.pipeline.synthesis import SYNTHESISING, SynthesisRun
from arena.runs import inputs as run_inputs
from arena.runs import replayed, shipped
from arena.runs.folder import MODEL, open_record
from arena.runs.settings import RunSettings
from arena.terminal import console
from arena.usage import UsageError
from cwm.llm import recordings
from cwm.llm.caps import Caps
from cwm.llm.recordings import Recording
from cwm.model.bundle import ModelBundle, ModelBundleError
from cwm.record.record import RUN_FILE
from cwm.storage.keys import content_key
from games import registry

RECORDED = "recorded"
"""Names the recorded model in an agent, `cwm:recorded`; a folder of that name is `cwm:./recorded`. Where more than one
synthesis of a game was recorded, the others are named by their seeds, `cwm:recorded-s1`, and other methods by what they
do otherwise, `cwm:recorded+closed`."""
SEED = 0
"""The first recording of every game was made with this seed."""


def names_of(game: str) -> list[str]:
    """Returns how agents name the recorded models of a game, independent of each other; [] if there is none."""
    return [recordings.name_of(RECORDED, seed) for seed in recordings.bundled_seeds(game)]


def settings_of(game: str, seed: int = SEED) -> RunSettings:
    """Returns the settings with which a recording is replayed.

    Args:
        game: registry id, followed for other methods by theirs, e.g. `leduc_poker+closed`.
        seed: of the recording.

    Raises:
        UsageError: no such recording ships, or it tells of no settings.
    """
    return _settings(_recording(game, seed))


def folder_of(game: str, seed: int = SEED, on_stage: Callable[[str], None] = console.notices.print) -> Path:
    """Returns the folder of the replayed run of a game, made from the recording unless it is there already.

    Args:
        game: registry id, or as for `settings_of`.
        seed: of the recording.
        on_stage: told in words what begins.

    Raises:
        UsageError: no such recording ships for the game, or it did not lead to a model.
    """
    recording = _recording(game, seed)
    settings = _replay_settings(recording)
    folder = _place(recording, settings)
    if not _is_there(folder, recording):
        on_stage(f"replaying the recording {recording.name}, once; the model is kept in {folder}")
        inputs = run_inputs.played(settings)
        with open_record(folder, settings, inputs, Caps()) as record:
            outcome = SynthesisRun(record, settings, inputs, Caps(), on_stage=_of_replay(on_stage)).model()
        if outcome.bundle is None:
            raise UsageError(f"The recording {recording.name} leads to no model.")
        if recording.header.chosen is not None:
            chosen.added_to(outcome.bundle, recording).save(folder / MODEL)
    return folder


def named(word: str) -> Path:
    """Returns a folder that a user names, or that of a recording's replayed run, see `folder_of`.

    Args:
        word: a path, or the name of a recording, e.g. `hanabi-2p-s1`.

    Raises:
        UsageError: it is neither.
    """
    if Path(word).exists():
        return Path(word)
    if word not in recordings.bundled_names():
        raise UsageError(f"{word} is neither a folder nor a recording that ships ({recordings.nearest(word)}).")
    game, _, seed = word.rpartition("-s")
    by_seed = bool(game) and seed.isdecimal() and game in registry.ids()
    return folder_of(game, int(seed)) if by_seed else folder_of(word)


def place_of(game: str, seed: int = SEED) -> Path:
    """Returns the place in the cache of the replayed run of a game; arguments as for `folder_of`."""
    recording = _recording(game, seed)
    return _place(recording, _replay_settings(recording))


def _place(recording: Recording, settings: RunSettings) -> Path:
    lines = [recording.header.line(), *(record.line() for record in recording.records)]
    return cache_folder() / f"{recording.name}-{content_key([lines, settings.to_json()])[:16]}"


def _recording(game: str, seed: int) -> Recording:
    name = recordings.name_of(game, seed)
    if name not in recordings.bundled_names():
        raise UsageError(f"No recorded completions ship for {name} ({recordings.nearest(name)}).")
    return recordings.load(name)


def _settings(recording: Recording) -> RunSettings:
    name, settings = recording.name, replayed.settings_of(recording)
    if settings is None:
        raise UsageError(
            f"The recording {name} tells nothing of the run that made it: pack it with that run's settings."
        )
    # Some go by names that say more, or less, than their settings do: these are replayed by name.
    return settings if replayed.name_for(settings) == name else replace(settings, llm=f"{replayed.REPLAY}:{name}")


def _replay_settings(recording: Recording) -> RunSettings:
    settings = shipped.settings_for(_settings(recording))
    if recording.header.chosen is None:
        return settings
    # What was chosen by tournaments that stopped by the clock is not chosen anew.
    return replace(settings, value=None, prior=None, vectors=None, functions={})


def _is_there(folder: Path, recording: Recording) -> bool:
    try:
        bundle = ModelBundle.load(folder)
    except ModelBundleError:
        return False
    told = recording.header.chosen
    # A replay that was killed may have left the model without the functions beside it.
    return told is None or not (folder / RUN_FILE).exists() or chosen.is_beside(bundle, told)


def _of_replay(on_stage: Callable[[str], None]) -> Callable[[str], None]:
    """Returns what tells stages of a replay, in which no language model writes anything."""
    return lambda text: on_stage("reading the recorded answers" if text == SYNTHESISING else text)


def filled_in(
    specs: Sequence[AgentSpec], game: str, on_stage: Callable[[str], None] = console.notices.print
) -> list[AgentSpec]:
    """Returns agents with the recorded models' folders in the place of `cwm:recorded` and the like; names stay.

    Args:
        specs: the agents.
        game: registry id.
        on_stage: told in words what begins.

    Raises:
        UsageError: an agent wants a recorded model that does not ship for the game.
    """
    known = {RECORDED + name.removeprefix(game): name for name in recordings.bundled_names_of(game)}
    known.setdefault(RECORDED, game)
    return [
        replace(spec, model=str(folder_of(known[spec.model], on_stage=on_stage) / MODEL))
        if spec.traits.sandboxed and spec.model in known
        else spec
        for spec in specs
    ]
