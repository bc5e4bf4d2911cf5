import importlib
import inspect
import pkgutil
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.commands import exit_codes
from arena.exports import film_files, game_files
from arena.exports.film import Film
from arena.exports.film_files import Format, Target
from arena.pages import run_page as page
from arena.report.data import ReportData
from arena.usage import UsageError
from cwm.llm.api import ConfigurationError
from cwm.model.bundle import PROGRAM_FILE, ModelBundle
from cwm.record.record import RunConfigError
from cwm.storage.files import write_whole
from cwm.storage.journal import RunLockedError
from cwm.trajectories import recorded
from games.yokai.drawing import Canvas, Frame

PACKAGES = ("arena", "cwm", "games", "search")

NEVER_SHOWN = {
    "arena.agents.api.AgentFailure": "the match makes a forfeit of it",
    "arena.agents.llm_settings.LlmConfigError": "the description of the agent is refused with its message",
    "arena.agents.own_settings.OwnSettingsError": "the description of the agent is refused with its message",
    "arena.own_agents.line_process.EndedError": "the game is forfeited with its message",
    "arena.own_agents.line_process.FloodError": "the game is forfeited",
    "arena.own_agents.line_process.LateError": "the game is forfeited with its message",
    "arena.matches.match._Forfeited": "the match makes a forfeit of it",
    "arena.language_players.notation.NotationError": "the answer is unparsable",
    "cwm.interface.text.UnknownFunctionError": "a fault in a prompt template of ours",
    "cwm.model.walk.EndlessWalkError": "the worker counts the game as broken and begins another",
    "cwm.model.walk.WalkError": "the worker counts the game as broken and begins another",
    "arena.web.lobby.NotHereError": "the page gets status 404",
    "arena.web.seat.PlayerLeftError": "ends the game of a table",
    "cwm.llm.json_answers.NoJsonAnswerError": "the call becomes an empty answer or is tried again",
    "cwm.llm.json_answers.BrokenJsonError": "the same; a scaffold counts it among bad answers",
    "cwm.llm.providers.transport.DeadlinePassedError": "the attempt is tried again",
    "cwm.sandbox.wire.arrays.ArrayError": "the host makes a reply of it",
    "cwm.sandbox.parent.channel.ChannelError": "the host makes a reply of it",
    "cwm.sandbox.parent.channel.ClosedError": "the host makes a reply of it",
    "cwm.sandbox.parent.channel.DeadlineError": "the host makes a reply of it",
    "cwm.sandbox.parent.channel.OversizeError": "the host makes a reply of it",
    "cwm.sandbox.inside.checked_game.ContractError": "the worker makes a reply of it",
    "cwm.sandbox.inside.comparisons.Mismatch": "the worker makes a test result of it",
    "cwm.sandbox.parent.nurseries.NurseryError": "the host starts the worker by itself",
    "cwm.sandbox.wire.plain_json.NotJsonError": "the worker makes a reply of it",
    "cwm.sandbox.inside.draws.DrawError": "raised within an untrusted program, in its worker",
    "cwm.sandbox.inside.joint_program.Contradiction": "the worker makes a problem of the sample, or a fallback, of it",
    "cwm.sandbox.inside.joint_program.MissingFunctionError": "the worker makes a reply of it",
    "cwm.sandbox.lock.seccomp.LockError": "the worker ends, and the host says that the sandbox is not available",
    "cwm.interface.templates.TemplateMissingError": "a fault in our package data",
    "cwm.functions.vectors_check._BrokenError": "the pair of functions is rejected with its message",
    "cwm.model.many_games.ModelBrokenError": "the worker makes a reply of it",
    "cwm.storage.lock.LockHeldError": "the run's or the store's own error takes its place",
    "cwm.twins.frames.FrameError": "the process that compiles twins is given up, and what it was asked fails",
    "cwm.twins.text.language.TwinTextError": "the process that compiles twins makes a reply of it",
    "cwm.twins.tracing.UnfitTwinError": "the worker makes a reply of it",
    "games.contract.session.AnswerError": "the worker makes a violation of it",
    "games.contract.report.ContractError": "for tests of games",
    "games.contract.report.Stop": "ends one check of a game's contract",
    "games.posg.serialised._OpenDraw": "says which draw of a step is to be made next",
    "search.errors.BrokenModelError": "counted by the search",
    "search.errors.NoHistoryError": "the search falls back",
}


