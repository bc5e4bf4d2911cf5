"""Small games of exact rules, for tests of the arena; the command line in this process."""

import io
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from arena import cli
from arena.checkpoints import on_game
from arena.machine.process_pool import Work
from arena.matches import engine
from arena.matches.match import Forfeit, GameRecord
from arena.terminal import console
from cwm.llm.provider_table import KEY_VARIABLES
from cwm.sandbox.inside.program import LoadedCode
from cwm.trajectories.recorded import collect, write
from games.api import CHANCE, TERMINAL, Action, GameInfo, IllegalActionError, Observation, State
from search.learn import checkpoint
from search.learn.api import Params
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig

PROGRAMS = Path(__file__).resolve().parents[1] / "data" / "programs"


class HighCard:
    """Each player is dealt a card 0..9 nobody else sees, then says keep, or names a number; the highest card wins 1.

    Between the deals the first player makes a choice, so that chance nodes have players' moves between them.
    """

    info = GameInfo(
        id="high_card",
        num_players=2,
        utility="win_loss_draw",
        min_utility=-1.0,
        max_utility=1.0,
        perfect_information=False,
        has_chance=True,
        player_names=("first", "second"),
        max_length=4,
    )

    def initial_state(self) -> State:
        return {"cards": [], "said": []}

    def current_player(self, state: State) -> int:
        cards, said = len(state["cards"]), len(state["said"])
        if cards == 0:
            return CHANCE
        if said == 0:
            return 0
        if said == 1 and state["said"][0] == "again":
            return 0
        if cards == 1:
            return CHANCE
        return 1 if state["said"][-1] != "done" else TERMINAL

    def legal_actions(self, state: State) -> list[Action]:
        player = self.current_player(state)
        if player == CHANCE:
            return [str(card) for card in range(10)]
        return {0: ["keep"] if state["said"] else ["keep", "again"], 1: ["done"], TERMINAL: []}[player]

    def chance_outcomes(self, state: State) -> list[tuple[Action, float]]:
        return [(action, 0.1) for action in self.legal_actions(state)] if self.current_player(state) == CHANCE else []

    def apply_action(self, state: State, action: Action) -> State:
        if action not in self.legal_actions(state):
            raise IllegalActionError(f"{action!r} is not legal.")
        if self.current_player(state) == CHANCE:
            return {"cards": [*state["cards"], int(action)], "said": state["said"]}
        return {"cards": state["cards"], "said": [*state["said"], action]}

    def rewards(self, state: State) -> list[float]:
        if self.current_player(state) != TERMINAL:
            return [0.0, 0.0]
        sign = float((state["cards"][0] > state["cards"][1]) - (state["cards"][0] < state["cards"][1]))
        return [sign, -sign]

    def observations(self, state: State) -> list[Observation]:
        cards = [*state["cards"], None, None]
        return [{"own card": cards[player], "said": state["said"]} for player in range(2)]


class Pair:
    """Two players say `red` or `blue` in turn; both get 4 if they agree, -2 if not; `end` stops the game for 1."""

    def __init__(self, players: int = 2) -> None:
        self.info = GameInfo(
            id="pair",
            num_players=players,
            utility="identical",
            min_utility=-2.0,
            max_utility=4.0,
            perfect_information=True,
            has_chance=False,
            player_names=tuple(f"player {number}" for number in range(players)),
            max_length=players,
            views=("default", "loud"),
        )

    def initial_state(self) -> State:
        return {"said": []}

    def current_player(self, state: State) -> int:
        return TERMINAL if len(state["said"]) == self.info.num_players or "end" in state["said"] else len(state["said"])

    def legal_actions(self, state: State) -> list[Action]:
        return [] if self.current_player(state) == TERMINAL else ["red", "blue", "end"]

    def chance_outcomes(self, state: State) -> list[tuple[Action, float]]:
        return []

    def apply_action(self, state: State, action: Action) -> State:
        if action not in self.legal_actions(state):
            raise IllegalActionError(f"{action!r} is not legal.")
        return {"said": [*state["said"], action]}

    def rewards(self, state: State) -> list[float]:
        reward = self.outcome(state)["paid"] if self.current_player(state) == TERMINAL else 0.0
        return [reward] * self.info.num_players

    def observations(self, state: State) -> list[Observation]:
        return [{"said": state["said"]} for _ in range(self.info.num_players)]

    def observation(self, state: State, player: int, view: str) -> Observation:
        return {"said": state["said"], "view": view}

    def outcome(self, state: State) -> dict[str, Any]:
        early = "end" in state["said"]
        won = early or len(set(state["said"])) == 1
        score = 1.0 if early else 4.0
        return {"won": won, "ended_early": early, "score": score, "paid": score if won else -2.0}

    def render(self, state: State, player: int | None = None) -> str:
        return f"table of {player}: {' '.join(state['said'])}"


