"""Agents that learn between games: what fails is mended, games name their model, and a kill changes nothing."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.agents.specs import AgentSpec, AgentSpecError, parse
from arena.matches import store, tournament
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig, TournamentError
from arena.matches.store import MemoryStore
from arena.pipeline.online_learning import FOLDER, MODELS, Learners, OnlineLesson
from cwm.llm.caps import Caps
from cwm.model.bundle import ModelBundle, describe, rules_hash
from cwm.record.record import RunRecord
from games import registry
from games.api import state_to_json

ROOT = Path(__file__).resolve().parents[3]


def script(path: Path, *answers: str) -> str:
    path.write_text("".join(json.dumps(f"```python\n{answer}```") + "\n" for answer in answers), encoding="utf-8")
    return f"scripted:{path}"


def stored_model(folder: Path, source: str) -> ModelBundle:
    """Writes a model of tic_tac_toe that belongs to no run."""
    game = registry.make("tic_tac_toe")
    rules = rules_hash(registry.rules("tic_tac_toe"))
    initial = state_to_json(game, game.initial_state())
    bundle = ModelBundle(source, None, initial, describe(game.info), rules)
    bundle.save(folder)
    return bundle


@pytest.fixture
def wrong_program(right_program: str) -> str:
    """Lets the second player mark cells that are taken."""
    old = 'if owner == "."]'
    assert old in right_program
    return right_program.replace(old, 'if owner == "." or mark == "o"]')


@pytest.fixture
def wrong(wrong_program: str, tmp_path: Path) -> Path:
    stored_model(tmp_path / "wrong", wrong_program)
    return tmp_path / "wrong"


def cup(agent: str, folder: Path, *more: object, deals: int = 3) -> list[object]:
    agents = ["--agent", f"{agent},sims=5,name=learner", "--agent", "random", "--pairing", "cross"]
    return ["arena", "tic_tac_toe", *agents, "--deals", deals, "--run", folder, *more]


def in_order(folder: Path) -> list[GameRecord]:
    """Returns the games in the order of the plan."""
    kept = store.read(folder)
    config = TournamentConfig.from_json(kept.config)
    return [kept.games[game.key] for game in tournament.plan(config) if game.key in kept.games]


def models(records: list[GameRecord]) -> list[str]:
    """Returns which model played each game."""
    return [str(record.accounts[str(record.seats.index("learner"))]["model"]) for record in records]


def lessons(folder: Path) -> dict[str, OnlineLesson]:
    with RunRecord.read(folder / FOLDER / "0") as record:
        return {key: OnlineLesson.from_json(lesson) for key, lesson in record.evaluations()}


def calls(folder: Path) -> list[str]:
    with RunRecord.read(folder / FOLDER / "0") as record:
        answered = [call for call in record.calls.calls() if call.status == "answered"]
    return [call.request.messages[-1].text for call in answered]


def timeless(folder: Path) -> list[dict[str, Any]]:
    return [{key: value for key, value in game.to_json().items() if key != "seconds"} for game in in_order(folder)]


def test_wrong_model_is_mended_after_its_first_mistake_and_plays_on_mended(
    cwm: Any, wrong: Path, wrong_program: str, right_program: str, tmp_path: Path
) -> None:
    llm = script(tmp_path / "answers.jsonl", right_program)
    ran = cwm(*cup(f"cwm:{wrong},learn={llm}", tmp_path / "cup", "--json"))
    assert ran.code == 0, ran.err
    first, right = ModelBundle.load(wrong), stored_model(tmp_path / "right", right_program)
    played = models(in_order(tmp_path / "cup"))
    assert played == [first.hash] + [right.hash] * 5
    mended = ModelBundle.load(tmp_path / "cup" / FOLDER / "0" / MODELS / right.hash[:16])
    assert (mended.source, mended.metadata["learned"]) == (right_program, {"began as": first.hash, "lessons": 6})
    (prompt,) = calls(tmp_path / "cup")
    assert 'or mark == "o"' in prompt
    assert "legal_actions: expected" in prompt
    assert ran.json["learned"] == [
        f"learner: 6 games, {sum(len(lesson.added) for lesson in lessons(tmp_path / 'cup').values())} tests that its "
        f"model failed, 1 calls; the model was {first.hash[:12]} and is {right.hash[:12]}"
    ]


def test_forfeits_before_the_model_was_mended_still_count(cwm: Any, right_program: str, tmp_path: Path) -> None:
    illegal = right_program.replace('return [f"{mark}({cell // 3},', 'return [f"{mark} ({cell // 3},')
    illegal = illegal.replace("int(action[2])", "int(action[3])").replace("int(action[4])", "int(action[5])")
    assert illegal.count("action[") == 3
    stored_model(tmp_path / "illegal", illegal)
    llm = script(tmp_path / "answers.jsonl", right_program)
    shown = cwm(*cup(f"cwm:{tmp_path / 'illegal'},learn={llm}", tmp_path / "cup", "--json")).json
    forfeited = [record.forfeit is not None for record in in_order(tmp_path / "cup")]
    assert forfeited == [True] + [False] * 5
    row = next(row for row in shown["standings"]["agents"] if row["agent"] == "learner")
    assert row["forfeits"] == {"illegal": 1}
    assert shown["standings_without_forfeits"]["games"] == 5


def test_learning_is_off_by_default(cwm: Any, wrong: Path, tmp_path: Path) -> None:
    assert cwm(*cup(f"cwm:{wrong}", tmp_path / "cup", deals=1), "--workers", 1).code == 0
    assert not (tmp_path / "cup" / FOLDER).exists()
    assert parse(f"cwm:{wrong}").learn is None
    assert parse("cwm:m,learn=false,name=a") == parse("cwm:m,name=a")
    assert "learn" not in parse(f"cwm:{wrong}").to_json()


def test_model_that_is_right_asks_nothing(cwm: Any, right_program: str, tmp_path: Path) -> None:
    right = stored_model(tmp_path / "right", right_program)
    llm = script(tmp_path / "answers.jsonl")
    assert cwm(*cup(f"cwm:{tmp_path / 'right'},learn={llm}", tmp_path / "cup", deals=1)).code == 0
    assert calls(tmp_path / "cup") == []
    assert set(models(in_order(tmp_path / "cup"))) == {right.hash}
    assert {lesson.added for lesson in lessons(tmp_path / "cup").values()} == {()}


def test_answers_that_mend_nothing_leave_the_model_and_stop_at_the_cap_of_a_game(
    cwm: Any, wrong: Path, wrong_program: str, tmp_path: Path
) -> None:
    llm = script(tmp_path / "answers.jsonl", *[f"{wrong_program}# {number}\n" for number in range(40)])
    words = cup(f"cwm:{wrong},learn={llm},learn_calls=2", tmp_path / "cup", "--max-calls", 3, deals=2)
    ran = cwm(*words)
    assert ran.code == 0
    assert "caps ended" in ran.err
    assert set(models(in_order(tmp_path / "cup"))) == {ModelBundle.load(wrong).hash}
    taught = [lesson for lesson in lessons(tmp_path / "cup").values() if lesson.added]
    assert [lesson.calls for lesson in taught if lesson.reason == "retries_used"] == [2]
    assert sum(lesson.calls for lesson in taught) == len(calls(tmp_path / "cup")) == 3


KILLED = """
import os, signal, sys
from arena import cli; from arena.pipeline import online_learning
from cwm.llm.providers.scripted import Scripted

