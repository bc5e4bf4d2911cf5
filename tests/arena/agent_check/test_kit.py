"""The test kit finds what is planted in programs and classes, each by its kind, with the lines that led to it."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from arena import cli
from arena.agent_check import kit
from arena.agent_check.kit import Findings
from arena.agents.specs import parse
from arena.matches import seating
from games import registry

DATA = Path(__file__).parents[2] / "data" / "own"
WRONG = f"exec:{sys.executable} -S -E {DATA / 'faulty' / 'wrong.py'}"


def findings(text: str, games: int = 1) -> Findings:
    game = registry.make("tic_tac_toe")
    return kit.check(seating.resolve(parse(text), game), game, games)


PLANTED = [
    ("illegal move", "illegal", "'x(9,9)' is not among the 9"),
    ("silence", "timeout", "no answer to 'move' within 0.3 s"),
    ("late answer", "timeout", "no answer to 'move' within 0.3 s"),
    ("crash at start", "crash", "exit code 3 when asked for 'hello'; its last words: no brain found"),
    ("crash in play", "crash", "ValueError: two is too many"),
    ("flood", "truncated", "it wrote more than is taken"),
    ("wrong JSON", "unparsable", "is no JSON"),
    ("no action", "unparsable", "has no field 'action'"),
    ("number", "unparsable", "its action is '0', which is no text"),
    ("extra lines", "unparsable", "before it was asked for 'move'"),
    ("exit code", "ending", "it ended with exit code 7 after the game"),
    ("goes on", "ending", "it did not end when its input was closed, and was killed"),
]


@pytest.mark.parametrize(("fault", "kind", "detail"), PLANTED, ids=[row[0] for row in PLANTED])
def test_a_planted_fault_is_found(fault: str, kind: str, detail: str) -> None:
    found = findings(f"{WRONG} {shlex.quote(fault)}{',time=0.3' if kind == 'timeout' else ''}")
    assert [item.kind for item in found.faults] == [kind]
    assert detail in found.faults[0].detail
    assert found.faults[0].lines or fault == "crash at start"


def test_a_program_that_plays_once_alone_is_found_in_its_second_game(tmp_path: Path) -> None:
    (tmp_path / "once.sh").write_text(
        f"[ -e {tmp_path}/done ] && exit 9\ntouch {tmp_path}/done\nexec {WRONG.removeprefix('exec:')}\n",
        encoding="utf-8",
    )
    found = findings(f"exec:sh {tmp_path / 'once.sh'}", games=3)
    assert [(item.game, item.kind) for item in found.faults] == [(1, "crash"), (2, "crash")]


def test_a_right_program_has_no_faults_at_any_seat() -> None:
    found = findings(f"{WRONG} none", games=2)
    assert (found.games, found.faults) == (2, ())
    assert found.moves >= 6


def test_no_more_is_played_after_three_faulty_games() -> None:
    found = findings(f"{WRONG} number", games=9)
    assert (found.games, len(found.faults)) == (3, 3)


def test_what_was_sent_and_received_is_told() -> None:
    lines = findings(f"{WRONG} number").faults[0].lines
    assert [line.way for line in lines] == ["sent", "received", "sent", "received"]
    assert lines[1].text == '{"type": "ready", "name": "wrong"}'
    assert lines[2].text.startswith('{"type": "move", "player": 0, "observation": ')
    assert lines[3].text == '{"type": "action", "action": 0}'


def test_a_class_is_tried_likewise(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Far:\n    def act(self, turn):\n        return 'far'\n", encoding="utf-8")
    found = findings(f"python:{tmp_path / 'mine.py'}:Far")
    assert [item.kind for item in found.faults] == ["illegal"]
    assert [(line.way, line.text) for line in found.faults[0].lines][-1] == ("received", "far")


def test_the_command_says_faults_by_kind_and_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["agents", "check", f"{WRONG} number", "--game", "kuhn_poker", "--games", "2"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "unparsable: its action is '0', which is no text (game 0, seat 0)"
    assert said[1].startswith('    sent     {"type": "hello", "protocol": 1, "game": "kuhn_poker"')
    assert said[-1].startswith("faults: 2 x unparsable; exec:")


def test_the_command_ends_with_0_where_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["agents", "check", f"{WRONG} none", "--games", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"games": 1, "moves": 3, "faults": []}


def test_an_agent_of_ours_is_not_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["agents", "check", "mcts:sims=3"]) == 2
    assert "'mcts:sims=3' is an agent of ours: give one of your own, python: and exec:." in capsys.readouterr().err
