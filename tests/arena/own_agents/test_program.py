"""Programs of the user's own at the table: what they are told, what they may do, and that nothing of them stays."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.agents.api import Agent, RandomAgent
from arena.agents.specs import AgentSpec, AgentSpecError, parse
from arena.machine.runtime import Runtime
from arena.matches import match, seating
from arena.matches.match import GameRecord
from arena.own_agents import program
from games import registry
from games.api import Game

ROOT = Path(__file__).parents[3]
WRONG = ROOT / "tests" / "data" / "own" / "faulty" / "wrong.py"
PYTHON = f"{sys.executable} -S -E"


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.make("tic_tac_toe")


def described(fault: str, options: str = "") -> AgentSpec:
    return parse(f"exec:{PYTHON} {WRONG} {shlex.quote(fault)}{options},name=program")


def played(game: Game, fault: str, options: str = "") -> GameRecord:
    """Plays one game of a program against a random player."""
    spec = seating.resolve(described(fault, options), game)
    agents: list[Agent] = [seating.build(spec, game, Runtime()), RandomAgent()]
    return match.play(game, agents, 0, [1, 2])


def script(folder: Path, text: str) -> str:
    """Returns the agent of a shell script."""
    file = folder / "agent.sh"
    file.write_text(text, encoding="utf-8")
    return f"exec:sh {file}"


FORFEITS = [
    ("illegal move", "illegal", r"'x\(9,9\)' is not among the 9: "),
    ("silence", "timeout", r"^no answer to 'move' within 0.3 s$"),
    ("half a line", "timeout", r"^no answer to 'move' within 0.3 s; 13 bytes came without the end of a line$"),
    ("late answer", "timeout", r"^no answer to 'move' within 0.3 s$"),
    ("crash at start", "crash", r"^it ended with exit code 3 when asked for 'hello'; its last words: no brain found$"),
    ("crash in play", "crash", r"^it ended with exit code 1 when asked for 'move'; .* / ValueError: two is too many$"),
    ("killed", "crash", r"^it ended with exit code -9 when asked for 'move'$"),
    ("exit", "crash", r"^it ended with exit code 0 when asked for 'move'$"),
    ("flood", "truncated", r"^it wrote more than is taken when asked for 'move'$"),
    ("wrong JSON", "unparsable", r"is no JSON: Expecting property name"),
    ("no object", "unparsable", r"is no JSON object$"),
    ("no action", "unparsable", r"has no field 'action'$"),
    ("number", "unparsable", r"^its action is '0', which is no text$"),
    ("wrong type", "unparsable", r"is not of the type 'action', which answers 'move'$"),
    ("wrong type at start", "unparsable", r"is not of the type 'ready', which answers 'hello'$"),
    ("empty line", "empty", r"^it answered with an empty line$"),
    ("extra lines", "unparsable", r"^it wrote .* before it was asked for 'move'$"),
]


@pytest.mark.parametrize(("fault", "kind", "detail"), FORFEITS, ids=[row[0] for row in FORFEITS])
def test_a_fault_forfeits_the_game_by_its_kind(game: Game, fault: str, kind: str, detail: str) -> None:
    record = played(game, fault, ",time=0.3" if kind == "timeout" else "")
    assert record.forfeit is not None
    assert (record.forfeit.seat, record.forfeit.kind) == (0, kind)
    assert re.search(detail, record.forfeit.detail), record.forfeit.detail
    assert record.returns == (-1.0, 1.0)


def test_a_program_that_is_never_ready_forfeits_after_its_start(game: Game) -> None:
    record = played(game, "silence at start", ",start=0.2")
    assert record.forfeit is not None
    assert (record.forfeit.kind, record.forfeit.detail) == ("timeout", "no answer to 'hello' within 0.2 s")


@pytest.mark.parametrize("fault", ["none", "info lines", "exit code", "speaks first"])
def test_what_is_allowed_forfeits_nothing(game: Game, fault: str) -> None:
    assert played(game, fault).forfeit is None


def test_a_program_is_told_the_game_its_own_view_and_the_end(tmp_path: Path) -> None:
    game = registry.make("kuhn_poker")
    heard: list[tuple[str, dict[str, object]]] = []
    spec = seating.resolve(described("none"), game)
    agent = program.build(spec, game, lambda way, line: heard.append((way, json.loads(line))))
    record = match.play(game, [RandomAgent(), agent], 3, [1, 2])
    sent = [message for way, message in heard if way == "sent"]
    assert sent[0] == {
        "type": "hello",
        "protocol": 1,
        "game": "kuhn_poker",
        "players": 2,
        "seat": 1,
        "player_names": list(game.info.player_names),
        "utility": "zero_sum",
        "perfect_information": False,
        "view": "default",
        "seed": 2,
        "time_s": 10.0,
        "rules": registry.rules("kuhn_poker"),
    }
    assert sent[1].keys() == {"type", "player", "observation", "legal_actions", "seed", "time_s"}
    state = game.initial_state()
    for player, action in record.actions:
        if player == 1:
            break
        state = game.apply_action(state, action)
    assert sent[1]["observation"] == game.observations(state)[1]
    assert sent[1]["legal_actions"] == game.legal_actions(state)
    assert sent[-1] == {"type": "end", "returns": list(record.returns)}
    assert next(message for way, message in heard if way == "received") == {"type": "ready", "name": "wrong"}


def test_no_key_of_a_language_model_is_inherited(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    monkeypatch.setenv("SOME_API_KEY", "not of a provider")
    record = played(game, "keys")
    assert record.forfeit is not None
    assert record.forfeit.detail.startswith("'SOME_API_KEY' is not among")


def test_command_and_options_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = parse("exec:./bot --level=3 a,b=2,time=5,name=deep, start=2.5")
    assert (spec.model, spec.name, spec.folder) == ("./bot --level=3 a,b=2", "deep", str(tmp_path))
    assert spec.options == {"move_s": 5.0, "start_s": 2.5}
    assert AgentSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exec:", "Agent 'exec:' names no program: write exec:COMMAND, e.g. exec:./mine."),
        ("exec:cat,time=0", "Agent 'exec:cat,time=0': time is a number of seconds above 0, not '0'."),
        ("exec:cat,time=1,time=2", "Agent 'exec:cat,time=1,time=2': it sets 'time' twice."),
        ("exec:cat,name=", "Agent 'exec:cat,name=': 'name=' is no setting; write NAME=VALUE."),
    ],
)
def test_a_wrong_description_is_told_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(AgentSpecError) as caught:
        parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exec:./nothing.sh", "no program './nothing.sh' can be run from "),
        ("exec:no-such-program", "no program 'no-such-program' can be run from "),
        ("exec:'open", "is no command: No closing quotation."),
        ("exec:cat,view=other", "tic_tac_toe has the views default, not 'other'."),
    ],
)
def test_a_program_that_cannot_play_is_refused_before_the_games(game: Game, text: str, message: str) -> None:
    with pytest.raises(AgentSpecError, match=re.escape(message)):
        seating.resolve(parse(text), game)


def test_identity_follows_the_files_and_not_the_folder(
    game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identities = []
    for name, text in (("a", "one"), ("b", "one"), ("c", "two")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bot.sh").write_text(text, encoding="utf-8")
        monkeypatch.chdir(folder)
        identities.append(seating.resolve(parse("exec:sh bot.sh"), game).identity())
    assert identities[0] == identities[1]
    assert identities[0] != identities[2]
    assert "folder" not in identities[0]


def test_a_changed_file_is_noticed(game: Game, tmp_path: Path) -> None:
    spec = seating.resolve(parse(script(tmp_path, "one")), game)
    script(tmp_path, "two")
    with pytest.raises(AgentSpecError, match=r"a file of the command .* changed while the games ran"):
        seating.build(spec, game, Runtime())


def test_what_a_program_started_ends_with_it(game: Game, tmp_path: Path) -> None:
    text = f'sleep 60 &\necho $! > {tmp_path}/pid\necho \'{{"type": "ready"}}\'\nwhile read -r line; do :; done\n'
    agent = seating.build(seating.resolve(parse(script(tmp_path, text)), game), game, Runtime())
    agent.start(game.info, 0, 1)
    child = int((tmp_path / "pid").read_text())
    assert is_running(child)
    agent.close()
    agent.close()
    assert ends(child)


def test_what_a_program_started_ends_also_if_we_are_killed(tmp_path: Path) -> None:
    text = f'echo $$ > {tmp_path}/pid\necho \'{{"type": "ready"}}\'\nexec sleep 60\n'
    ours = (
        "import os, sys\n"
        "from arena.own_agents.line_process import LineProcess\n"
        f"process = LineProcess(['sh', {str(tmp_path / 'agent.sh')!r}], '/', dict(os.environ))\n"
        "import time; process.receive(time.monotonic() + 20)\n"
        "print('begun', flush=True); time.sleep(60)\n"
    )
    script(tmp_path, text)
    with subprocess.Popen([sys.executable, "-c", ours], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "begun\n"
        child = int((tmp_path / "pid").read_text())
        assert is_running(child)
        parent.send_signal(signal.SIGKILL)
    assert ends(child)


def ends(pid: int) -> bool:
    """Whether a process that was killed is soon gone: a busy system takes its time."""
    deadline = time.monotonic() + 20.0
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(pid)


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(found.stdout.strip()) and not found.stdout.strip().startswith("Z")


def test_no_zombie_is_left(game: Game) -> None:
    played(game, "crash at start")
    played(game, "none")
    found = subprocess.run(
        ["ps", "-o", "stat=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=True
    )
    assert [line for line in found.stdout.split() if line.startswith("Z")] == []
