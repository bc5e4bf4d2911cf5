"""Code world models: a language model writes a game as a program, planners play on it, an arena compares them."""

import importlib
import importlib.util
import os.path

__version__ = "0.1.0"

_FACE = "arena.face"
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


def _table() -> dict[str, object]:
    """Returns the public face by name.

    Raises:
        ImportError: a folder of the user's stands before one of our packages.
    """
    home = os.path.dirname(os.path.dirname(__file__))
    for package in _BESIDE:
        spec = importlib.util.find_spec(package)
        place = "nowhere" if spec is None else spec.origin or str(list(spec.submodule_search_locations or ()))
        if os.path.dirname(os.path.dirname(place)) != home:
            raise ImportError(
                f"cwm lies in {home}, but Python finds the package {package!r} in {place}: rename or move what stands "
                "before ours, or start the script from another folder."
            )
    names: dict[str, object] = importlib.import_module(_FACE).NAMES
    return names


def _unknown(name: str) -> AttributeError:
    return AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
