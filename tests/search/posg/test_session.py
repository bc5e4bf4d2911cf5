"""Planners run beside a program with a joint step as they do on the true rules."""

import random
from pathlib import Path

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


def test_a_decision_beside_a_program_is_the_one_on_the_true_rules() -> None:
    game = registry.make("cooperative-reaching")
    assert isinstance(game, SerialisedPosg)
    source = (PROGRAMS / "cooperative-reaching.py").read_text(encoding="utf-8")
    info = described(game.info, game.model.info)
    program = LoadedCode({"source": source, "initial_state": None, "info": info}).instantiate()
    config = PosgPlannerConfig(method="pomcp", simulations=200, tables="always")
    argument = {"config": config.to_json(), "player": 0, "history": [[SEEN, None]], "legal": LEGAL}
    told = session.choose(program, argument, random.Random(1))  # type: ignore[arg-type]
    decision = make(game.model, 0, config).choose(Position(0, [(SEEN, None)]), random.Random(1), LEGAL)
    assert told["action"] == decision.action
    assert told["visits"] == decision.visits
    assert told["values"] == pytest.approx(decision.values, abs=1e-12)


def test_types_of_the_true_game_are_refused() -> None:
    with pytest.raises(PlannerConfigError, match="types names 'H1', a policy of the true game"):
        session.check_types(PosgPlannerConfig(method="ipomcp", types=("uniform", "H1")))
