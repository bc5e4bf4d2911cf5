"""Sloppy and hostile input: each gets a sentence that names what was given, and the documented exit code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from arena.runs.inputs import registered, remarks
from cwm.trajectories.recorded import collect, write
from games import registry

Rows: TypeAlias = list[dict[str, Any]]


@pytest.fixture
def games(tmp_path: Path) -> Path:
    path = tmp_path / "games.jsonl"
    write(path, collect(registry.make("leduc_poker"), 3, 1))
    return path


def rows_of(path: Path) -> Rows:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def put(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def misspelt(rows: Rows) -> None:
    rows[2]["legal_action"] = rows[2].pop("legal_actions")


def illegal(rows: Rows) -> None:
    rows[3]["action"] = "Dance"


def improbable(rows: Rows) -> None:
    row = next(row for row in rows if row.get("chance"))
    row["chance"] = [[name, 0.9] for name, _ in row["chance"]]


def not_a_number(rows: Rows) -> None:
    rows[1]["rewards"] = [float("nan"), 0.0]


def infinite(rows: Rows) -> None:
    rows[1]["rewards"] = [float("inf"), 0.0]


def text_for_number(rows: Rows) -> None:
    rows[1]["rewards"] = ["1", "0"]


def wrong_version(rows: Rows) -> None:
    rows[0]["version"] = 99


def player_of_nobody(rows: Rows) -> None:
    rows[4]["player"] = 7


def step_left_out(rows: Rows) -> None:
    del rows[2]


def end_left_out(rows: Rows) -> None:
    del rows[-1]


def twice_the_same_action(rows: Rows) -> None:
    rows[3]["legal_actions"] = [rows[3]["action"]] * 2


def other_start(rows: Rows) -> None:
    first = next(row for row in rows if row["trajectory"] == 1)
    first["state"] = {"other": True}


def names_for_three(rows: Rows) -> None:
    rows[0]["player_names"] = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (misspelt, "field 'legal_actions' is missing"),
        (illegal, "field 'action' is \"Dance\", which is not among"),
        (improbable, "the probabilities in 'chance' must be at least 0 and sum to 1"),
        (not_a_number, "not JSON (NaN is not allowed)"),
        (infinite, "not JSON (Infinity is not allowed)"),
        (text_for_number, 'field \'rewards\' is ["1", "0"]; expected a list with one finite number a player'),
        (wrong_version, "field 'version' is 99"),
        (player_of_nobody, "field 'player' is 7"),
        (step_left_out, "steps of a game count up from 0"),
        (end_left_out, "was the file cut?"),
        (twice_the_same_action, "names an action twice"),
        (other_start, "differs from line 1"),
        (names_for_three, "field 'player_names' has 3 entries; expected 2"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
@pytest.mark.parametrize("command", ["check", "synthesize"])
def test_a_file_of_games_with_a_fault_is_refused_by_its_line(
    cwm: Any, games: Path, tmp_path: Path, change: Callable[[Rows], None], said: str, command: str
) -> None:
    rows = rows_of(games)
    change(rows)
    put(games, rows)
    (tmp_path / "rules.md").write_text("Poker with six cards.\n", encoding="utf-8")
    words = {
        "check": ["trajectories", "check", games],
        "synthesize": ["synthesize", "--rules", tmp_path / "rules.md", "--trajectories", games, "--dry-run"],
    }[command]
    ran = cwm(*words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {games} is not a valid trajectory file")
    assert said in ran.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file holds no step"),
        (b"\n\n", "the file holds no step"),
        (b"[1, 2]\n", "expected a JSON object, got list"),
        (b"null\n", "expected a JSON object, got NoneType"),
        ('{"game": "Müll"}'.encode("latin-1"), "Give a UTF-8 file"),
        (b'{"a": ' * 2_000, "not JSON"),
        (b"\x00\x01\x02", "not JSON"),
        (b'{"game": "\\ud800"}', "half of a surrogate pair"),
    ],
)
def test_a_file_that_holds_no_games_is_refused(cwm: Any, tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(content)
    ran = cwm("trajectories", "check", path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert said in ran.err


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.rstrip(b"\n"),
        lambda data: data.replace(b"\n", b"\n\n"),
    ],
    ids=["CRLF", "BOM", "no last newline", "empty lines"],
)
def test_what_editors_do_to_a_file_is_accepted(cwm: Any, games: Path, change: Callable[[bytes], bytes]) -> None:
    games.write_bytes(change(games.read_bytes()))
    assert cwm("trajectories", "check", games).code == 0


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("play nope", 2, "There is no game 'nope'"),
        ("arena nope --agent random", 2, "There is no game 'nope'"),
        ("arena tic_tac_toe --agent rnadom", 2, "did you mean 'random'?"),
        ("arena tic_tac_toe --agent mcts:simz=3", 2, "simz"),
        ("arena tic_tac_toe --agent mcts:sims", 2, "is no setting; write NAME=VALUE"),
        ("arena tic_tac_toe --agent mcts:sims=-5", 2, "simulations must be finite and not negative, not -5"),
        ("arena tic_tac_toe --agent mcts:sims=0", 2, "expected a whole number of at least 1"),
        ("arena tic_tac_toe --agent mcts:sims=1e3", 2, "sims"),
        ("arena tic_tac_toe --agent mcts:sims=many", 2, "sims"),
        ("arena tic_tac_toe --agent mcts:exploration=nan", 2, "exploration"),
        ("arena tic_tac_toe --agent mcts:exploration=-1", 2, "exploration"),
        ("arena tic_tac_toe --agent ismcts:leaf=nothing", 2, "leaf"),
        ("arena tic_tac_toe --agent random:view=other", 2, "view"),
        ("arena tic_tac_toe --agent cwm", 2, "write cwm:FOLDER"),
        ("arena tic_tac_toe --agent cwm:nowhere", 2, "give the folder of a finished run"),
        ("arena tic_tac_toe --agent partner:heuristic", 2, "partner"),
        ("arena tic_tac_toe --agent ippo:op-s0", 2, "error: "),
        ("arena tic_tac_toe --agent learned:nowhere", 2, "error: "),
        ("arena tic_tac_toe --agent human", 2, "is a person, who plays with `cwm play`"),
        ("arena tic_tac_toe --agent random --agent random", 2, "Two agents are named 'random'"),
        ("arena tic_tac_toe --agent random --deals 0", 2, "--deals"),
        ("arena tic_tac_toe --agent random --deals -3", 2, "--deals"),
        ("arena tic_tac_toe --agent random --deals 100000000000", 2, "--deals"),
        ("arena tic_tac_toe --agent random --deals ten", 2, "--deals"),
        ("arena tic_tac_toe --agent random --seed one", 2, "--seed"),
        ("arena tic_tac_toe --agent random --pairing some", 2, "--pairing is 'some'"),
        ("arena tic_tac_toe --agent random --max-calls 3", 2, "leave out caps"),
        ("arena tic_tac_toe --agent random --workers 0", 2, "--workers"),
        ("arena tic_tac_toe", 2, "--agent"),
        ("arena leduc_poker --agent mcts:sims=5", 2, "use 'ismcts'"),
        ("xp tic_tac_toe --agent random --html nowhere/page.html", 2, "There is no folder nowhere for page.html"),
        ("xp tic_tac_toe --agent random --html .", 2, "is a folder; give the name of a file in it"),
        ("xp tic_tac_toe --agent random --greedy", 2, "of checkpoints"),
        ("compare tic_tac_toe --agents nobody", 2, "There is no kind of player 'nobody'"),
        ("compare yokai-9c-2p --policies nowhere", 2, "There is no folder nowhere of trained policies"),
        ("resume nowhere", 2, "nowhere"),
        ("verify nowhere", 2, "holds neither a tournament nor a run"),
        ("report nowhere", 2, "nowhere"),
        ("evaluate nowhere", 2, "nowhere"),
        ("export nowhere -o game.py", 2, "nowhere"),
        ("games render nowhere", 2, "nowhere"),
        ("games render tic_tac_toe", 2, "error: "),
        ("games rules nope", 2, "There is no game 'nope'"),
        ("games show tic_tac_toe --seed x", 2, "--seed"),
        ("trajectories record nope -o games.jsonl", 2, "There is no game 'nope'"),
        ("trajectories record tic_tac_toe --games 0 -o games.jsonl", 2, "--games"),
        ("trajectories record tic_tac_toe -o nowhere/games.jsonl", 4, "nowhere/games.jsonl cannot be used"),
        ("trajectories check nowhere.jsonl", 2, "nowhere.jsonl cannot be read"),
        ("trajectories check .", 2, "cannot be read"),
        ("trajectories check nowhere.jsonl --deck shut", 2, "--deck is 'shut'; give open or closed"),
        ("synthesize nope", 2, "There is no game 'nope'"),
        ("synthesize tic_tac_toe --llm nobody:x", 3, "nobody"),
        ("synthesize tic_tac_toe --llm openai:x", 3, "OPENAI_API_KEY"),
        ("synthesize --rules nowhere.md --trajectories nowhere.jsonl", 2, "nowhere"),
        ("train yokai nope sp", 2, "error: "),
        ("train curves nowhere", 2, "error: "),
        ("nonsense", 2, "nonsense"),
        ("arena --nonsense", 2, "--nonsense"),
    ],
)
def test_a_command_that_cannot_be_done_is_one_sentence(
    cwm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = cwm(*line.split())
    assert (ran.code, ran.out) == (code, ""), ran.err
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1, ran.err
    assert said in ran.err


@pytest.mark.parametrize("what", ["rules", "games"])
def test_an_empty_file_is_named(cwm: Any, games: Path, tmp_path: Path, what: str) -> None:
    rules = tmp_path / "rules.md"
    rules.write_text("" if what == "rules" else "Poker with six cards.\n", encoding="utf-8")
    if what == "games":
        games.write_text("", encoding="utf-8")
    ran = cwm("synthesize", "--rules", rules, "--trajectories", games, "--dry-run")
    assert (ran.code, ran.out) == (2, "")
    assert str(rules if what == "rules" else games) in ran.err


def test_no_game_is_left_to_learn_from_where_all_are_held_out(refused: Any, games: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("Poker with six cards.\n", encoding="utf-8")
    words = ["synthesize", "--rules", tmp_path / "rules.md", "--trajectories", games, "--held-out", 3, "--dry-run"]
    assert refused(*words).code == 2


GERMAN = (
    "Zwei Spieler setzen abwechselnd ein Zeichen auf eines der neun Felder. Wer drei Zeichen in einer Reihe hat, "
    "gewinnt das Spiel sofort."
)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (GERMAN, "do not look like English"),
        (
            "Put a mark on one of the squares. " * 1_000,
            "The rules have 8,000 words: the language model must take prompts of",
        ),
        ("Whoever has four marks in a row wins the game.", "the games decide: programs are tested on them"),
    ],
)
def test_what_is_odd_about_rules_is_said_before_anybody_is_asked(
    cwm: Any, games: Path, tmp_path: Path, rules: str, said: str
) -> None:
    (tmp_path / "rules.md").write_text(rules, encoding="utf-8")
    words = ["synthesize", "--rules", tmp_path / "rules.md", "--trajectories", games, "--dry-run"]
    ran = cwm(*words)
    assert ran.code == 0
    assert said in ran.err
    assert [line for line in cwm(*words, "--json").json["remarks"] if said in line]


def test_nothing_is_odd_about_any_rule_book_that_ships() -> None:
    for game in registry.ids():
        assert remarks(registered(game, 1, 0), 1_000) == []
