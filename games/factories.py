"""Builds what a row of a registry names, with the parameters that a caller adds."""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from games.api import GameError


def build(
    game_id: str, factory: str, fixed: Mapping[str, Any], params: Mapping[str, Any], error: type[GameError] = GameError
) -> Any:
    """Calls a factory.

    Args:
        game_id: of the row.
        factory: `module:attribute`.
        fixed: arguments by name that the row fixes.
        params: arguments by name that the caller adds.
        error: what is raised about the parameters.

    Raises:
        GameError: of class `error`: a parameter is fixed by the id, or the factory takes none of that name.
    """
    module, attribute = factory.split(":")
    make = getattr(importlib.import_module(module), attribute)
    twice = sorted(set(params) & set(fixed))
    if twice:
        raise error(f"The id {game_id} fixes {', '.join(twice)}; leave it out or choose another id.")
    try:
        arguments = inspect.signature(make).bind(**fixed, **params)
    except TypeError as refused:
        raise error(f"{game_id} cannot be made with {sorted(params)}: {refused}.") from refused
    return make(*arguments.args, **arguments.kwargs)
