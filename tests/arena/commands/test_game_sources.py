"""Every command that takes a game, with every kind of game: it works, or says in a sentence why it cannot.

A command that takes a game and has no row here makes a test fail.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import typer

from arena import cli
from arena.agents.llm_settings import LlmConfig
from arena.language_players.prompts import GamePrompts
from arena.matches.game_source import open_game
from cwm.model.bundle import ModelBundle
from games.api import UnknownGameError

NIM = Path(__file__).resolve().parents[2] / "data" / "own" / "nim.py"
FIRST = NIM.with_name("first.py")
SOURCES = ("registered", "run", "model", "exported", "python")
MODELS = ("run", "model", "exported")
LITTLE = ("--workers", 1)


@dataclass(frozen=True)
class Row:
    """How a command is called with a game, and what comes of it.

    Attributes:
        words: of the command line: {game} is the game, {tmp} an empty folder.
        says: what its output holds where it works; None: it works with no kind of game that is tried here.
        code: how it ends where it works.
        cannot: what the only line of its errors holds, by kinds of games with which it does not work.
    """

    words: tuple[Any, ...]
    says: str | None = ""
    code: int = 0
    cannot: dict[tuple[str, ...], str] = field(default_factory=dict)

    def refusal(self, source: str) -> str | None:
        return next((why for sources, why in self.cannot.items() if source in sources), None)


ROWS: dict[str, Row] = {
    "games rules": Row(("games", "rules", "{game}"), "", cannot={("model", "exported"): "Nobody kept the rules text"}),
    "games show": Row(("games", "show", "{game}"), "returns: "),
    "games check": Row(("games", "check", "{game}", "--games", 2), "keeps the contract"),
    "games vectors": Row(("games", "vectors", "{game}", "--samples", 2, "--held-out", 1), "come back"),
    "games render": Row(
        ("games", "render", "{game}", "--out", "{tmp}/film.html"), None, cannot={SOURCES: "has no drawing"}
    ),
    "games check-batched": Row(("games", "check-batched", "{game}"), None, cannot={SOURCES: "no batched"}),
    "trajectories record": Row(("trajectories", "record", "{game}", "-o", "{tmp}/games.jsonl", "--games", 1)),
    "play": Row(("play", "{game}", "--agent", "random", "--seed", 1, "--run", "{tmp}/play"), "random"),
    "arena": Row(
        ("arena", "{game}", "--agent", "mcts:sims=4", "--agent", "random", "--deals", 1, "--run", "{tmp}/a", *LITTLE),
        "random",
    ),
    "xp": Row(
        ("xp", "{game}", "--agent", "mcts:sims=4", "--agent", "random", "--games", 2, "--run", "{tmp}/xp", *LITTLE),
        "random",
    ),
    "compare": Row(
        ("compare", "{game}", "--agents", "random,gt", "--games", 2, "--simulations", 4, "--run", "{tmp}/c", *LITTLE),
        "random",
    ),
    "agents check": Row(("agents", "check", "python:{first}:First", "--game", "{game}", "--games", 1), ""),
    "synthesize": Row(("synthesize", "{game}", "--dry-run"), "Your task", cannot={MODELS: "is a synthesised game"}),
    "demo": Row(
        ("demo", "{game}", "--run", "{tmp}/demo", "--max-calls", 0),
        "a cap is reached",
        3,
        cannot={MODELS: "is a synthesised game", ("python",): "No recorded completions ship for python:"},
    ),
    "train yokai": Row(("train", "yokai", "{game}", "--out", "{tmp}/t"), None, cannot={SOURCES: "no batched"}),
    "train hanabi": Row(("train", "hanabi", "{game}", "--out", "{tmp}/t"), None, cannot={SOURCES: "no batched"}),
    "train overcooked": Row(
        ("train", "overcooked", "{game}", "--out", "{tmp}/t"), None, cannot={SOURCES: "no batched"}
    ),
    "train posg": Row(("train", "posg", "{game}", "--out", "{tmp}/t"), None, cannot={SOURCES: "no batched"}),
    "posg beliefs": Row(
        ("posg", "beliefs", "{game}", "--agent", "posg:pomcp"),
        None,
        cannot={MODELS: "is a synthesised game", ("registered", "python"): "plans in games of simultaneous moves"},
    ),
    "posg matrix": Row(
        ("posg", "matrix", "{game}"),
        None,
        cannot={MODELS: "is a synthesised game", ("registered", "python"): "plans in games of simultaneous moves"},
    ),
    "posg payoffs": Row(("posg", "payoffs", "{game}"), None, cannot={SOURCES: "no game of simultaneous moves"}),
    "posg speed": Row(("posg", "speed", "{game}"), None, cannot={SOURCES: "no game of simultaneous moves"}),
    "train ippo": Row(
        ("train", "ippo", "--model", "{game}", "--steps", 1, "--out", "{tmp}/ippo"),
        None,
        cannot={MODELS: "holds no twin", ("registered", "python"): "holds no model"},
    ),
    "train ppo": Row(
        ("train", "ppo", "--model", "{game}", "--steps", 1, "--out", "{tmp}/ppo"),
        None,
        cannot={MODELS: "1 steps are less than one update", ("registered", "python"): "holds no model"},
    ),
    "train table": Row(
        ("train", "table", "2", "--game", "{game}", "--out", "{tmp}/t"), None, cannot={SOURCES: "no batched"}
    ),
    "benchmark": Row(("benchmark", "search", "--game", "{game}"), "", cannot={MODELS: "is a synthesised game"}),
}


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory, right_program: str) -> dict[str, str]:
    """Returns how each kind of game is named: one of a user's own, but for the registered one."""

    folder = tmp_path_factory.mktemp("games")
    own = folder / "own.jsonl"
    assert cli.run(["trajectories", "record", f"python:{NIM}:Nim", "-o", str(own), "--games", "6"]) == 0
    own.write_text(own.read_text().replace(f"python:{NIM}:Nim", "matches"))
    (folder / "rules.md").write_text("One heap of 7 matches; take 1, 2 or 3 in turn; the last one wins.\n")
    (folder / "answers").write_text(json.dumps(f"```python\n{PROGRAM}\n```") + "\n")
    run = folder / "run"
    words = [
        "synthesize",
        "--rules",
        folder / "rules.md",
        "--trajectories",
        own,
        "--llm",
        f"scripted:{folder / 'answers'}",
        "--run",
        run,
        *LITTLE,
    ]
    assert cli.run([str(word) for word in words]) == 0
    ModelBundle.load(run).save(folder / "model")
    assert cli.run(["export", str(run), "-o", str(folder / "matches.py")]) == 0
    return {
        "registered": "tic_tac_toe",
        "run": f"cwm:{run}",
        "model": f"cwm:{folder / 'model'}",
        "exported": f"cwm:{folder / 'matches.py'}",
        "python": f"python:{NIM}:Nim",
    }


