"""Agents that were trained on a model, at the table."""

import json

import jax
import numpy as np
import pytest

from arena.agents.api import InfrastructureError, Turn
from arena.agents.model_policy import ModelPolicyAgent, guided, resolve, searching
from arena.agents.specs import AgentSpecError, parse
from arena.checkpoints import on_model, places
from arena.checkpoints import vectors as lesson
from arena.checkpoints.on_model import Player, SeatPolicy
from arena.machine.runtime import Runtime
from games import registry
from search.learn.errors import CheckpointError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.host_play import HostPolicy

GAME = registry.make("tic_tac_toe")
CENTRE = "x(1,1)"


def agent(folder, greedy=True):
    return ModelPolicyAgent(folder, places.seats_hash(folder, 2), Runtime(), "pupil", "default", greedy)


def turn(state, seed=0, legal=None, seen=None):
    player = GAME.current_player(state)
    observation = GAME.observations(state)[player] if seen is None else seen
    actions = tuple(GAME.legal_actions(state)) if legal is None else legal
    return Turn(player, ((observation, None),), None, actions, None, seed)


def played(own, seed=0):
    """Returns the moves of an agent that plays both seats of a game."""
    state, moves = GAME.initial_state(), []
    agents = [agent(own, greedy=seed == 0) for _ in range(2)]
    for seat, one in enumerate(agents):
        one.start(GAME.info, seat, 0)
    while GAME.current_player(state) >= 0:
        now = turn(state, seed)
        moves.append(agents[now.player].act(now))
        state = GAME.apply_action(state, moves[-1].action)
    for one in agents:
        one.close()
    return moves


def test_agent_plays_whole_games_legally_without_falling_back(trained):
    folder, _, _ = trained
    moves = played(folder)
    assert 5 <= len(moves) <= 9
    assert all(move.fallback is None for move in moves)


def test_greedy_agent_plays_always_the_same_and_another_by_its_seed(trained):
    folder, _, _ = trained
    assert played(folder) == played(folder)
    first = {seed: played(folder, seed)[0].action for seed in range(1, 12)}
    assert len(set(first.values())) > 1
    assert first == {seed: played(folder, seed)[0].action for seed in range(1, 12)}


def test_agent_plays_as_its_policy_says(trained):
    folder, _, _ = trained
    own = on_model.load(places.seat_folder(folder, 0))
    state = GAME.initial_state()
    with lesson.codec(own.about["vectors"], own.about["info"], None) as codec:
        vector = codec.encode(GAME.observations(state)[0], 0)
    _, outputs = own.policy.network.apply(own.params, (), np.array([[vector]], np.float32), np.ones((1, 1), bool))
    legal = [own.actions.index(action) for action in GAME.legal_actions(state)]
    best = max(legal, key=lambda number: float(outputs.logits[0, 0, number]))
    one = agent(folder)
    one.start(GAME.info, 0, 0)
    assert one.act(turn(state)).action == own.actions[best]


def test_decision_without_a_known_action_is_left_to_chance_and_said(trained):
    folder, _, _ = trained
    one = agent(folder)
    one.start(GAME.info, 0, 0)
    move = one.act(turn(GAME.initial_state(), legal=("resign", "offer")))
    assert move.action in ("resign", "offer")
    assert move.fallback == "no legal action is in the table of actions that it was trained with"


def test_observation_that_is_no_vector_is_left_to_chance_and_said(trained):
    folder, _, _ = trained
    one = agent(folder)
    one.start(GAME.info, 0, 0)
    move = one.act(turn(GAME.initial_state(), seen={"weather": "fine"}))
    assert move.action in GAME.legal_actions(GAME.initial_state())
    assert move.fallback.startswith("the observation is none that it was trained with: ")


def test_memory_is_fed_with_the_own_history():
    network = ActorCritic(NetworkConfig(encoder="mlp", core="rnn", layers=0, hidden=8, head_scale=1.0), 2, rank=1)
    params = jax.jit(network.init)(jax.random.key(0), np.zeros((1, 1, 3), np.float32))
    own = SeatPolicy({}, ("bet", "pass"), HostPolicy(network), params)
    seen = np.random.default_rng(0).normal(size=(30, 1, 3)).astype(np.float32)
    starts = np.arange(30)[:, None] == 0
    _, outputs = jax.jit(network.apply)(params, network.initial_memory(1), seen, starts)
    player = Player(own, greedy=True)
    chosen = [player.choose(vector[0].tolist(), [0, 1], 0) for vector in seen]
    assert chosen == [own.actions[number] for number in np.argmax(outputs.logits[:, 0], axis=-1)]
    assert len(set(chosen)) == 2


