"""A run's record checked: that its programs are those of its calls, and its figures those of its games."""

from collections.abc import Iterator

from arena.evaluation import played_games
from arena.matches.verification import Problem
from arena.runs import folder
from arena.runs import inputs as run_inputs
from arena.runs.folder import INPUTS
from arena.runs.settings import RunSettings
from cwm.llm.requests import request_key
from cwm.record.record import RunRecord
from cwm.storage.journal import RunCorruptError
from games.api import Game


def verify_run(record: RunRecord) -> list[Problem]:
    """Checks programs, calls, recorded games and the model of a synthesis run; its matches are another folder's.

    Args:
        record: open for reading.

    Raises:
        RunCorruptError: the journal cannot be read.
        UsageError: the inputs of the run cannot be read.
    """
    settings = RunSettings.from_record(record.info.config)
    problems = [*_programs(record), *_calls(record)]
    inputs = run_inputs.load(record.folder / INPUTS, settings)
    if inputs.game is not None:
        problems += _recorded_games(inputs.game, inputs)
    bundle, result = folder.read_bundle(record.folder), folder.read_result(record.folder)
    if bundle is not None and result and result["model"] != bundle.hash:
        message = f"it names model {result['model']}, but the run holds {bundle.hash}"
        problems.append(Problem(folder.RESULT_FILE, message))
    return problems


def _programs(record: RunRecord) -> Iterator[Problem]:
    for program in record.programs():
        try:
            record.program_source(program.hash)
        except RunCorruptError as error:
            yield Problem(program.hash, str(error))


def _calls(record: RunRecord) -> Iterator[Problem]:
    for number, call in enumerate(record.calls.calls(), start=1):
        if request_key(call.request, call.model) != call.key:
            yield Problem(call.key, f"call {number} of the journal was changed: its key is not that of its request")


def _recorded_games(game: Game, inputs: run_inputs.Inputs) -> Iterator[Problem]:
    for trajectory in inputs.train:
        actions = [step.action for step in trajectory.steps if step.action is not None]
        if played_games.followed(game, trajectory.index, actions).steps != trajectory.steps:
            place = f"{run_inputs.TRAIN_FILE}, game {trajectory.index}"
            yield Problem(place, "the recorded game is not what the true rules make of its actions")
