"""Nothing depends on the order of hashes: what two processes with different hash seeds make is equal."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import hashlib, json, sys
from dataclasses import replace
from arena.evaluation import mixture as policies
from arena.runs import inputs as run_inputs
from arena.pipeline import synthesis as synthesis_run
from arena.matches import tournament
from arena.agents.specs import parse
from arena.runs.standard import standard_settings
from cwm.llm.caps import Caps
from arena.matches.store import MemoryStore
from arena.matches.plan import TournamentConfig
from games import registry

def digest(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()

made = {"order of a set": list({f"name {number}" for number in range(50)})}
for game_id in ("tic_tac_toe", "leduc_poker", "yokai-9c-2p"):
    settings = standard_settings(game_id, "openai:unnamed", None, 0)
    inputs = run_inputs.registered(game_id, 2, 0)
    made[f"prompt of {game_id}"] = synthesis_run.first_prompt(inputs, settings, Caps()).prompt
    made[f"suite of {game_id}"] = synthesis_run.make_task(inputs).suite_hash(settings.synthesis.to_json())
    game = registry.make(game_id)
    mixture = [
        replace(entry, policy=policies.SearchPolicy(game, 3)) if entry.name.startswith("search") else entry
        for entry in policies.standard_mixture(game)
    ]
    games = policies.collect_mixed(game, 4, 7, mixture)
    made[f"games of {game_id}"] = digest([[[step.player, step.action, step.state] for step in g.steps] for g in games])
agents = tuple(parse(text) for text in ("ismcts:sims=20,name=searcher", "random"))
config = tournament.prepare(TournamentConfig("leduc_poker", agents, 2, 3))
result = tournament.run(config, MemoryStore())
made["tournament"] = [[record.seats, record.actions, record.returns] for record in result.records]
made["keys"] = [game.key for game in tournament.plan(config)]
lineups = result.table.to_json()["lineups"]
made["table"] = digest(lineups)
print(json.dumps(made))
"""


def made(hash_seed: str) -> dict[str, Any]:
    """Returns what a fresh process with this hash seed makes."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def both() -> tuple[dict[str, Any], dict[str, Any]]:
    return made("1"), made("2")


def test_prompts_suites_test_games_and_tournaments_do_not_depend_on_the_order_of_hashes(
    both: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    first, second = both
    # The two processes do order their sets differently, or the test would show nothing.
    assert first.pop("order of a set") != second.pop("order of a set")
    assert first == second
    assert len(first) == 12
    assert len(first["tournament"]) > 4
