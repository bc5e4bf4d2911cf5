"""A stored twin that is verified: its proof again, games of another seed, its texts traced again."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from arena.pipeline import twin
from cwm.twins.form import ArrayForm, TwinForm
from cwm.twins.proof import ProofConfig, ProofResult, ProofState
from cwm.twins.stored import StoredTwin, jax_version
from cwm.twins.traced import TEXTS, TracedTwin

TRACED = TracedTwin(TwinForm((ArrayForm("x", "int32", ()),), ("a",), (), 1, 1), dict.fromkeys(TEXTS, "text"))
CONFIG = ProofConfig(transitions=20_000, seed=4)
PROVED = ProofResult(ProofState(batches=1, games=9, transitions=20_000, states=5, digest="d"), 3, (), 20_000)


@pytest.fixture
def verified(monkeypatch, tmp_path):
    """Returns what verifying says and tells, and what was proved for it."""

    def of(stored=None, results=(PROVED, PROVED), traced=TRACED):
        stored = stored or StoredTwin("source", TRACED, None, "model", CONFIG, PROVED.to_json(), (), jax_version())
        stored.save(tmp_path / "model")
        asked, told, left = [], [], list(results)
        bundle = SimpleNamespace(hash="model", program=lambda: SimpleNamespace(initial_state={}, info={}))
        monkeypatch.setattr(twin.ModelBundle, "load", lambda run: bundle)

        def prove(task, config, level, begun, keep):
            asked.append(config)
            return left.pop(0)

        class Worker:
            def __init__(self, *given):
                """It is given what a worker is given."""

            def traced(self, width):
                return traced

            def __enter__(self):
                return self

            def __exit__(self, *given):
                """There is nothing to close."""

        monkeypatch.setattr(twin, "prove", prove)
        monkeypatch.setattr(twin, "TwinWorker", Worker)
        problems = [problem.message for problem in twin.verify(tmp_path, None, tell=told.append)]
        return problems, told, asked

    return of


def test_a_twin_is_compared_again_and_in_games_of_another_seed(verified):
    problems, told, asked = verified()
    assert problems == []
    assert asked[0] == CONFIG
    assert asked[1].transitions == 2000
    assert asked[1].seed != CONFIG.seed
    assert told[0].startswith("twin: 20,000 transitions compared again, 20,000 in games of another seed")
    assert told[0].endswith("3 of 3 branches of the program met")


def test_whatever_does_not_come_to_the_same_is_told(verified):
    other = replace(PROVED, state=replace(PROVED.state, digest="e"))
    assert verified(results=(other, PROVED))[0] == ["the proof comes to other figures: digest: d stored, e now"]
    short = replace(PROVED, state=replace(PROVED.state, transitions=7))
    assert "is not proved again" in verified(results=(short,))[0][0]
    assert "is not proved: 7 transitions" in verified(results=(PROVED, short))[0][0]
    retraced = replace(TRACED, texts=TRACED.texts | {"step": "other"})
    assert "not those that its source is traced to" in verified(traced=retraced)[0][0]


def test_texts_of_another_jax_are_not_compared(verified):
    stored = StoredTwin("source", TRACED, None, "model", CONFIG, PROVED.to_json(), (), "0.0")
    problems, told, _ = verified(stored, traced=replace(TRACED, texts={}))
    assert problems == []
    assert told[0].startswith("the twin was traced by JAX 0.0; ")
