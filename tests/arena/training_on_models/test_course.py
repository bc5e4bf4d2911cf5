"""All seats and seeds of a model: the best of each is kept, and what is there is not trained again."""

import json
import subprocess
import sys

import pytest

from arena.checkpoints import on_model, places
from arena.checkpoints import vectors as lesson_vectors
from arena.training_on_models import course, lesson
from arena.training_on_models.results import Results, of_games
from arena.training_on_models.settings import PpoSettings
from arena.usage import UsageError
from cwm.model.arrivals import ModelPlayError
from cwm.model.bundle import ModelBundle
from cwm.model.codec import MissingVectorsError
from cwm.model.environment import Explored
from cwm.observations.vectors import ObservationVectors
from cwm.storage.journal import RunLockedError
from games import registry
from games.api import GameInfo
from search.learn.errors import CheckpointError

WON = GameInfo("g", 2, "win_loss_draw", -1.0, 1.0, True, False, ("a", "b"))
PAID = GameInfo("g", 2, "zero_sum", -1.0, 1.0, True, False, ("a", "b"))


def ignore(told):
    pass


def test_best_agent_of_each_seat_is_kept_with_the_results_of_all(trained, recorded):
    folder, found, said = trained
    assert [item.seat for item in found] == [0, 1]
    assert said == [f"seat {seat}, seed {seed}: 200 agent steps" for seat in (0, 1) for seed in (0, 1)]
    for item in found:
        best = max(item.results, key=lambda seed: (item.results[seed].wins, -seed))
        assert item.best == best
        kept, own = on_model.load(item.folder), on_model.load(item.folder / f"seed{best}")
        assert kept.about["seed"] == best
        assert kept.about["all_results"][str(best)] == own.about["results"] == item.results[best].to_json()
        assert kept.about["steps"] == 200
        assert kept.about["model"] == recorded.hash
        assert (item.folder / places.POLICY).read_bytes() == (item.folder / f"seed{best}" / places.POLICY).read_bytes()
        assert item.results[best].games == 40
    assert places.seats_hash(folder, 2) == places.seats_hash(folder, 2)


def test_second_call_trains_nothing_and_says_the_same(trained, recorded, sandbox, settings):
    folder, found, _ = trained
    said = []
    again = course.train(recorded, [1, 0], settings(seeds=2, steps=200), folder, sandbox, said.append, ignore)
    assert said == []
    assert [(item.seat, item.best, item.results) for item in again] == [
        (item.seat, item.best, item.results) for item in reversed(found)
    ]