place, count = sys.argv[1], 0

def kill_before(name, owner, at):
    whole = getattr(owner, name)
    def stopped(*arguments, **named):
        global count
        count += 1
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(*arguments, **named)
    setattr(owner, name, stopped)

if place == "call":
    kill_before("complete", Scripted, 1)
elif place == "answered":
    kill_before("add_program", online_learning.RunRecord, 4)
else:
    kill_before("learn", online_learning.Learner, int(place))
cli.run(sys.argv[2:])
"""


@pytest.mark.parametrize(
    "place", ["call", "2", *(pytest.param(place, marks=pytest.mark.slow) for place in ("answered", "1", "4"))]
)
def test_killed_tournament_goes_on_with_the_right_model(
    cwm: Any, wrong: Path, right_program: str, tmp_path: Path, place: str
) -> None:
    llm = script(tmp_path / "answers.jsonl", right_program)
    agent = f"cwm:{wrong},learn={llm}"
    words = [str(word) for word in cup(agent, tmp_path / "killed", deals=2)]
    command = [sys.executable, "-c", KILLED, place, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120, env=dict(os.environ))
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert cwm("resume", tmp_path / "killed").code == 0
    assert cwm(*cup(agent, tmp_path / "whole", deals=2)).code == 0
    assert timeless(tmp_path / "killed") == timeless(tmp_path / "whole")
    assert lessons(tmp_path / "killed") == lessons(tmp_path / "whole")
    assert calls(tmp_path / "killed") == calls(tmp_path / "whole")


def test_finished_tournament_again_plays_and_asks_nothing(
    cwm: Any, wrong: Path, right_program: str, tmp_path: Path
) -> None:
    llm = script(tmp_path / "answers.jsonl", right_program)
    words = cup(f"cwm:{wrong},learn={llm}", tmp_path / "cup", deals=1)
    assert cwm(*words).code == 0
    before = timeless(tmp_path / "cup")
    script(tmp_path / "answers.jsonl")
    assert cwm(*words).code == 0
    assert cwm("resume", tmp_path / "cup").code == 0
    assert timeless(tmp_path / "cup") == before
    assert len(calls(tmp_path / "cup")) == 1
    assert cwm("verify", tmp_path / "cup").code == 0


def test_game_that_another_model_played_is_refused(wrong: Path, right_program: str, tmp_path: Path) -> None:
    spec = parse(f"cwm:{wrong},learn={script(tmp_path / 'a.jsonl', right_program)},sims=5,name=learner")
    config = tournament.prepare(TournamentConfig("tic_tac_toe", (spec, parse("random")), 1, pairing="cross"))
    with Learners(config, None, Caps()) as learners:
        found = tournament.run(config, MemoryStore(), learners=learners)
    assert len(found.records) == 2
    last = found.records[-1]
    with Learners(config, None, Caps()) as learners, pytest.raises(TournamentError, match="was played by 'learner'"):
        learners.learn(tournament.plan(config)[1], last)


def test_run_s_own_language_model_is_asked_with_learn_true(
    cwm: Any, right_program: str, wrong_program: str, tmp_path: Path
) -> None:
    rare = right_program.replace("(2, 4, 6)]", "(2, 4, 6), (0, 5, 7), (1, 3, 8), (2, 3, 7)]")
    llm = script(tmp_path / "answers.jsonl", rare)
    words = ["synthesize", "tic_tac_toe", "--llm", llm, "--test-transitions", 0, "--workers", 1, "--further-games", 0]
    assert cwm(*words, "--run", tmp_path / "run").code == 0
    script(tmp_path / "answers.jsonl", right_program)
    assert cwm(*cup(f"cwm:{tmp_path / 'run'},learn=true", tmp_path / "cup", deals=4)).code == 0
    played = models(in_order(tmp_path / "cup"))
    assert len(set(played)) == 2
    assert played[-1] == ModelBundle.load(tmp_path / "cup" / FOLDER / "0" / MODELS / played[-1][:16]).hash


@pytest.mark.parametrize(
    ("agents", "named"),
    [
        (["random:learn=true"], "learn= and learn_calls= go with cwm alone"),
        (["cwm:{wrong},learn=true"], "has no language model that could be asked anew"),
        (["cwm:{wrong},learn=gpt"], "learn=: Unknown language model 'gpt'"),
        (["cwm:{wrong},temperature=1"], "asks no language model: temperature= goes with cwm beside learn="),
        (["cwm:{wrong},learn=true,temperature=3"], "temperature is a number from 0 to 2, not '3'"),
        (["cwm:{wrong},learn=true,learn_calls=0"], "learn_calls must be a whole number from 1 to 100, not '0'"),
    ],
)
def test_what_cannot_learn_is_told_in_one_sentence(refused: Any, wrong: Path, agents: list[str], named: str) -> None:
    words = [word for agent in agents for word in ("--agent", agent.format(wrong=wrong))]
    assert named in refused("arena", "tic_tac_toe", *words, "--deals", 1).err


def test_agents_learn_in_tournaments_alone(refused: Any, wrong: Path, tmp_path: Path) -> None:
    agent = f"cwm:{wrong},learn={script(tmp_path / 'a.jsonl')},sims=2"
    assert (
        "An agent learns from game to game, and this is one game"
        in refused("play", "tic_tac_toe", "--agent", agent).err
    )
    config = tournament.prepare(TournamentConfig("tic_tac_toe", (parse(agent), parse("random")), 1, pairing="cross"))
    with pytest.raises(TournamentError, match="is to learn, which agents do in `cwm arena` alone"):
        tournament.run(config, MemoryStore())


def test_learning_goes_with_a_registered_game(refused: Any, wrong: Path, tmp_path: Path) -> None:
    agent = f"cwm:{wrong},learn={script(tmp_path / 'a.jsonl')},sims=2"
    ran = refused("arena", f"cwm:{wrong}", "--agent", agent, "--agent", "random", "--deals", 1)
    assert "learn= goes with a registered game" in ran.err


def test_language_model_that_learns_is_part_of_the_games_identity() -> None:
    plain, learning = AgentSpec("cwm", "a", model="m"), AgentSpec("cwm", "a", model="m", learn="openai:x")
    assert plain.identity() != learning.identity()
    assert AgentSpec.from_json(learning.to_json()) == learning


def test_unknown_setting_names_learning_too() -> None:
    with pytest.raises(AgentSpecError, match="did you mean 'learn'"):
        parse("cwm:m,learm=true")


def test_in_the_closed_deck_an_agent_learns_from_its_own_seat_alone(tmp_path: Path) -> None:
    game = registry.make("leduc_poker")
    right = (ROOT / "tests" / "data" / "hidden_programs" / "leduc_poker.py").read_text(encoding="utf-8")
    wrong = right + "\n\ndef resample_history(obs_action_history, player_id, last_is_terminal=False):\n    return []\n"
    initial, rules = state_to_json(game, game.initial_state()), rules_hash(registry.rules("leduc_poker"))
    closed = {"deck": "closed", "inference": "history"}
    ModelBundle(wrong, None, initial, describe(game.info), rules, closed).save(tmp_path / "wrong")
    llm = script(tmp_path / "answers.jsonl", right)
    spec = parse(f"cwm:{tmp_path / 'wrong'},learn={llm},sims=4,belief=4,name=learner")
    config = tournament.prepare(TournamentConfig("leduc_poker", (spec, parse("random")), 2, pairing="cross"))
    with Learners(config, tmp_path / "cup", Caps()) as learners:
        found = tournament.run(config, MemoryStore(), learners=learners)
    assert len(set(models(list(found.records)))) == 2
    taught = [lesson for lesson in lessons(tmp_path / "cup").values() if lesson.added]
    seats = {game.key: [spec.name for spec in game.seats].index("learner") for game in tournament.plan(config)}
    assert taught
    for lesson in taught:
        assert {test.kind for test in lesson.added} == {"inference"}
        assert {test.data["player"] for test in lesson.added} == {seats[lesson.game]}
        assert all("last_is_terminal" in test.data for test in lesson.added)


def test_options_of_the_language_model_that_learns_are_part_of_its_questions_and_stay_out_where_nobody_gives_them(
    cwm: Any, wrong: Path, right_program: str, tmp_path: Path
) -> None:
    llm = script(tmp_path / "answers.jsonl", right_program)
    asked = {}
    for name, words in {
        "plain": [],
        "hot": ["--temperature", 0.5, "--reasoning-effort", "low"],
    }.items():
        script(tmp_path / "answers.jsonl", right_program)
        assert cwm(*cup(f"cwm:{wrong},learn={llm}", tmp_path / name, *words, deals=1)).code == 0
        with RunRecord.read(tmp_path / name / FOLDER / "0") as record:
            asked[name] = [call.request for call in record.calls.calls()]
            assert ("llm" in record.info.config) == (name == "hot")
    assert [(item.temperature, item.reasoning_effort) for item in asked["plain"]] == [(None, None)]
    assert [(item.temperature, item.reasoning_effort) for item in asked["hot"]] == [(0.5, "low")]
    plain = parse("cwm:m,learn=openai:x")
    assert "llm" not in plain.to_json()
    hot = parse("cwm:m,learn=openai:x,temperature=0.5")
    assert (hot.llm, AgentSpec.from_json(hot.to_json())) == ({"temperature": 0.5}, hot)


def test_time_that_learning_took_counts_across_resumes(
    cwm: Any, wrong: Path, right_program: str, tmp_path: Path
) -> None:
    llm = script(tmp_path / "answers.jsonl", right_program)
    words = cup(f"cwm:{wrong},learn={llm}", tmp_path / "cup", deals=1)
    assert cwm(*words).code == 0
    kept = tmp_path / "cup" / FOLDER / "elapsed.json"
    used = json.loads(kept.read_text())["seconds"]
    assert used > 0
    kept.write_text('{"seconds": 600.0}\n')
    assert cwm(*words).code == 0
    assert json.loads(kept.read_text())["seconds"] > 600
    agents = (parse(f"cwm:{wrong},learn={llm},sims=5,name=learner"), parse("random"))
    config = tournament.prepare(TournamentConfig("tic_tac_toe", agents, 1, pairing="cross"))
    with Learners(config, tmp_path / "cup", Caps(minutes=10.0)) as learners:
        assert learners.left_s() == 0.0
