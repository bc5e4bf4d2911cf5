"""Planners run beside a program with a joint step as they do on the true rules."""

import random
from pathlib import Path
from typing import Any

import pytest

from cwm.sandbox.inside.program import LoadedCode
from cwm.synthesis.task import described
from games import registry
from games.posg.serialised import SerialisedPosg
from search.api import PlannerConfigError, Position
from search.posg import session
from search.posg.config import PosgPlannerConfig
from search.posg.planner import make

PROGRAMS = Path(__file__).parents[2] / "data" / "joint_programs"
SEEN = {"agent": 0, "step": 0, "seen": {"own": [1, 1], "other": [1, 1]}}
LEGAL = ["stay", "up", "down", "left", "right"]


ARGUMENT: dict[str, Any] = {"player": 0, "history": [[SEEN, None]], "legal": LEGAL}


def loaded(game_id: str) -> Any:
    game = registry.make(game_id)
    assert isinstance(game, SerialisedPosg)
    source = (PROGRAMS / f"{game_id}.py").read_text(encoding="utf-8")
    info = described(game.info, game.model.info)
    return LoadedCode({"source": source, "initial_state": None, "info": info}).instantiate()


REACHING = loaded("cooperative-reaching")


def test_a_decision_beside_a_program_is_the_one_on_the_true_rules() -> None:
    game = registry.make("cooperative-reaching")
    assert isinstance(game, SerialisedPosg)
    config = PosgPlannerConfig(method="pomcp", simulations=200, tables="always")
    told = session.choose(REACHING, ARGUMENT | {"config": config.to_json()}, random.Random(1))
    decision = make(game.model, 0, config).choose(Position(0, [(SEEN, None)]), random.Random(1), LEGAL)
    assert told["action"] == decision.action
    assert told["visits"] == decision.visits
    assert told["values"] == pytest.approx(decision.values, abs=1e-12)


REFUSED: list[Any] = [
    ({"types": ("uniform", "H1")}, "types names 'H1', a policy of the true game"),
    ({"types": ("uniform",), "unknown": 0.1, "unknown_as": "H1"}, "unknown_as names 'H1', a policy of the true game"),
    ({"types": ("uniform",), "unknown": 0.1, "unknown_as": "softened:H1"}, "unknown_as names 'H1', a policy of the"),
    (
        {"method": "pomcp", "belief": "inferred"},
        "a model without an inference function beside it infers nothing: use belief=adapted",
    ),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED)
def test_settings_that_need_the_true_game_are_refused(settings: dict[str, Any], message: str) -> None:
    config = PosgPlannerConfig(**settings)
    with pytest.raises(PlannerConfigError, match=message):
        session.check_types(config)
    # One that is stored so already finds no action, and nobody is at fault.
    told = session.choose(REACHING, ARGUMENT | {"config": config.to_json()}, random.Random(1))
    assert told["action"] is None
    assert told["fallback"]


@pytest.mark.parametrize("unknown_as", ["uniform", "softened:uniform"])
def test_others_of_no_type_may_act_at_random_on_a_model(unknown_as: str) -> None:
    config = PosgPlannerConfig(types=("uniform",), unknown=0.1, unknown_as=unknown_as, simulations=10)
    session.check_types(config)
    told = session.choose(REACHING, ARGUMENT | {"config": config.to_json()}, random.Random(1))
    assert (told["action"] in LEGAL, told["fallback"]) == (True, None)
