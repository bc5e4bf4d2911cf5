"""The kinds of functions that can be synthesised beside a model: one row each, in the order in which they are shown."""

from typing import Final

from cwm.functions import prior, value, vectors
from cwm.functions.one_shot import FunctionKind
from cwm.functions.types import FunctionChosen, FunctionTested

KINDS: Final[tuple[FunctionKind, ...]] = (value.KIND, prior.KIND, vectors.KIND)


def kind_of(event: FunctionTested | FunctionChosen) -> FunctionKind:
    """Returns the kind of function that an event tells of."""
    return next(kind for kind in KINDS if isinstance(event, kind.tested | kind.chosen))
