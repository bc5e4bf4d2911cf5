"""Trainings on a twin in its process: they end with agents that play, and go on after a kill as if it had not been."""

import json
import shutil

import pytest

from arena.checkpoints import on_model
from arena.training_on_models import course
from arena.training_on_models.settings import PpoSettings
from arena.training_on_twins.teacher import TwinTeacher, fixed_policies
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.twins.stored import StoredTwin

pytestmark = pytest.mark.slow
QUICK = ("--steps", "3000", "--seeds", "1", "--environments", "10", "--hidden", "8", "--evaluation-games", "20")


SETTINGS = PpoSettings(seeds=1, steps=3000, environments=10, hidden=8, evaluation_games=20)


@pytest.fixture(scope="module")
def trained(twin_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    train(twin_folder, folder)
    return folder


def train(twin_folder, folder, seats=(0, 1), others="random", on_progress=lambda progress: None):
    bundle, twin = ModelBundle.load(twin_folder), StoredTwin.load(twin_folder)
    with TwinTeacher(bundle, twin, SETTINGS, folder, others, on_progress) as teacher:
        return course.train_with(teacher, bundle, seats, SETTINGS, folder, lambda text: None)


def test_command_goes_on_with_the_twin_where_there_is_one_and_its_agents_play(trained, twin_folder, cwm, tmp_path):
    folder = trained
    ran = cwm("train", "ppo", "--model", str(twin_folder), *QUICK, "--out", str(folder))
    assert ran.code == 0, ran.err
    assert "seat 1: best of 1 is seed 0" in ran.out
    assert "training on its twin" in ran.err
    begun = json.loads((folder / "training.json").read_text())
    assert begun["others"] == "random"
    assert len((folder / "seat0" / "seed0" / "metrics.jsonl").read_text().splitlines()) == 3
    out = tmp_path / "games"
    words = ("arena", "tic_tac_toe", "--agent", f"learned:{folder},greedy=true", "--agent", "random", "--deals", "2")
    played = cwm(*words, "--run", str(out))
    assert played.code == 0, played.err


def test_a_folder_that_was_begun_on_the_worker_goes_on_there_and_one_of_the_twin_refuses_it(trained, cwm, twin_folder):
    folder = trained
    words = ("train", "ppo", "--model", str(twin_folder), *QUICK, "--out", str(folder))
    refused = cwm(*words, "--on", "worker")
    assert refused.code == 2
    assert "was begun with other settings" in refused.err
    other = cwm(*words, "--on", "worker", "--against", "itself")
    assert other.code == 2
    assert "leave out --on worker" in other.err


class Stopped(Exception):
    pass


def test_a_training_that_was_stopped_comes_to_the_same_parameters_and_metrics(
    trained, twin_folder, tmp_path, monkeypatch
):
    whole = trained / "seat0" / "seed0"
    monkeypatch.setattr("arena.training_on_twins.teacher.SAVE_S", 0.0)
    monkeypatch.setattr("arena.training_on_twins.teacher.LOT_S", 0.0)

    def stop(progress):
        if progress.steps >= 2000:
            raise Stopped

    with pytest.raises(Stopped):
        train(twin_folder, tmp_path, [0], on_progress=stop)
    train(twin_folder, tmp_path, [0])
    own = tmp_path / "seat0" / "seed0"
    for name in ("policy.safetensors", "metrics.jsonl"):
        assert (own / name).read_bytes() == (whole / name).read_bytes()


def test_agents_learn_against_a_policy_and_against_themselves(trained, twin_folder, tmp_path):
    other = fixed_policies([trained, trained], StoredTwin.load(twin_folder))
    found = [
        train(twin_folder, tmp_path / "policy", [0], other),
        train(twin_folder, tmp_path / "itself", [0, 1], "itself"),
    ]
    assert {item.results[0].games for lot in found for item in lot} == {20}
    # One policy learns at all seats when it plays with itself.
    alike = [(tmp_path / "itself" / f"seat{seat}" / "policy.safetensors").read_bytes() for seat in (0, 1)]
    assert alike[0] == alike[1]
    assert on_model.load(tmp_path / "itself" / "seat1").about["seat"] == 1


def test_a_policy_that_reads_other_vectors_is_no_opponent(trained, twin_folder, tmp_path):
    copied = tmp_path / "copy"
    shutil.copytree(trained, copied)
    path = copied / "seat1" / "config.json"
    about = json.loads(path.read_text())
    path.write_text(json.dumps(about | {"actions": about["actions"][::-1]}))
    with pytest.raises(UsageError, match="seat1 reads other vectors or knows other actions"):
        fixed_policies([copied], StoredTwin.load(twin_folder))
    path.write_text(json.dumps(about | {"network": about["network"] | {"activation": "relu"}}))
    with pytest.raises(UsageError, match="have different networks"):
        fixed_policies([trained, copied], StoredTwin.load(twin_folder))