def exception_classes() -> Iterator[type[BaseException]]:
    for package in PACKAGES:
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, f"{package}."):
            try:
                loaded = importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                if (error.name or "").split(".")[0] in PACKAGES:
                    raise
                continue  # an optional extra is not installed
            for _, found in inspect.getmembers(loaded, inspect.isclass):
                if issubclass(found, BaseException) and found.__module__ == module.name:
                    yield found


def test_every_exception_of_ours_has_an_exit_code_or_a_reason_to_have_none() -> None:
    known = {f"{found.__module__}.{found.__name__}": found for found in exception_classes()}
    assert len(known) > 40
    unmapped = {name for name, found in known.items() if exit_codes.exit_code(found.__new__(found)) is None}
    assert unmapped == set(NEVER_SHOWN)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), 2),
        (ConfigurationError("no key"), 3),
        (RunConfigError("other settings"), 2),
        (RunLockedError("locked"), 4),
        (PermissionError(13, "Permission denied", "f"), 4),
        (sqlite3.OperationalError("disk I/O error"), 4),
        (KeyboardInterrupt(), 130),
        (KeyError("a fault of ours"), None),
    ],
)
def test_error_has_the_documented_exit_code(error: BaseException, code: int | None) -> None:
    assert exit_codes.exit_code(error) == code


FILM = Film("toy", Canvas("toy", 1, 1, "", ""), (Frame("dealt", "", ""),))
WRITERS: dict[str, Callable[[Path], object]] = {
    "text": lambda path: write_whole(path, "text"),
    "bytes": lambda path: write_whole(path, b"bytes"),
    "text that must be new": lambda path: write_whole(path, "text", replace=False),
    "trajectories": lambda path: recorded.write(path, []),
    "games as JSON": lambda path: game_files.write(path.with_suffix(".json"), {}),
    "a drawn game": lambda path: film_files.write(FILM, Target(Format.HTML, out=path.with_suffix(".html"))),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
def test_a_file_in_a_missing_folder_is_told_by_the_place_that_the_user_gave(
    write: Callable[[Path], object], tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "missing" / "file")
    assert re.fullmatch(
        rf"{tmp_path}/missing/file(\.json|\.html)? cannot be used: No such file or directory; "
        "give a path that can be read and written, and make its folder.",
        exit_codes.sentence(caught.value),
    )


MAKERS: dict[str, Callable[[Path], object]] = {
    "a report": lambda folder: page.write(ReportData("toy", "toy", "today", "none"), folder / "file"),
    "a model": lambda folder: ModelBundle("", None, {}, {}, "").save(folder),
    "a file under a file": lambda folder: write_whole(folder / "file" / "taken" / "report.html", "text"),
}


@pytest.mark.parametrize("write", MAKERS.values(), ids=MAKERS.keys())
def test_a_place_that_is_taken_is_told_by_its_name(write: Callable[[Path], object], tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "taken").touch()
    (tmp_path / PROGRAM_FILE).mkdir()
    with pytest.raises((IsADirectoryError, NotADirectoryError)) as caught:
        write(tmp_path)
    place = exit_codes.sentence(caught.value).split(" cannot be used: ")[0]
    assert place in [str(tmp_path / name) for name in ("file", PROGRAM_FILE, "file/taken/report.html")]
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_system_error_without_a_file_is_told_too() -> None:
    assert exit_codes.sentence(OSError(28, "No space left on device")).startswith(
        "A file cannot be used: No space left"
    )
    assert exit_codes.sentence(OSError("unknown")) == "unknown"


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("leave out the option `posterior`.", "leave out --posterior."),
        ("The option `seeds` names x", "--seeds names x"),
        (
            "give both options, `price_in` and `price_out`, per million",
            "give both --price-in and --price-out, per million",
        ),
        ("the function `value_function` raised", "the function `value_function` raised"),
    ],
)
def test_options_of_the_library_are_named_as_flags(told: str, shown: str) -> None:
    assert exit_codes.sentence(ValueError(told)) == shown
