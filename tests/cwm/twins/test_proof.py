"""Proofs of hand-written twins against recorded programs, and of what is wrong with others."""

import json
from dataclasses import replace

import pytest

from cwm.observations.vectors import infer
from cwm.sandbox.wire.api import Outcome
from cwm.twins import proof
from cwm.twins import traced as traced_module
from cwm.twins.form import ArrayForm, TwinForm
from cwm.twins.prompt import TwinReport
from cwm.twins.proof import ProofConfig, ProofState, ProofTask, prove
from cwm.twins.refinement import as_suite
from cwm.twins.stored import StoredTwin, StoredTwinError
from cwm.twins.traced import TEXTS, TracedTwin, TwinProblemError, TwinWorker

pytestmark = pytest.mark.extra("batched")
CONFIG = ProofConfig(transitions=900)


@pytest.fixture(scope="module")
def kuhn(hand_written):
    return hand_written("kuhn_poker")


def task_of(written, worker_class, change=("", "")):
    vectors = infer(written.sample.observations)
    source = written.source.replace(*change) if change[0] else written.source
    assert not change[0] or source != written.source
    with worker_class(source, written.program, None) as worker:
        return ProofTask(written.program, source, worker.traced(vectors.width), vectors.to_json())


def test_a_right_twin_is_proved_and_the_proof_goes_on_where_it_was_left(kuhn, in_process, tmp_path):
    task = task_of(kuhn, in_process)
    states = []
    whole = prove(task, CONFIG, keep=states.append)
    assert whole.proved
    assert whole.state.transitions >= 900
    assert whole.missed == ()
    assert whole.state.unfit == 0
    begun = ProofState.from_json(json.loads(json.dumps(states[0].to_json())))
    assert 0 < begun.transitions < whole.state.transitions
    assert prove(task, CONFIG, begun=begun) == whole

    twin = StoredTwin.of(task, "model", CONFIG, whole)
    twin.save(tmp_path)
    read = StoredTwin.load(tmp_path)
    assert read == twin
    assert read.task(kuhn.program) == task
    assert read.proof["transitions"] == whole.state.transitions
    (tmp_path / "twin" / "step.mlir").write_text("changed")
    with pytest.raises(StoredTwinError, match="one of them was changed"):
        StoredTwin.load(tmp_path)


TRACED = TracedTwin(TwinForm((ArrayForm("x", "int32", ()),), ("a",), (), 1, 1), dict.fromkeys(TEXTS, "text"))
STORED = StoredTwin("source", TRACED, None, "model", CONFIG, {"transitions": 900}, (("a",),), "0.10.2")


def changed(folder, change):
    STORED.save(folder)
    path = folder / "twin" / "twin.json"
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts["config"].update(transitions=1),
        lambda facts: facts["config"].update(seed=7),
        lambda facts: facts["proof"].update(transitions=10**9),
        lambda facts: facts["replays"].clear(),
        lambda facts: facts.update(traced_by="0.1"),
        lambda facts: facts["form"].update(width=2),
    ],
)
def test_no_fact_of_a_stored_twin_can_be_changed_unseen(tmp_path, change):
    changed(tmp_path, change)
    with pytest.raises(StoredTwinError, match="one of them was changed"):
        StoredTwin.load(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts.update(proof="x"),
        lambda facts: facts.update(model=1),
        lambda facts: facts.update(replays=[[1]]),
        lambda facts: facts["config"].update(transitions=1.5),
        lambda facts: facts["config"].update(seed="0"),
        lambda facts: facts["form"].update(layout=5),
        lambda facts: facts["form"].update(layout=[]),
        lambda facts: facts["form"].update(actions=None),
        lambda facts: facts.pop("schema"),
        lambda facts: facts.clear(),
    ],
)
def test_facts_of_another_kind_are_told_as_damage(tmp_path, change):
    changed(tmp_path, change)
    with pytest.raises(StoredTwinError, match="is damaged"):
        StoredTwin.load(tmp_path)


