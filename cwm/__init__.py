"""Code world models: a language model writes a game as a program, planners play on it, an arena compares them."""

import importlib
import importlib.util
import os.path
import pickle
import sys
from importlib.machinery import ModuleSpec, PathFinder

__version__ = "0.1.0"

_FACE = "arena.face"
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_BESIDE = ("arena", "games", "search")


def __getattr__(name: str) -> object:
    """Returns a name of the public face, whose module is loaded for the first of them."""
    if name.startswith("_") or importlib.util.find_spec(f"{__name__}.{name}") is not None:
        raise _unknown(name)
    table = _table()
    if name not in table:
        raise _unknown(name)
    return table[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_table()})


def put_ours_first() -> None:
    """Has the packages beside this one found, though files of the user's bear their names and stand before them.

    A script's folder comes first on the path; a folder `games` in it would be taken for ours.

    Raises:
        ImportError: the user's is loaded already.
    """
    before = {name: place for name in _BESIDE if os.path.dirname(os.path.dirname(place := _place(name))) != _HOME}
    for name, place in before.items():
        if name in sys.modules:
            raise ImportError(
                f"cwm lies in {_HOME} and needs its own package {name!r}, but {place} was imported before under this "
                "name: rename yours."
            )
    if before:
        sys.meta_path.insert(0, _OursFirst(before))


def begin(work: bytes, *arguments: object) -> object:
    """Runs a function of ours in a process that was spawned for it.

    Such a process has the path of the script that started it, and unpickles the function before any module of ours had
    a say: beside a file `arena.py` of the user's it would look for it there. This package's name is nobody else's.

    Args:
        work: a function, pickled: `pickle` names it, and nothing of it is imported before `put_ours_first`.
        *arguments: of the function.
    """
    put_ours_first()
    return pickle.loads(work)(*arguments)  # noqa: S301


def _place(name: str) -> str:
    """Returns the file that a package is, or would be, imported from."""
    loaded = sys.modules.get(name)
    spec = importlib.util.find_spec(name) if loaded is None else loaded.__spec__
    file = getattr(loaded, "__file__", None) if spec is None else spec.origin
    return os.path.abspath(file or "nowhere")


class _OursFirst:
    """Finds packages of ours where they lie.

    Attributes:
        before: those that Python would find elsewhere, and where.
    """

    def __init__(self, before: dict[str, str]) -> None:
        self.before = before

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Returns where a package of ours lies; None for all else.

        Raises:
            ImportError: a module is asked for that ours lacks: the user's is meant.
        """
        if name in self.before:
            return PathFinder.find_spec(name, [_HOME])
        top, _, inner = name.partition(".")
        if top in self.before and PathFinder.find_spec(name, [os.path.join(_HOME, *name.split(".")[:-1])]) is None:
            raise ImportError(
                f"There is no {inner!r} in cwm's package {top!r}, which this program uses; yours of the same name, "
                f"{self.before[top]}, cannot be imported beside it: rename yours."
            )
        return None


def _table() -> dict[str, object]:
    """Returns the public face by name.

    Raises:
        ImportError: the program has imported a module of its own that bears the name of one of our packages.
    """
    put_ours_first()
    names: dict[str, object] = importlib.import_module(_FACE).NAMES
    return names


def _unknown(name: str) -> AttributeError:
    return AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
