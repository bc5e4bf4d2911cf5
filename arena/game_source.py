"""Opens the game that a match is played on: a registered one, or a synthesised model as its own referee."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena import shipped
from arena.agent_specs import AgentSpecError
from cwm.model_bundle import ModelBundle
from cwm.sandbox.host import Sandbox
from cwm.world_model import WorldModel
from games import registry
from games.api import Game

MODEL_PREFIX = "cwm:"


@contextmanager
def open_game(game_id: str, **params: Any) -> Iterator[Game]:
    """Opens a game by registry id, or `cwm:RUN_OR_BUNDLE`: then the model decides what is legal and who wins.

    Raises:
        UnknownGameError: no game has this id.
        AgentSpecError: no model can be read from the folder.
    """
    if not game_id.startswith(MODEL_PREFIX):
        yield registry.make(game_id, **params)
        return
    bundle = load_bundle(Path(game_id.removeprefix(MODEL_PREFIX)))
    with WorldModel(bundle, Sandbox(level=shipped.level_of([bundle.hash]))) as model:
        yield model


def load_bundle(folder: Path) -> ModelBundle:
    """Reads the model of a run's or a model's folder.

    Raises:
        AgentSpecError: there is none, or its files do not belong together.
    """
    try:
        return ModelBundle.load(folder)
    except (OSError, ValueError, KeyError) as error:
        raise AgentSpecError(
            f"No model can be read from {str(folder)!r} ({error}); give the folder of a finished run."
        ) from error