@pytest.fixture
def high_card() -> HighCard:
    return HighCard()


@pytest.fixture
def pair() -> Pair:
    return Pair()


@pytest.fixture
def pair_of_three() -> Pair:
    return Pair(3)


@pytest.fixture
def record() -> Callable[..., GameRecord]:
    """Builds a record from what a test cares about."""

    def build(
        seats: str,
        returns: list[float],
        deal: int = 0,
        forfeit: Forfeit | None = None,
        outcome: dict[str, Any] | None = None,
        length: int = 2,
    ) -> GameRecord:
        names = tuple(seats.split())
        return GameRecord(
            game="toy",
            deal_seed=deal,
            seats=names,
            actions=tuple((index % len(names), "move") for index in range(length)),
            paid=tuple(returns),
            returns=tuple(returns),
            outcome=outcome,
            forfeit=forfeit,
            length=length,
            fallbacks=tuple({} for _ in names),
            model_errors=tuple({} for _ in names),
            sandbox=None,
            seconds=tuple((0.5,) for _ in names),
        )

    return build


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


class _InThisProcess:
    """Stands for a pool of processes."""

    def __init__(self, work: Work, workers: int) -> None:
        self.run = engine.in_processes(work, 1)


@pytest.fixture
def cwm(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """Runs `cwm WORDS…` in this process, with `typed` as its input, no keys, and an empty cache.

    Games are played in processes of their own, which take a second to start, only where `--workers` says so: they
    change no result.
    """
    for name in (*KEY_VARIABLES, "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    # Whatever terminal the tests run in, tables are as wide as in a file.
    monkeypatch.setattr(console.out, "_width", console.FILE_WIDTH)
    monkeypatch.setattr(console.notices, "_width", console.FILE_WIDTH)

    def run(*words: object, typed: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        capsys.readouterr()
        with monkeypatch.context() as patch:
            if "--workers" not in words:
                patch.setattr(engine, "ProcessPool", _InThisProcess)
            code = cli.run([str(word) for word in words])
        shown = capsys.readouterr()
        return Ran(code, shown.out, shown.err)

    return run


@pytest.fixture
def refused(cwm: Run) -> Run:
    """Runs a command that must fail: one line on stderr that begins with `error:`, nothing on stdout."""

    def run(*words: object, typed: str = "") -> Ran:
        ran = cwm(*words, typed=typed)
        assert ran.code != 0
        assert ran.out == ""
        assert ran.err.startswith("error: ")
        assert ran.err.count("\n") == 1, ran.err
        return ran

    return run


def script(path: Path, *answers: str) -> str:
    """Writes a scripted model whose answers hold these programs, and returns its name."""
    path.write_text("".join(json.dumps(f"```python\n{answer}\n```") + "\n" for answer in answers), encoding="utf-8")
    return f"scripted:{path}"


@pytest.fixture(scope="session")
def right_program() -> str:
    """Returns the registered game tic_tac_toe as a program."""
    return (PROGRAMS / "registered_tic_tac_toe.py").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def right_model(right_program: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Returns the name of a model that writes tic_tac_toe right at once."""
    return script(tmp_path_factory.mktemp("model") / "right.jsonl", right_program)


@pytest.fixture(scope="session")
def finished(right_model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a finished run on tic_tac_toe; tests copy it before they change it."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    words = ["synthesize", "tic_tac_toe", "--llm", right_model, "--test-transitions", "60", "--workers", "1"]
    assert cli.run([*words, "--run", str(folder)]) == 0
    return folder


@dataclass(frozen=True)
class OwnGame:
    """A game that no registry knows: rules, played games, and its right program."""

    rules: Path
    trajectories: Path
    program: str


@pytest.fixture
def own_game(tmp_path: Path) -> OwnGame:
    """Returns a user's own game, played by its program, which nothing else in the test knows."""
    program = (PROGRAMS / "three_in_a_row.py").read_text(encoding="utf-8")
    info = GameInfo("noughts", 2, "win_loss_draw", -1.0, 1.0, True, False, ("first", "second"), 9)
    loaded = LoadedCode({"source": program, "initial_state": {"board": [None] * 9, "next": "x"}, "info": asdict(info)})
    rules, trajectories = tmp_path / "rules.txt", tmp_path / "games.jsonl"
    rules.write_text("Three in a row on a board of nine cells; the first player marks with x.\n", encoding="utf-8")
    write(trajectories, collect(loaded.instantiate(), 6, 3))
    return OwnGame(rules, trajectories, program)


TINY = NetworkConfig(hidden=16, filters=4, layers=2)

SavePolicy = Callable[..., Path]


@cache
def untrained(game: str, seed: int, config: NetworkConfig) -> Params:
    """Returns parameters that nobody trained, the same for either view; large enough to prefer some actions to others.

    They are drawn without the network's own initialisers, each of which would be compiled.
    """
    env = on_game.environment(game, "default", config)
    network = ActorCritic(config, env.num_actions)
    seen = jax.eval_shape(lambda key: env.observe(env.init(key)), jax.random.key(0))
    example = jax.tree.map(lambda leaf: jnp.zeros((1, *leaf.shape)), seen)
    shapes = jax.eval_shape(network.init, jax.random.key(0), example)
    rng = np.random.default_rng(seed)
    return jax.tree.map(lambda leaf: rng.normal(size=leaf.shape) / np.sqrt(np.prod(leaf.shape[:-1])), shapes)


@pytest.fixture
def save_policy(tmp_path: Path) -> SavePolicy:
    """Writes an untrained policy and returns its folder."""

    def save(
        name: str = "tiny", game: str = "yokai-9c-2p", view: str = "memory", seed: int = 0, config: NetworkConfig = TINY
    ) -> Path:
        params = untrained(game, seed, config)
        about = {"name": name, "game": game, "view": view, "method": "sp", "seed": seed, "steps": 0}
        checkpoint.save_policy(tmp_path / name, params, {**about, "network": config.to_json(), "ppo": {}})
        return tmp_path / name

    return save


@pytest.fixture(scope="session")
def trained() -> Callable[..., Path]:
    """Writes the checkpoint of an untrained network on cooperative reaching, and returns its folder."""

    def write(folder: Path, game: str = "cooperative-reaching", **facts: object) -> Path:
        config = NetworkConfig("mlp", "lstm", 8, trunk=(8,), values_of=((0, 5), (0, 5), (0, 6), (0, 6)))
        shown = np.zeros((1, 1, 1, 1, 4), np.float32)
        shapes = jax.eval_shape(ActorCritic(config, 5).init, jax.random.key(0), shown)
        rng = np.random.default_rng(0)
        params = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape).astype(np.float32), shapes)
        about = {"name": folder.name, "game": game, "network": config.to_json(), **facts}
        checkpoint.save_policy(folder, params, about)
        return folder

    return write
