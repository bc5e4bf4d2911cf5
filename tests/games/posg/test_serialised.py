"""Games of simultaneous moves in turns: nobody sees what others chose, and chance acts a draw at a time."""

import random
from collections import Counter
from pathlib import Path

import pytest

from games import registry
from games.api import CHANCE, TERMINAL, GameError, IllegalActionError
from games.contract.game import assert_game
from games.posg import as_game
from games.posg.histories import ResampledPosg
from games.posg.registry import ids
from games.posg.serialised import SerialisedPosg

START = {"growl": None, "creak": None}


@pytest.mark.parametrize("game_id", ids())
def test_games_of_simultaneous_moves_keep_the_contract_of_games(game_id: str) -> None:
    assert_game(registry.make(game_id, steps=3), games=2)


def after(game: SerialisedPosg, *actions: str):
    state = game.initial_state()
    for action in actions:
        state = game.apply_action(state, action)
    return state


def test_a_step_is_the_agents_choices_and_then_one_chance_node_a_draw() -> None:
    game = as_game.make("tiger-2a", steps=1)
    players, draws, state = [], [], game.initial_state()
    for action in ("tiger: left", "open left", "listen", "tiger: right", *["growl of agent 0: left"]):
        players.append(game.current_player(state))
        draws += [state.draw[0]] if state.draw else []
        state = game.apply_action(state, action)
    assert players == [CHANCE, 0, 1, CHANCE, CHANCE]
    assert draws == ["tiger", "tiger", "growl of agent 0"]
    assert game.chance_outcomes(state) == [
        (f"creak of agent 0: {heard}", pytest.approx(1 / 3)) for heard in ("left", "right", "silence")
    ]
    for action in ("creak of agent 0: silence", "growl of agent 1: right", "creak of agent 1: left"):
        assert game.rewards(state) == [0.0, 0.0]
        state = game.apply_action(state, action)
    assert game.current_player(state) == TERMINAL
    assert game.rewards(state) == [-100.0, -1.0]
    assert game.observations(state)[1] == {"agent": 1, "step": 1, "seen": {"growl": "right", "creak": "left"}}


def test_choices_and_draws_of_an_unfinished_step_are_seen_by_nobody() -> None:
    game = as_game.make("tiger-2a")
    shown = [{"agent": agent, "step": 0, "seen": START} for agent in range(2)]
    for actions in ([], ["open left"], ["open left", "listen"], ["open left", "listen", "tiger: left"]):
        assert game.observations(after(game, "tiger: left", *actions)) == shown


def test_an_illegal_action_names_the_legal_ones() -> None:
    game = as_game.make("tiger-2a")
    with pytest.raises(IllegalActionError, match="'bark' is not legal here; legal are: tiger: left, tiger: right"):
        game.apply_action(game.initial_state(), "bark")


def test_resampled_histories_have_the_exact_probabilities() -> None:
    """A growl from the left after listening, and a creak: the tiger is left with 0.85 where the other listened."""
    game = as_game.make("tiger-2a")
    assert isinstance(game, ResampledPosg)
    shown = [({"agent": 0, "step": 0, "seen": START}, "listen")]
    shown.append(({"agent": 0, "step": 1, "seen": {"growl": "left", "creak": "silence"}}, None))
    rng = random.Random(0)
    counts = Counter()
    for _ in range(2000):
        state = after(game, *game.resample_history(shown, 0, rng))
        assert game.observations(state)[0] == shown[-1][0]
        counts[state.state] += 1
    silent, opened = 0.9 * 0.85, 2 * 0.05 * 0.5  # the other listened; it opened a door and the tiger moved
    left = (silent + opened * 2 * 0.85) / (silent + opened * 2 * 0.85 + 0.9 * 0.15 + opened * 2 * 0.15)
    assert counts["left"] / 2000 == pytest.approx(left, abs=0.03)


def test_a_history_that_nothing_explains_is_refused() -> None:
    game = as_game.make("mabc")
    assert isinstance(game, ResampledPosg)
    with pytest.raises(GameError, match="no history explains that agent 1 was told 'noise' after 0 steps"):
        game.resample_history([({"agent": 1, "step": 0, "seen": "noise"}, None)], 1, random.Random(0))


def test_playouts_pay_what_whole_random_games_pay() -> None:
    game = as_game.make("mabc", steps=3)
    rng = random.Random(0)
    begun = after(game, "send")
    fast = [game.playout(begun, rng, 100)[0] for _ in range(1000)]
    slow = []
    for _ in range(1000):
        state, paid = begun, 0.0
        while (player := game.current_player(state)) != TERMINAL:
            outcomes = game.chance_outcomes(state) if player == CHANCE else [(a, 1) for a in game.legal_actions(state)]
            state = game.apply_action(state, rng.choices(*zip(*outcomes, strict=True))[0])
            paid += game.rewards(state)[0]
        slow.append(paid)
    assert sum(fast) / 1000 == pytest.approx(sum(slow) / 1000, abs=0.1)


def test_an_unknown_game_of_simultaneous_moves_is_told_the_nearest() -> None:
    with pytest.raises(GameError, match="Did you mean tiger-2a"):
        as_game.make("tiger-3a")


def test_a_parameter_that_a_game_does_not_take_is_refused() -> None:
    with pytest.raises(GameError, match=r"mabc cannot be made with \['speed'\]"):
        registry.make("mabc", speed=2)
    with pytest.raises(GameError, match="mabc has the variants documented and posggym, not 'mine'"):
        registry.make("mabc", variant="mine")


OWN = """
from games.posg.mabc.model import BroadcastChannel

RULES = "Two stations share a channel."


class Quiet(BroadcastChannel):
    def legal_actions(self, state, agent):
        return ("wait",)


class Broken:
    info = BroadcastChannel().info
"""


def test_a_game_of_simultaneous_moves_in_a_file_of_the_users_own_is_played_in_turns(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    game = registry.make(f"python:{tmp_path}/mine.py:Quiet")
    assert isinstance(game, SerialisedPosg)
    assert game.info.id == f"python:{tmp_path}/mine.py:Quiet"
    assert game.legal_actions(game.initial_state()) == ["wait"]
    with pytest.raises(GameError, match=r"Broken lacks initial_state, active, .*games.posg.api.PosgModel"):
        registry.make(f"python:{tmp_path}/mine.py:Broken")