def test_agent_needs_a_game_that_was_begun(trained):
    folder, _, _ = trained
    with pytest.raises(InfrastructureError, match="before the game began"):
        agent(folder).act(turn(GAME.initial_state()))


def test_content_hash_is_of_the_policies_of_all_seats(trained, copied):
    folder, _, _ = trained
    assert places.seats_hash(copied, 2) == places.seats_hash(folder, 2)
    path = places.seat_folder(copied, 1) / places.POLICY
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert places.seats_hash(copied, 2) != places.seats_hash(folder, 2)


@pytest.mark.parametrize("width", [-3, 0, "9", 10**12])
def test_policy_of_vectors_that_cannot_be_is_refused(copied, width):
    path = places.seat_folder(copied, 0) / places.ABOUT
    path.write_text(json.dumps(json.loads(path.read_text()) | {"width": width}))
    with pytest.raises(CheckpointError, match=r"width is .*restore it|is of another network"):
        on_model.load(path.parent)


def test_program_whose_width_is_no_number_is_refused(copied):
    path = places.seat_folder(copied, 0) / places.ABOUT
    vectors = {"vectors": {"program": "", "width": "many"}}
    path.write_text(json.dumps(json.loads(path.read_text()) | vectors))
    with pytest.raises(AgentSpecError, match="its vectors have many numbers"):
        resolve(parse(f"learned:{copied}"), GAME.info)


def test_policies_tell_a_search_what_the_network_of_who_moves_says(trained):
    seats = [on_model.load(places.seat_folder(trained[0], seat)) for seat in range(2)]
    game = guided(GAME, seats, "default")
    state = GAME.apply_action(GAME.initial_state(), CENTRE)
    actions = GAME.legal_actions(state)
    shares = game.policy(state, actions, 1)
    own = seats[1]
    vector = lesson.codec(own.about["vectors"], own.about["info"], None).encode(GAME.observations(state)[1], 1)
    memory = own.policy.network.initial_memory(1)
    seen = np.asarray([vector], np.float32)
    logits, value = own.policy.judged(own.params, memory, seen, np.ones(1, bool))
    chosen = np.asarray(logits)[0][[own.actions.index(action) for action in actions]]
    assert shares == pytest.approx((np.exp(chosen) / np.exp(chosen).sum()).tolist(), rel=1e-5)
    assert game.value(state, 1) == pytest.approx(float(value[0]))
    assert game.value(state, 0) == -game.value(state, 1)
    # An action that a policy does not know, and an end.
    assert game.policy(state, ["o(0,0)", "o(9,9)"], 1) == [0.5, 0.5]
    for action in ("o(0,0)", "x(0,1)", "o(2,2)", "x(2,1)"):
        state = GAME.apply_action(state, action)
    assert [game.value(state, seat) for seat in (0, 1)] == [1.0, -1.0]


def test_an_agent_that_searches_finds_the_win_that_its_policy_need_not_know(trained):
    spec = resolve(parse(f"learned:{trained[0]},sims=60"), GAME.info)
    state = GAME.initial_state()
    for action in (CENTRE, "o(0,0)", "x(0,1)", "o(2,2)"):
        state = GAME.apply_action(state, action)
    one = searching(spec, GAME, None)
    assert one.act(Turn(0, (), state, tuple(GAME.legal_actions(state)), None, 0)).action == "x(2,1)"


@pytest.mark.parametrize(("game", "expected"), [("kuhn_poker", "kuhn_poker is none: leave it out"), ("mnk", "pupil")])
def test_a_search_is_refused_where_it_cannot_be_made(trained, game, expected):
    game = registry.make(game)
    with pytest.raises(AgentSpecError, match=expected):
        searching(parse("learned:nowhere,sims=60,name=pupil"), game, None)
