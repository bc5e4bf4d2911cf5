from dataclasses import replace
from pathlib import Path

import pytest

from arena import cli
from arena.papers.yokai.published import rows
from arena.papers.yokai.tables import trained
from arena.papers.yokai.tables.trained import TablePlan
from arena.training import training_run
from arena.training.training_run import TrainingError
from search.learn import checkpoint

SMALL = {"total_steps": 64, "environments": 8, "steps": 4}


@pytest.fixture
def one_row(monkeypatch):
    row = rows.rows(4)[1]
    monkeypatch.setattr(rows, "rows", lambda table: (row,))
    return row


def plan(folder: Path) -> TablePlan:
    return TablePlan(4, folder, (0, 1), "reduced", SMALL, games=6, game="yokai-8c-2p")


@pytest.mark.slow
def test_table_is_trained_where_it_stopped_and_played(one_row, tmp_path):
    told = []
    assert not trained.train(plan(tmp_path), 0.0, lambda row, standing: told.append(row))
    (before,) = trained.results(plan(tmp_path))
    assert (before.figures, before.steps, before.total) == (None, 0, 64)
    assert trained.train(plan(tmp_path), None, lambda row, standing: told.append((row.label, standing.steps)))
    assert told == [("Φ_col", 32), ("Φ_col", 64)]
    (found,) = trained.results(plan(tmp_path))
    assert found.figures is not None
    assert found.figures.policies == ("op-col-s0", "op-col-s1")
    assert found.figures.self_play is not None
    assert found.figures.cross_play is not None
    assert found.steps == 64
    # Nothing is trained twice.
    assert trained.train(plan(tmp_path), None, lambda row, standing: pytest.fail("trained again"))


@pytest.mark.parametrize("other", [{"total_steps": 640}, {"total_steps": 64, "entropy": 0.5}])
def test_rows_that_were_trained_otherwise_are_not_shown_as_this_tables(one_row, tmp_path, other):
    asked = plan(tmp_path)
    training = asked.training(asked.rows()[0])
    training_run.claim(training)
    for seed in training.seeds:
        checkpoint.save_policy(training.folder / f"op-col-s{seed}", {}, {})
    changed = replace(asked, changed=SMALL | other)
    for use in (lambda: trained.results(changed), lambda: trained.train(changed, None, print)):
        with pytest.raises(TrainingError, match="holds another training"):
            use()


def test_table_that_the_paper_does_not_have_is_refused(tmp_path, capsys):
    assert cli.run(["train", "table", "7", "--out", str(tmp_path)]) == 2
    assert "Tables 2 to 6" in capsys.readouterr().err


def test_seeds_that_are_none_are_refused(tmp_path, capsys):
    assert cli.run(["train", "table", "4", "--out", str(tmp_path), "--seeds", "0,0"]) == 2
    assert "--seeds is '0,0'" in capsys.readouterr().err
