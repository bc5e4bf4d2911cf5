"""One row a kind of function, and prompts that stay as they are: recorded completions answer them to the letter."""

import hashlib
import json

import pytest

from arena.pipeline.function_choice import Beside
from arena.runs.settings import RunSettings
from cwm.functions import prior, value, vectors
from cwm.functions.joint.kinds import kind_of
from cwm.functions.kinds import KINDS
from cwm.functions.one_shot import FunctionKind
from cwm.functions.types import FunctionCandidate, FunctionReport
from cwm.model.bundle import ModelBundle
from cwm.observations.samples import samples_of
from cwm.trajectories.recorded import collect
from games import registry

SLOW = FunctionCandidate(0, "def g(): pass\n", "h", "slow", FunctionReport(("a problem",), 12.5, 3))
PINNED = {
    "value": ("6665705c4e8ce68b",),
    "prior": ("8eddedbd1a54a1ca", "5ee3bf6a216f62bc"),
    "vectors": ("94566932dc0ba5a8", "24e8f5bd5d4fa6a7"),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_prompts_of_a_kind_are_equal_byte_for_byte(kind: FunctionKind) -> None:
    game, source = registry.make("leduc_poker"), "def f():\n    return 1\n"
    games = collect(game, 4, 0)
    samples = tuple(samples_of(games))
    task = {
        "value": value.task_of("RULES", game.info, source, games),
        "prior": prior.task_of("RULES", game.info, source, games),
        "vectors": vectors.VectorTask("RULES", game.info, source, samples, samples, samples).asked,
    }[kind.name]
    texts = [kind.prompt(task)]
    if kind.too_slow:
        texts.append(kind.repair_prompt(task, SLOW, kind.config()))
    assert tuple(hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts) == PINNED[kind.name]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_row_names_a_setting_a_result_and_a_place_beside_the_model(kind: FunctionKind) -> None:
    asked = RunSettings("tic_tac_toe", True).with_functions({kind.name: kind.config(num_candidates=3)})
    assert RunSettings.from_record(json.loads(json.dumps(asked.to_json()))).asked_functions == asked.asked_functions
    assert kind.result in Beside().results
    with_one = ModelBundle("", None, {}, {}, "").with_function(kind.name, "def g(): pass")
    assert getattr(with_one, f"{kind.name}_source") == "def g(): pass"
    assert with_one.with_function(kind.name, None) == ModelBundle("", None, {}, {}, "")
    assert kind_of(kind.tested(0, "checked", "", (), None)) is kind
    assert kind_of(kind.chosen(None, ())) is kind
