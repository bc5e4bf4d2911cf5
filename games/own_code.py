"""Code of the user's own: `python:FILE:NAME` where a game or an agent is named.

It is the user's, so it is imported and runs as everything that he starts does: in this process and in those of the
games, in no sandbox. Files are known by their content: one that changed is another.
"""

import hashlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from games.api import Game, GameError, GameInfo
from games.posg.api import PosgInfo
from games.posg.serialised import SerialisedPosg

PREFIX: Final = "python:"
RULES: Final = "RULES"
"""The name of a file's rules text."""
_METHODS: Final = (
    "initial_state",
    "current_player",
    "legal_actions",
    "chance_outcomes",
    "apply_action",
    "rewards",
    "observations",
)
_METHODS_OF_MANY: Final = ("initial_state", "active", "legal_actions", "move", "observe")
"""Of a game in which agents act at the same time."""


class OwnCodeError(GameError):
    """Code of the user's own cannot be used; the message says which, why and what to do."""


@dataclass(frozen=True)
class Place:
    """A name in a file.

    Attributes:
        file: absolute.
        name: of a class or a function.
    """

    file: Path
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"

    @property
    def hash(self) -> str:
        """SHA-256 of the file's content and the name, in hexadecimal; raises as `read` does."""
        return hashlib.sha256(self.name.encode() + b"\0" + _read(self.file)).hexdigest()


_loaded: dict[Path, tuple[bytes, ModuleType]] = {}
_listeners: list[Callable[[Path], None]] = []


def place_of(text: str, example: str) -> Place:
    """Returns the place that `FILE:NAME` names.

    Args:
        text: as it was given, without `python:`; a relative file is one of the working folder.
        example: how to write it, for the message.

    Raises:
        OwnCodeError: it is no such text.
    """
    file, colon, name = text.rpartition(":")
    if not colon or not file.strip() or not name.isidentifier():
        raise OwnCodeError(f"{PREFIX + text!r} does not name a file and a class in it: write {example}.")
    return Place(Path(os.path.abspath(Path(file).expanduser())), name)


def load(place: Place) -> Any:
    """Returns what a name in a file stands for; the file is imported once, and anew when its content changed.

    Raises:
        OwnCodeError: the file cannot be read or imported, or has no such name; the message says why.
    """
    module = _module(place.file)
    if not hasattr(module, place.name):
        known = [name for name, value in vars(module).items() if _is_own(module, name, value)]
        raise OwnCodeError(
            f"{place.file} has no {place.name!r}; it has {', '.join(known) or 'no class and no function of its own'}."
        )
    return getattr(module, place.name)


def make(game: str, **params: Any) -> Game:
    """Builds the game of `FILE:NAME`.

    Args:
        game: the file, and the class or function in it that gives the game.
        **params: for that class or function.

    Raises:
        OwnCodeError: it cannot be built, or is no game.
    """
    place = place_of(game, "python:FILE:NAME")
    return built(load(place), f"{PREFIX}{place}", params)


def built(factory: Any, game_id: str, params: dict[str, Any]) -> Game:
    """Builds a game that is not ours, and gives it the id by which it is found again.

    Raises:
        OwnCodeError: it cannot be built, or is no game.
    """
    try:
        inspect.signature(factory).bind(**params)
    except TypeError as error:
        raise OwnCodeError(f"{game_id} cannot be made with {sorted(params)}: {error}.") from error
    try:
        made = factory(**params)
        info = getattr(made, "info", None)
    except Exception as error:
        raise OwnCodeError(f"{game_id} cannot be made: {described(error)}.") from error
    if isinstance(info, PosgInfo):
        lacking = [name for name in _METHODS_OF_MANY if not callable(getattr(made, name, None))]
        if lacking:
            raise OwnCodeError(f"{game_id} lacks {', '.join(lacking)}; see the methods of games.posg.api.PosgModel.")
        return SerialisedPosg(made, game_id=game_id)
    lacking = [name for name in _METHODS if not callable(getattr(made, name, None))]
    if lacking or not isinstance(info, GameInfo):
        wrong = f"lacks {', '.join(lacking)}" if lacking else f"has the info {info!r}, which is no games.api.GameInfo"
        raise OwnCodeError(f"{game_id} is no game: it {wrong}; see the methods of games.api.Game.")
    return _named(made, replace(info, id=game_id))


def rules(game: str) -> str:
    """Returns the rules text of the game of `FILE:NAME`: what the file calls `RULES`.

    Raises:
        OwnCodeError: there is none.
    """
    place = place_of(game, "python:FILE:NAME")
    return rules_in(_module(place.file), f"{PREFIX}{place}")


def rules_in(module: ModuleType, game_id: str) -> str:
    """Returns the rules text of a module; errors as for `rules`."""
    text = getattr(module, RULES, None)
    if not isinstance(text, str):
        raise OwnCodeError(f"{game_id} has no rules text: say {RULES} = '...' in its file, the rules for people.")
    return text


def described(error: BaseException) -> str:
    """Returns an error in one line, with its place in a file of the user's own where it came from one."""
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) in _loaded]
    return f"{frames[-1].filename}, line {frames[-1].lineno}: {said}" if frames else said


def is_to_blame(error: BaseException) -> bool:
    """Whether an error came out of a file of the user's own."""
    return any(Path(frame.filename) in _loaded for frame in traceback.extract_tb(error.__traceback__))


@contextmanager
def heard_by(listener: Callable[[Path], None]) -> Iterator[None]:
    """Has somebody told of each file of the user's own whose code is used."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise OwnCodeError(
            f"{file} cannot be read ({error.strerror}): give a Python file as python:FILE:NAME."
        ) from error


def _module(file: Path) -> ModuleType:
    content = _read(file)
    for listener in _listeners:
        listener(file)
    if file in _loaded and _loaded[file][0] == content:
        return _loaded[file][1]
    # A name that no other module has: files of the same name may lie in several folders.
    name = f"{file.stem}_{hashlib.sha256(str(file).encode() + content).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise OwnCodeError(f"{file} is no Python file: its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    if str(file.parent) not in sys.path:
        # What lies beside it can be imported, and hides nothing that is installed.
        sys.path.append(str(file.parent))
    earlier = _loaded.get(file)
    _loaded[file], sys.modules[name] = (content, module), module
    try:
        # As it was read: what Python keeps compiled beside it is known by size and second, and may be older.
        exec(compile(content, str(file), "exec"), vars(module))  # noqa: S102
    except (Exception, SystemExit) as error:
        told = described(error)
        del sys.modules[name], _loaded[file]
        if earlier is not None:
            _loaded[file] = earlier
        raise OwnCodeError(f"{file} cannot be imported: {told}.") from error
    return module


def _is_own(module: ModuleType, name: str, value: Any) -> bool:
    return not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == module.__name__


def _named(made: Any, info: GameInfo) -> Game:
    def get_info(self: Any) -> GameInfo:
        return info

    # A subclass, not a wrapper: the optional protocols are told by the methods that a game has.
    base = type(made)
    own = type(base.__name__, (base,), {"__slots__": (), "info": property(get_info), "__module__": base.__module__})
    try:
        object.__setattr__(made, "__class__", own)
    except TypeError as error:
        raise OwnCodeError(
            f"{info.id} is no game that can be named: {error}; write it as a class of its own."
        ) from error
    game: Game = made
    return game
