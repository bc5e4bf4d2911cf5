"""The kinds of functions that can be synthesised beside a model of a game in turns: one row each, in the order in which
they are shown; `cwm.functions.joint.kinds` has those beside a program with a joint step."""

from typing import Final

from cwm.functions import prior, value, vectors
from cwm.functions.one_shot import FunctionKind

KINDS: Final[tuple[FunctionKind, ...]] = (value.KIND, prior.KIND, vectors.KIND)
