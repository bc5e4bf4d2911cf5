"""`cwm train ppo`: what it prints, keeps and refuses."""

import json
from pathlib import Path

import pytest

from arena.commands.exit_codes import EXIT_USAGE
from arena.commands.train.on_model import Notices, _duration, _line
from arena.training_on_models.course import Graduate
from arena.training_on_models.results import Results
from arena.training_on_models.training import Clock

QUICK = ("--steps", "1000", "--seeds", "1", "--environments", "10", "--hidden", "8", "--evaluation-games", "20")


@pytest.fixture(scope="module")
def model(recorded, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    recorded.save(folder)
    return str(folder)


def test_command_trains_goes_on_and_tells_where_the_time_went(cwm, model, tmp_path):
    words = ("train", "ppo", "--model", model, "--seat", "0", *QUICK, "--out", str(tmp_path / "out"))
    ran = cwm(*words)
    assert ran.code == 0
    assert ran.out.startswith("seat 0: best of 1 is seed 0: ")
    assert "over 20 games against random" in ran.out
    # An agent of one seat cannot play a tournament.
    assert "cwm arena" not in ran.out
    assert "seat 0, seed 0: 1,000 of 1,000 steps" in ran.err
    again = cwm(*words, "--json")
    told = json.loads(again.out)
    assert [seat["seat"] for seat in told["seats"]] == [0]
    assert told["seats"][0]["results"]["0"]["games"] == 20
    assert told["seats"][0]["best_seed"] == 0
    assert "1,000 agent steps" not in again.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "recorded"), "--model recorded needs --game"),
        (("--model", "recorded-s7", "--game", "tic_tac_toe"), "No recorded-s7 ships for tic_tac_toe; known: recorded."),
        (("--model", "nowhere"), "nowhere holds no model"),
    ],
)
def test_model_that_is_not_there_is_named(cwm, words, message):
    ran = cwm("train", "ppo", *words)
    assert ran.code == EXIT_USAGE
    assert message in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seat", "2"), "--seat is '2'; give a number from 0 to 1, or both."),
        (("--seat", "first"), "--seat is 'first'"),
        (("--game", "connect_four"), "--game is connect_four, but the model in"),
        (("--steps", "10"), "10 steps are less than one update: give at least 5000."),
        (("--environments", "15"), "15 games cannot be shared out over 10 minibatches."),
        (("--vectors",), "has no vectors"),
    ],
)
def test_settings_that_do_not_fit_are_refused(cwm, model, tmp_path, words, message):
    ran = cwm("train", "ppo", "--model", model, "--out", str(tmp_path / "out"), *words)
    assert ran.code == EXIT_USAGE
    assert message in " ".join(ran.err.split())


def test_durations_are_told_in_hours():
    assert _duration(3725.4) == "1:02:05"
    assert _duration(0.2) == "0:00:00"


def test_notices_are_rare(monkeypatch):
    said = []
    clock = iter([0.0, 1.0, 14.0, 16.0])
    monkeypatch.setattr("arena.commands.train.on_model.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("arena.commands.train.on_model.console.notices.print", said.append)

    class Told:
        seat, seed, steps, total, steps_per_s, left_s, mean_return = 0, 0, 10, 20, 5.0, 2.0, None

    notices = Notices()
    for _ in range(3):
        notices(Told)
    assert said == ["seat 0, seed 0: 10 of 20 steps, 5 steps/s, 0:00:02 left"]


def test_a_training_at_its_end_tells_no_time_and_a_slow_one_its_speed(monkeypatch):
    said = []
    monkeypatch.setattr("arena.commands.train.on_model.console.notices.print", said.append)

    class Told:
        seat, seed, steps, total, steps_per_s, left_s, mean_return = 0, 0, 20, 20, 0.25, 0.0, None

    Notices()(Told)
    assert said == ["seat 0, seed 0: 20 of 20 steps, 0.25 steps/s"]


@pytest.mark.parametrize(
    ("cooperative", "expected"),
    [
        (False, "75.0% won, 20.0% lost, mean return +0.550 over 20 games against random players"),
        (True, "best of 2 is seed 1: mean return +0.550 over 20 games with random players"),
    ],
)
def test_nobody_is_said_to_win_where_all_are_paid_the_same(cooperative, expected):
    results = {0: Results(20, 0.0, 1.0, -1.0), 1: Results(20, 0.75, 0.2, 0.55)}
    found = Graduate(0, Path("there"), 1, results, Clock(), 9, 27)
    assert expected in _line(found, cooperative)
