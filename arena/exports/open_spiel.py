"""Writes a model as a Python file that registers it as an OpenSpiel game when it is imported."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from arena.runs.hidden_information import HiddenInformation
from arena.runs.origins import true_game
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.model.world_model import WorldModel
from cwm.observations.samples import samples_of
from cwm.observations.values import ObservationVectorError
from cwm.observations.vectors import infer
from cwm.sandbox.parent.host import Sandbox
from cwm.trajectories.varied import varied_game
from games.adapters.action_table import action_tables
from games.api import Action, Json

SAMPLE_GAMES: Final = 30
SAMPLES_SEED: Final = 5_000_011
"""Games from which the schema of a model's observations is inferred."""

SANDBOXED = '''"""OpenSpiel game {name}: a code world model of {game}.

Import this file, then `pyspiel.load_game("{name}")`. The program inside was written by a language model. It runs in a
worker process (package code-world-models) that is started with the first state. Never hand the game to a bot written
in C++ (`pyspiel.MCTSBot` and its kin): they crash on every game that is written in Python.

Model: SHA-256 {hash}
"""

import json

from cwm.exported import register

SHORT_NAME = {name!r}
MODEL = ({bundle})
# How each observation becomes the numbers of its tensor.
OBSERVATIONS = {observations}
# An action's place in its list is its number.
ACTIONS, CHANCE_ACTIONS = json.loads({actions})

GAME = register(MODEL, SHORT_NAME, ACTIONS, CHANCE_ACTIONS, observations=OBSERVATIONS)
'''

IN_PROCESS = '''"""OpenSpiel game {name}: a code world model of {game}.

Import this file, then `pyspiel.load_game("{name}")`. THE PROGRAM BELOW WAS WRITTEN BY A LANGUAGE MODEL AND RUNS IN YOUR
PROCESS, with all that your process may do: read it before you import it. (`cwm export` without --in-process writes a
file that runs it in a worker.) Never hand the game to a bot written in C++: they crash on every game in Python.

Model: SHA-256 {hash}
"""

import json

from cwm.exported import register

SHORT_NAME = {name!r}
MODEL = ({bundle})
# How each observation becomes the numbers of its tensor.
OBSERVATIONS = {observations}
# An action's place in its list is its number.
ACTIONS, CHANCE_ACTIONS = json.loads({actions})

GAME = register(MODEL, SHORT_NAME, ACTIONS, CHANCE_ACTIONS, observations=OBSERVATIONS, in_process=True)
'''


@dataclass(frozen=True)
class Exported:
    """A file to be written, and the game's name in OpenSpiel."""

    text: str
    short_name: str


def export(bundle: ModelBundle, name: str | None = None, in_process: bool = False) -> Exported:
    """Returns the file.

    Args:
        bundle: the model.
        name: OpenSpiel's short name; by default `cwm_` and the game's id.
        in_process: run the program in the importing process instead of a worker.

    Raises:
        UsageError: the name is none that OpenSpiel's strings can hold.
        WorldModelError: the model failed while its actions were collected.
    """
    short = name or "cwm_" + re.sub(r"\W+", "_", str(bundle.info["id"]), flags=re.ASCII)
    if not re.fullmatch(r"\w+", short, re.ASCII):
        raise UsageError(f"The name is {short!r}; it must be letters, digits and underscores, e.g. cwm_tic_tac_toe.")
    template = IN_PROCESS if in_process else SANDBOXED
    text = template.format(
        name=short,
        # As JSON, since a user's own game may bear any name, and this one stands in a string.
        game=json.dumps(bundle.info["id"]),
        hash=bundle.hash,
        bundle=_wrapped(_content(bundle)),
        observations=_observations(bundle),
        actions=_wrapped(_actions(bundle)),
    )
    return Exported(text, short)


def _content(bundle: ModelBundle) -> dict[str, Any]:
    return {
        "source": bundle.source,
        "value_source": bundle.value_source,
        "initial_state": bundle.initial_state,
        "info": bundle.info,
        "rules_hash": bundle.rules_hash,
        "prior_source": bundle.prior_source,
        # Of all that is known of its origin, only this changes how its functions are called.
        "metadata": HiddenInformation.of(bundle).metadata(),
    }


def _actions(bundle: ModelBundle) -> list[list[Action]]:
    """Returns the strings of the players' actions and of chance's outcomes.

    Random games meet too few of them where most games end early; the true game, where there is one, knows them all.
    """
    reference = HiddenInformation.of(bundle).judge(true_game(bundle))
    if reference is not None:
        tables = action_tables(reference, None, None)
    else:
        with WorldModel(bundle, Sandbox()) as model:
            tables = action_tables(model, None, None)
    return [list(table.names) for table in tables]


def _observations(bundle: ModelBundle) -> str:
    """Returns the schema of observations as a Python expression: the model's own, or one of varied games on it."""
    schema = bundle.schema
    if schema is None:
        with WorldModel(bundle, Sandbox()) as model:
            played = [varied_game(model, SAMPLES_SEED, index) for index in range(SAMPLE_GAMES)]
        try:
            schema = infer(seen for _, seen in samples_of(played)).to_json()
        except ObservationVectorError:
            return "None"
    return f"({_wrapped(schema)})"


def _wrapped(data: Json) -> str:
    text = json.dumps(data, indent=1)
    lines = "\n".join("    " + repr(line + "\n") for line in text.split("\n"))
    return f"\n{lines}\n"