def test_folder_in_which_another_process_trains_is_refused(copied, recorded, sandbox, settings):
    hold = "from cwm.storage.lock import RunLock\nimport sys\nwith RunLock(__import__('pathlib').Path(sys.argv[1])):\n"
    hold += "    print('held', flush=True)\n    sys.stdin.read()"
    command = [sys.executable, "-c", hold, str(copied)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(RunLockedError, match=f"process {other.pid} works on it; wait for it to end"):
            course.train(recorded, [0], settings(seeds=2, steps=200), copied, sandbox, ignore, ignore)
        other.stdin.close()
    assert course.train(recorded, [0], settings(seeds=2, steps=200), copied, sandbox, ignore, ignore)


def test_other_settings_on_a_folder_are_refused(trained, recorded, high_card, sandbox, settings):
    folder, _, _ = trained
    with pytest.raises(UsageError, match=r"begun with other settings \(.*steps.*\); use another folder"):
        course.train(recorded, [0], settings(seeds=2, steps=300), folder, sandbox, ignore, ignore)
    with pytest.raises(UsageError, match="begun with other settings"):
        course.train(high_card, [0], settings(seeds=2, steps=200), folder, sandbox, ignore, ignore)


def test_damaged_results_of_one_agent_are_named(copied, recorded, sandbox, settings):
    path = copied / "seat0" / "seed0" / places.ABOUT
    path.write_text(json.dumps(json.loads(path.read_text()) | {"results": {}}))
    with pytest.raises(UsageError, match=r"seed0/config.json is damaged .* to train this agent anew"):
        course.train(recorded, [0], settings(seeds=2, steps=200), copied, sandbox, ignore, ignore)


def test_damaged_folder_is_named(recorded, sandbox, settings, tmp_path):
    (tmp_path / course.ASKED).write_text("[1")
    with pytest.raises(UsageError, match=r"training.json is damaged"):
        course.train(recorded, [0], settings(), tmp_path, sandbox, ignore, ignore)


def test_actions_of_a_registered_game_are_its_own_table(trained):
    folder, _, _ = trained
    told = json.loads((folder / "seat0" / course.LESSON).read_text())
    met = tuple(action for action in told["actions"] if action.startswith("x"))
    assert len(met) == 9
    assert lesson.action_table("no such game", ("a", "b")) == ("a", "b")
    assert lesson.action_table("tic_tac_toe", ("a", "b")) == ("a", "b")
    leduc = registry.make("leduc_poker")
    assert set(leduc.legal_actions(leduc.initial_state())).isdisjoint(lesson.action_table("leduc_poker", ("Fold",)))


def test_seat_that_the_game_lacks_is_refused(high_card, sandbox, settings):
    with pytest.raises(UsageError, match="high_card has the seats 0 to 1, not 2"):
        lesson.prepare(high_card, 2, settings(), sandbox)


def test_stored_vectors_are_used_if_they_are_asked_for(high_card, sandbox, settings):
    asked = settings(stored_vectors=True)
    with pytest.raises(MissingVectorsError):
        lesson.prepare(high_card, 0, asked, sandbox)
    inferred = lesson.prepare(high_card, 0, settings(), sandbox).vectors["schema"]
    kept = ModelBundle(high_card.source, None, high_card.initial_state, high_card.info, "", schema=inferred)
    assert lesson.prepare(kept, 0, asked, sandbox).vectors == {"schema": inferred}
    source = "def observation_to_vector(observation, player_id):\n    return [float(observation['card']), 1.0]\n"
    told = {"vectors": {"width": 2}}
    written = ModelBundle(
        high_card.source, None, high_card.initial_state, high_card.info, "", told, vectors_source=source
    )
    found = lesson.prepare(written, 0, asked, sandbox)
    assert found.vectors == {"program": source, "width": 2}
    with found.environment(asked, 0, sandbox) as environment:
        assert environment.width == 2
        seen = environment.begin().observations
    assert set(seen[:, 0]) <= {1.0, 2.0, 3.0, 4.0}
    assert (seen[:, 1] == 1.0).all()
    with lesson_vectors.codec(found.vectors, high_card.info, sandbox) as codec:
        assert codec.encode({"card": "3", "moves": []}, 0) == [3.0, 1.0]
    with lesson_vectors.codec({"schema": inferred}, high_card.info, sandbox) as codec:
        vectors = ObservationVectors.from_json(inferred)
        assert codec.encode({"card": "3", "moves": []}, 0) == vectors.encode({"card": "3", "moves": []})


@pytest.mark.parametrize(
    ("actions", "seen", "message"),
    [
        (lesson.MOST_ACTIONS + 1, [{"card": "1"}], "the model has 10,001 different actions, at most 10,000"),
        (2, [{"cards": [0.5] * (lesson.MOST_WIDTH + 1)}], "the model has 50,001 numbers a vector, at most 50,000"),
    ],
)
def test_model_that_lists_or_shows_too_much_is_refused_before_memory_is_taken(
    high_card, sandbox, settings, monkeypatch, actions, seen, message
):
    told = Explored(seen, tuple(map(str, range(actions))), 1, {})
    monkeypatch.setattr(lesson.model_environment, "explore", lambda *given, **named: told)
    with pytest.raises(ModelPlayError, match=message):
        lesson.prepare(high_card, 0, settings(), sandbox)


@pytest.mark.parametrize("body", ["    return [1.0]\n", "    return observation['weather']\n", "    return [1.0,\n"])
def test_stored_vectors_that_fit_nothing_are_refused(high_card, sandbox, settings, body):
    source = f"def observation_to_vector(observation, player_id):\n{body}"
    told = {"vectors": {"width": 2}}
    bundle = ModelBundle(
        high_card.source, None, high_card.initial_state, high_card.info, "", told, vectors_source=source
    )
    with pytest.raises(UsageError, match=r"The stored vectors fit none of .* leave out the option `vectors`"):
        lesson.prepare(bundle, 0, settings(stored_vectors=True), sandbox)


def test_results_count_wins_against_the_best_other():
    found = of_games([[1.0, 0.0, 2.0], [3.0, 0.0, 2.0], [2.0, 2.0, 0.0], [0.5, 0.0, 0.0]], 0)
    assert found == Results(4, 0.5, 0.25, 1.625)
    assert of_games([], 0) == Results(0, 0.0, 0.0, 0.0)


def test_best_agent_wins_most_or_where_nobody_wins_is_paid_most():
    bold, paid = Results(10, 0.6, 0.4, 0.1), Results(10, 0.3, 0.1, 0.2)
    assert bold.rank(WON) > paid.rank(WON)
    assert bold.rank(PAID) < paid.rank(PAID)


def test_settings_are_those_of_table_17():
    asked = PpoSettings()
    assert (asked.steps, asked.seeds, asked.environments, asked.horizon) == (10_000_000, 5, 50, 100)
    ppo = asked.ppo()
    assert (ppo.discount, ppo.gae_decay, ppo.clip, ppo.value_coefficient) == (0.99, 0.95, 0.2, 0.5)
    assert (ppo.entropy, ppo.entropy_end, ppo.learning_rate, ppo.max_grad_norm) == (0.1, 0.01, 3e-4, 0.5)
    assert (ppo.anneal_learning_rate, ppo.minibatches, ppo.epochs) == (False, 10, 4)
    assert PpoSettings.from_json(asked.to_json() | {"later": 1}) == asked


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"steps": 10}, "less than one update: give at least 5000"), ({"environments": 15}, "15 games cannot be shared")],
)
def test_settings_that_cannot_be_are_refused(changes, message):
    with pytest.raises(UsageError, match=message):
        PpoSettings(**changes)


def test_checkpoint_of_something_else_is_refused(tmp_path, trained):
    folder, _, _ = trained
    with pytest.raises(CheckpointError, match="holds no agent for seat 5"):
        places.read_about(folder, 5)
    (tmp_path / "seat0").mkdir()
    (tmp_path / "seat0" / places.ABOUT).write_text(json.dumps({"format": 1, "game": "yokai-9c-2p"}))
    with pytest.raises(CheckpointError, match="is no checkpoint of an agent trained on a model"):
        places.read_about(tmp_path, 0)
    with pytest.raises(CheckpointError, match="was not trained on a model"):
        on_model.load(tmp_path / "seat0")