@pytest.mark.parametrize("text", ["[]", "null", "[" * 100_000, "{"], ids=["list", "null", "deep", "broken"])
def test_a_file_without_facts_is_told_as_damaged(tmp_path, text):
    changed(tmp_path, lambda facts: None).write_text(text)
    with pytest.raises(StoredTwinError, match="is damaged"):
        StoredTwin.load(tmp_path)


def test_a_proof_comes_to_the_same_with_fresh_workers_for_every_batch_and_from_every_batch_on(
    kuhn, in_process, monkeypatch
):
    monkeypatch.setattr(proof, "FIRST_BATCH", 2)
    monkeypatch.setattr(proof, "BATCH", 60)
    task, states, started = task_of(kuhn, in_process), [], []

    class Counted(proof.Sandbox):
        def start(self, *given):
            started.append(1)
            return super().start(*given)

    monkeypatch.setattr(proof, "Sandbox", Counted)
    config = replace(CONFIG, transitions=200)
    whole = prove(task, config, keep=states.append)
    assert len(started) == 1
    assert whole.state.batches == len(states) > 2
    assert len(whole.state.pool) > len(states[0].pool)
    assert prove(task, config, begun=states[0]) == whole
    monkeypatch.setattr(proof, "RENEWED", 1)
    started.clear()
    assert prove(task, config) == whole
    assert len(started) == len(states)


@pytest.mark.parametrize(
    ("change", "groups"),
    [
        (("jnp.where(done == 0, 1, 0)", "jnp.where(done == 0, 0, 1)"), ["step: turn"]),
        pytest.param(
            ('"current_player": arrays["turn"]', '"current_player": 0'),
            ["decode: current_player"],
            marks=pytest.mark.slow,
        ),
        (('["Deal:0", "Deal:1", "Deal:2"]', '["Deal:0", "Deal:1", "Deal:3"]'), ["table"]),
        pytest.param(("free / jnp.sum(free)", "free / 3"), ["chance"], marks=pytest.mark.slow),
        pytest.param(
            ('(arrays["turn"][None] + 4) / 8', '(arrays["turn"][None] + 4) / 9'),
            ["observe: player 0", "observe: player 1"],
            marks=pytest.mark.slow,
        ),
        (("betting + [-1] * (3 - len(betting))", "betting[:9] + [-1] * (4 - len(betting))"), ["encode"]),
    ],
    ids=["step", "decode", "table", "chance", "observe", "encode"],
)
def test_what_is_wrong_with_a_twin_is_named_with_its_smallest_case(kuhn, in_process, change, groups):
    found = prove(task_of(kuhn, in_process, change), replace(CONFIG, transitions=200))
    assert not found.proved
    assert [group.title for group in found.state.differences] == groups
    report = as_suite(TwinReport((), found))
    assert not report.passes
    assert report.outcome is Outcome.OK
    smallest = found.state.differences[0]
    assert len(smallest.example.state) <= 90
    assert smallest.in_words.startswith(f"`{groups[0]}`, ")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tic_tac_toe", "kuhn_poker"])
def test_a_right_twin_is_proved_by_workers_and_a_process_of_its_own(name, hand_written):
    written = hand_written(name)

    class Real(TwinWorker):
        def __init__(self, source, beside, place):
            super().__init__(source, beside, traced_module.sandbox(None))

    task = task_of(written, Real)
    assert task_of(written, Real) == task
    found = prove(task, ProofConfig(transitions=5000))
    assert found.proved
    assert found.missed == ()


@pytest.mark.slow
def test_a_twin_that_cannot_be_traced_is_told_why(kuhn):
    source = kuhn.source.replace("jnp.where(dealing, dealt, cards)", "dealt if dealing else cards")
    worker = TwinWorker(source, kuhn.program, traced_module.sandbox(None))
    with worker, pytest.raises(TwinProblemError, match="TracerBoolConversionError in line 5"):
        worker.traced(16)
