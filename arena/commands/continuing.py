"""`cwm synthesize --continue RUN --add-games FILE`: more games for a finished run; only what fails is refined."""

from dataclasses import replace
from itertools import count
from pathlib import Path

from arena.matches.game_source import load_bundle
from arena.runs import inputs as run_inputs
from arena.runs.folder import INPUTS, KIND
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from arena.usage import UsageError
from cwm.record.record import RunRecord
from cwm.trajectories import files


def asked(run: Path, further: Path | None, llm: str | None, base_url: str | None) -> tuple[RunSettings, Inputs]:
    """Returns the settings and the inputs of a run that goes on from another one's model.

    Args:
        run: the finished run.
        further: played games that are added to its own; None for none.
        llm: asked instead of the run's own, None for that.
        base_url: of `llm`.

    Raises:
        UsageError: there is no such run, or the games are of another game.
        TrajectoryFormatError: the games break the format.
        AgentSpecError: the run came to no model.
    """
    with RunRecord.read(run) as record:
        if record.info.kind != KIND:
            raise UsageError(f"{run} holds a run of kind {record.info.kind!r}; only runs of kind {KIND!r} go on.")
        settings = RunSettings.from_record(record.info.config)
    bundle = load_bundle(run)
    inputs = run_inputs.load(run / INPUTS, settings)
    added = [] if further is None else files.read(further, settings.deck)
    strange = next((game.game for game in added if game.game != inputs.info.id), None)
    if strange is not None:
        raise UsageError(f"{further} holds games of {strange}, the run is of {inputs.info.id}.")
    first = 1 + max(game.index for game in (*inputs.train, *inputs.held_out))
    train = (*inputs.train, *(replace(game, index=first + number) for number, game in enumerate(added)))
    again = replace(
        settings,
        llm=llm or settings.llm,
        base_url=settings.base_url if llm is None else base_url,
        train_games=len(train),
        value=None,
        prior=None,
        vectors=None,
        functions={},
        matches=None,
        faster=None,
        begun=bundle.hash,
    )
    return again, replace(inputs, train=train, begun=bundle)


def folder_for(run: Path) -> Path:
    """Returns a folder beside a run that is not there yet, for the run that goes on from it."""
    places = (run.with_name(f"{run.name}-{number}") for number in count(2))
    return next(place for place in places if not place.exists())
