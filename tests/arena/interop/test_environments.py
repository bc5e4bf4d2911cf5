"""Environments of the public face: agents of the arena at the other seats, models of a run, and what is refused."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cwm
from arena.agents.api import RandomAgent
from arena.agents.specs import AgentSpecError, parse
from arena.interop import environments
from arena.interop.seated import SeatedAgent
from arena.machine.runtime import Runtime
from arena.matches import match, seating
from arena.usage import UsageError
from games import registry
from games.adapters.from_pettingzoo import FromParallel
from games.adapters.seats import seat_of
from games.api import GameError
from games.posg.serialised import SerialisedPosg
from tests.games.interop.foreign import Dice


def test_without_the_extra_one_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gymnasium", "pettingzoo"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, f"games.adapters.{name}", raising=False)
    said = "Environments of other libraries need gymnasium, which is not installed: pip install .*interop"
    with pytest.raises(UsageError, match=said):
        cwm.gymnasium_env("tic_tac_toe")
    with pytest.raises(UsageError, match=said):
        cwm.pettingzoo_env("tic_tac_toe")


def opponent(agent: str, game_id: str) -> SeatedAgent:
    game = registry.make(game_id)
    with environments.ExitStack() as stack:
        (seated,) = environments._opponents(agent, game, stack)
        assert isinstance(seated, SeatedAgent)
        stack.pop_all()
    return seated


@pytest.mark.parametrize(
    ("agent", "game_id"),
    [("mcts:sims=20", "tic_tac_toe"), ("ismcts:sims=20", "leduc_poker"), ("posg:pomcp,sims=20", "tiger-2a")],
)
def test_agents_of_the_arena_play_at_the_other_seats(agent: str, game_id: str) -> None:
    def paid(seed: int) -> list[float]:
        seat = seat_of(registry.make(game_id), 0, opponent(agent, game_id), most=6)
        rewards, rng = [seat.begin(random.Random(seed))], random.Random(seed)
        while not seat.is_over and not seat.is_cut:
            rewards.append(seat.play(rng.choice(list(seat.legal()))))
        return rewards

    assert [paid(seed) for seed in (1, 2)] == [paid(seed) for seed in (1, 2)]


@pytest.mark.slow
def test_planners_play_in_environments_of_others() -> None:
    game = SerialisedPosg(FromParallel(Dice(), reward_bounds=(0.0, 2.0), step_limit=3))
    spec = seating.resolve(parse("posg:pomcp,sims=10,belief=rejection,tries=2"), game)
    agents = [seating.build(spec, game, Runtime()), RandomAgent()]
    played = match.play(game, agents, 0, [1, 2])
    assert (played.length, played.fallbacks, played.model_errors) == (5, ({}, {}), ({}, {}))


def test_an_agent_that_gives_no_move_is_named(tmp_path: Path) -> None:
    (tmp_path / "mute.py").write_text("class Mute:\n    def act(self, *told):\n        raise RuntimeError('no')\n")
    seat = seat_of(registry.make("tic_tac_toe"), 1, opponent(f"python:{tmp_path / 'mute.py'}:Mute", "tic_tac_toe"))
    with pytest.raises(GameError, match=r"tic_tac_toe: the opponent .* at seat 0 gave no move \(crash\)"):
        seat.begin(random.Random(0))


@pytest.mark.parametrize(
    ("agent", "error", "said"),
    [
        ("human", UsageError, "'human' cannot be an opponent in an environment: learners ask too often for people"),
        ("llm:openai:m", UsageError, "cannot be an opponent in an environment"),
        ("partner:Nobody", AgentSpecError, "tic_tac_toe has the partners none, not 'Nobody'"),
        ("mtcs", AgentSpecError, "mtcs"),
    ],
)
def test_who_cannot_sit_there_is_refused(agent: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        opponent(agent, "tic_tac_toe")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("pettingzoo", reason="the extra `interop` is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield cwm.open_recording("tic_tac_toe")


@pytest.mark.extra("interop")
def test_a_synthesised_model_is_one_line_away_from_a_learner(run: Any) -> None:
    pytest.importorskip("gymnasium", reason="the extra `interop` is not installed")
    check_env = pytest.importorskip("gymnasium.utils.env_checker").check_env
    env = cwm.gymnasium_env(f"cwm:{run.folder}", seat=0, opponents="random")
    try:
        check_env(env)
        assert env.action_space.n == 9
        before, after = learned(env, 0), learned(env, 400)
        assert after > before + 0.2
    finally:
        env.close()
        env.close()


def learned(env: Any, games: int) -> float:
    """Returns the mean return of 100 games after a tabular learner has played some: every visit's return, averaged."""
    rng, values = random.Random(0), dict[tuple[bytes, int], tuple[float, int]]()

    def play(number: int, explore: float) -> float:
        told, info = env.reset(seed=number)
        visited, total, is_over = [], 0.0, False
        while not is_over:
            legal = [action for action, may in enumerate(info["action_mask"]) if may]
            known = {action: values.get((told.tobytes(), action), (0.0, 0))[0] for action in legal}
            action = rng.choice(legal) if rng.random() < explore else max(legal, key=known.__getitem__)
            visited.append((told.tobytes(), action))
            told, paid, ended, cut, info = env.step(action)
            total, is_over = total + paid, ended or cut
        for place in visited:
            mean, count = values.get(place, (0.0, 0))
            values[place] = (mean + (total - mean) / (count + 1), count + 1)
        return total

    for number in range(games):
        play(number, 0.3)
    return sum(play(10_000 + number, 1.0 if games == 0 else 0.0) for number in range(100)) / 100


@pytest.mark.extra("interop")
def test_a_synthesised_model_passes_the_test_of_pettingzoo(run: Any) -> None:
    api_test = pytest.importorskip("pettingzoo.test", reason="the extra `interop` is not installed").api_test
    env = cwm.pettingzoo_env(run)
    api_test(env, 30)
    env.close()