PROGRAM = """
def get_current_player(state):
    return state["player"] if state["heap"] else -4


def get_player_name(player_id):
    return {0: "first", 1: "second", -4: "terminal"}[player_id]


def get_legal_actions(state):
    return [f"take {count}" for count in (1, 2, 3) if count <= state["heap"]]


def get_chance_outcomes(state):
    return []


def apply_action(state, action):
    return {"heap": state["heap"] - int(action.split()[1]), "player": 1 - state["player"]}


def get_rewards(state):
    if state["heap"]:
        return [0.0, 0.0]
    return [-1.0, 1.0] if state["player"] == 0 else [1.0, -1.0]


def get_observations(state):
    return [dict(state), dict(state)]
"""


def test_a_language_model_plays_a_users_own_game_by_the_rules_that_its_run_keeps(games: dict[str, str]) -> None:
    with open_game(games["run"]) as model:
        prompts = GamePrompts(model, LlmConfig(trajectories=1))
        state = model.initial_state()
        question = prompts.decision(0, [(model.observations(state)[0], None)], model.legal_actions(state))
    assert "One heap of 7 matches; take 1, 2 or 3 in turn" in question
    with open_game(games["model"]) as model, pytest.raises(UnknownGameError):
        GamePrompts(model, LlmConfig())


def commands() -> Iterator[tuple[str, Any]]:
    def below(command: Any, place: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        inner = getattr(command, "commands", None)
        if inner is None:
            yield " ".join(place), command
            return
        for name, one in inner.items():
            yield from below(one, (*place, name))

    return below(typer.main.get_command(cli.app), ())


def takes_a_game(command: Any) -> bool:
    return any(
        item.name in ("game", "source") or (item.name == "games" and item.param_type_name == "argument")
        for item in command.params
    )


def test_every_command_that_takes_a_game_has_a_row() -> None:
    # All benchmarks have the options of all, and one stands for them.
    named = {name for name, command in commands() if takes_a_game(command)}
    assert {"benchmark" if name.startswith("benchmark ") else name for name in named} == set(ROWS)


def cells() -> Iterator[Any]:
    for name, row in ROWS.items():
        for source in SOURCES:
            # What works with a registered game is tried elsewhere, and a model is read as its run is.
            slow = source in ("registered", "model") or (name == "benchmark" and row.refusal(source) is None)
            yield pytest.param(name, source, marks=[pytest.mark.slow] if slow else [], id=f"{name}-{source}")


@pytest.mark.parametrize(("name", "source"), list(cells()))
def test_a_command_works_with_a_game_or_says_in_a_sentence_why_it_cannot(
    name: str, source: str, games: dict[str, str], cwm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    row = ROWS[name]
    ran = cwm(
        *(
            str(word).replace("{game}", games[source]).replace("{tmp}", str(tmp_path)).replace("{first}", str(FIRST))
            for word in row.words
        )
    )
    refusal = row.refusal(source)
    if refusal is None:
        assert (ran.code, row.says is not None) == (row.code, True), ran.err
        assert str(row.says) in ran.out + ran.err
    else:
        assert ran.code == 2
        last = ran.err.strip().splitlines()[-1]
        assert (last.startswith("error: "), refusal in last, "Traceback" in ran.err) == (True, True, False), ran.err
        assert list(tmp_path.iterdir()) == []
