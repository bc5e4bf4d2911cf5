"""Learning curves of policies that nobody trained: what is played is what `cwm xp` plays, age by age."""

import re
from dataclasses import replace
from typing import Any

import pytest

from arena.checkpoints import on_game
from arena.policy_play import cross_play, curves
from arena.report import curves as curves_page
from arena.training import simultaneous, training_run
from search.learn import checkpoint
from search.learn.errors import CheckpointError

GAME = "yokai-8c-2p"
AGES = (100, 250)


@pytest.fixture
def training(tmp_path, save_policy):
    """Writes a training of two seeds, each kept once on the way; returns what makes another one, by folder."""

    def write(name="training", method="sp"):
        folder = tmp_path / name
        for number, (steps, seed) in enumerate((steps, seed) for steps in AGES for seed in (0, 1)):
            policy = on_game.load(save_policy("one", GAME, seed=number))
            about = {**policy.about, "name": f"{method}-s{seed}", "method": method, "seed": seed, "steps": steps}
            where = folder if steps == AGES[-1] else folder / "snapshots" / str(steps)
            checkpoint.save_policy(where / f"{method}-s{seed}", policy.params, about)
        return folder

    return write


def renamed(folder, steps):
    """Returns the policies of a folder under the names by which their actions are drawn in curves."""
    return [replace(policy, name=f"{policy.name}@{steps}") for policy in cross_play.load_all(GAME, [str(folder)])]


def test_every_age_is_played_as_in_cross_play(training):
    folder, told = training(), []
    found = curves.run(curves.load_all([folder]), 8, 3, on_seating=lambda done, total: told.append((done, total)))
    assert (found.game, list(found.methods)) == (GAME, ["sp"])
    assert [point.steps for point in found.methods["sp"]] == list(AGES)
    for point, where in zip(found.methods["sp"], (folder / "snapshots" / str(AGES[0]), folder), strict=True):
        expected = cross_play.run(renamed(where, point.steps), 8, 3).methods[0]
        assert replace(point.figures, policies=expected.policies) == expected
    assert told == [(number, 8) for number in range(1, 9)]
    assert found.to_json()["methods"]["sp"][1]["steps"] == AGES[1]


def test_trainings_of_one_method_are_told_apart_by_their_folders(training):
    one, other, third = training("one"), training("other"), training("third", "op")
    ages = curves.load_all([one, other, third, one])
    assert list(ages) == [(label, age) for label in (f"sp in {one}", f"sp in {other}", "op") for age in AGES]
    assert {len(group) for group in ages.values()} == {2}


def test_the_page_draws_both_lines_of_every_method(training):
    found = curves.run(curves.load_all([training("one"), training("two", "op")]), 8)
    page = curves_page.render(found)
    assert page.count("<polyline") == 4
    assert "environment steps, 0 to 250" in page
    assert page.count('<tr><td class="number">250</td>') == 2
    assert not re.search(r"https?://|<script", page)


def test_a_training_without_snapshots_is_refused(training):
    folder = training()
    with pytest.raises(CheckpointError, match="holds no policies that were kept on the way: give the folder"):
        curves.load_all([folder / "sp-s0"])


def test_a_training_of_simultaneous_moves_is_refused_with_what_shows_its_policies(refused, tmp_path):
    recipe = simultaneous.recipe("cooperative-reaching", "klr", "reduced", levels=1)
    with training_run.claimed(training_run.TrainingPlan(recipe, (0,), tmp_path / "klr")):
        pass
    told = refused("train", "curves", tmp_path / "klr")
    assert told.code == 2
    assert "(Synchronous K-Level Reasoning on cooperative-reaching), which keeps no policies on the way" in told.err
    assert "`cwm posg payoffs` says" in told.err


def test_where_trainings_lie_changes_no_figure(training):
    folders = [training("one"), training("other")]
    (alone,) = curves.run(curves.load_all(folders[:1]), 8).methods.values()
    for found in curves.run(curves.load_all(folders), 8).methods.values():
        for point, before in zip(found, alone, strict=True):
            same = {"method": "sp", "policies": before.figures.policies}
            assert replace(point.figures, **same) == before.figures


def test_the_folder_of_several_trainings_is_none(training, tmp_path):
    training("one")
    with pytest.raises(CheckpointError, match="holds no policies that were kept on the way"):
        curves.load_all([tmp_path])


def test_trainings_of_several_games_are_refused(training, tmp_path, save_policy):
    other = tmp_path / "other"
    policy = on_game.load(save_policy("two", "yokai-9c-2p"))
    checkpoint.save_policy(other / "snapshots" / "5" / "sp-s0", policy.params, {**policy.about, "steps": 5})
    with pytest.raises(CheckpointError, match=r"of several games \(yokai-8c-2p, yokai-9c-2p\)"):
        curves.load_all([training(), other])


def test_a_page_that_cannot_be_written_is_refused_before_a_game_is_played(cwm: Any, tmp_path):
    shown = cwm("train", "curves", str(tmp_path), "--html", str(tmp_path / "nowhere" / "page.html"))
    assert (shown.code, "There is no folder" in shown.err) == (2, True)


def test_the_command_prints_a_table_a_method_and_writes_the_page(cwm: Any, training, tmp_path):
    page = tmp_path / "curves.html"
    shown = cwm("train", "curves", str(training()), "--games", "8", "--html", str(page))
    assert "sp (mean ± standard error over seeds; 8 games a seating)" in shown.out
    assert "250" in shown.out
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
