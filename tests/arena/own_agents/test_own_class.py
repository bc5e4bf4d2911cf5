"""Classes of the user's own, and of other distributions, at the table."""

from pathlib import Path

import pytest

from arena.agents.api import RandomAgent
from arena.agents.specs import AgentSpecError, parse
from arena.machine.runtime import Runtime
from arena.matches import match, seating
from arena.matches.match import GameRecord
from games import plugins, registry

MINE = '''
class Last:
    """Plays the last legal action but some."""

    def __init__(self, back=0, note=""):
        self.back, self.note, self.heard = back, note, None

    def act(self, turn):
        return turn.legal_actions[-1 - self.back]

    def ended(self, returns):
        self.heard = returns

    def account(self):
        return {"note": self.note}


made = []


class Wrong:
    def __init__(self, what):
        self.what = what
        if what == "make":
            raise OSError("no weights")
        if what == "second" and made:
            raise OSError("no second")
        made.append(what)

    def start(self, info, seat, seed):
        if self.what == "start":
            raise RuntimeError("no brain")

    def act(self, turn):
        if self.what == "act":
            return {}["nothing"]
        return None if self.what == "none" else "nowhere"


class Mute:
    pass
'''


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return file


def played(text: str) -> GameRecord:
    game = registry.make("tic_tac_toe")
    agent = seating.build(seating.resolve(parse(text), game), game, Runtime())
    return match.play(game, [agent, RandomAgent()], 0, [1, 2])


def test_a_class_with_act_alone_plays(mine: Path) -> None:
    record = played("python:mine.py:Last")
    assert record.actions[0] == (0, "x(2,2)")
    assert record.seats[0] == "python:mine.py:Last"
    assert record.forfeit is None


def test_options_are_its_keyword_arguments(mine: Path) -> None:
    spec = parse("python:mine.py:Last,back=1,note=1a,name=mine")
    assert spec.options == {"back": 1, "note": "1a"}
    record = played("python:mine.py:Last,back=1,note=1a,name=mine")
    assert record.actions[0] == (0, "x(2,1)")
    assert record.accounts == {"0": {"note": "1a"}}


def test_values_of_options_are_json_where_they_can_be(mine: Path) -> None:
    spec = parse("python:mine.py:Last,a=1.5,b=true,c=null,d=[1],e=NaN,f=-2")
    assert spec.options == {"a": 1.5, "b": True, "c": None, "d": "[1]", "e": "NaN", "f": -2}


def test_a_description_is_data_with_an_absolute_file(mine: Path) -> None:
    spec = parse("python:mine.py:Last")
    assert spec.model == f"{mine}:Last"
    assert spec.to_json() == {
        "kind": "python",
        "name": "python:mine.py:Last",
        "view": "default",
        "planner": {},
        "model": f"{mine}:Last",
        "model_hash": None,
    }


@pytest.mark.parametrize(
    ("what", "kind", "detail"),
    [
        ("start", "crash", "mine.py, line 32: RuntimeError: no brain"),
        ("act", "crash", "mine.py, line 36: KeyError: 'nothing'"),
        ("second", "crash", "mine.py, line 27: OSError: no second"),
        ("none", "unparsable", "act returned None, no action (a text) and no Move"),
        ("other", "illegal", "'nowhere' is not among the 9: "),
    ],
)
def test_its_fault_forfeits_the_game(mine: Path, what: str, kind: str, detail: str) -> None:
    record = played(f"python:mine.py:Wrong,what={what}")
    assert record.forfeit is not None
    assert record.forfeit.kind == kind
    assert detail in record.forfeit.detail


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("python:mine.py:Nobody", "mine.py has no 'Nobody'; it has Last, Wrong, Mute."),
        ("python:mine.py:Wrong,what=make", "cannot be made: "),
        ("python:mine.py:Mute", "Mute has no method `act(turn)`; see arena.agents.api.Agent."),
        ("python:mine.py:Last,depth=3", "cannot be made with ['depth']: got an unexpected keyword argument 'depth'."),
        ("python:mine.py:Last,view=other", "tic_tac_toe has the views default, not 'other'."),
    ],
)
def test_a_class_that_cannot_play_is_refused_before_the_games(mine: Path, text: str, message: str) -> None:
    with pytest.raises(AgentSpecError) as caught:
        seating.resolve(parse(text), registry.make("tic_tac_toe"))
    assert message in str(caught.value)


def test_a_changed_file_is_noticed(mine: Path) -> None:
    game = registry.make("tic_tac_toe")
    spec = seating.resolve(parse("python:mine.py:Last"), game)
    other = seating.resolve(parse("python:mine.py:Wrong,what=act"), game)
    assert spec.model_hash != other.model_hash
    mine.write_text(MINE.replace("-1 - ", ""), encoding="utf-8")
    with pytest.raises(AgentSpecError, match=r"the file of .* changed while the games ran"):
        seating.build(spec, game, Runtime())


def test_a_distribution_brings_an_agent(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = mine.parent / "lasts-2.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: lasts\nVersion: 2.0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text("[cwm.agents]\nlast = mine:Last\nbad = mine:Nobody\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(mine.parent))
    plugins._entries.cache_clear()
    assert parse("last").traits.help == "last (of the distribution lasts 2.0)"
    assert played("last:back=1").actions[0] == (0, "x(2,1)")
    with pytest.raises(AgentSpecError, match=r"agent 'bad': 'bad' of the distribution lasts 2.0 cannot be loaded"):
        seating.resolve(parse("bad"), registry.make("tic_tac_toe"))
