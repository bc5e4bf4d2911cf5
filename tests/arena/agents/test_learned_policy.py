import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from arena.agents import learned_policy
from arena.agents.specs import AgentSpecError, parse
from arena.checkpoints import on_game
from arena.machine.runtime import Runtime
from arena.matches import seating, tournament
from arena.matches.match import play
from arena.matches.plan import TournamentConfig
from arena.matches.store import MemoryStore
from arena.matches.tournament import plan, prepare
from games import registry
from games.batched import registry as batched
from games.batched.yokai.json import from_json
from search.learn import checkpoint, masked_categorical
from search.learn.networks.config import NetworkConfig


def agent(folder, game_id, options=""):
    game = registry.make(game_id)
    return seating.build(seating.resolve(parse(f"ippo:{folder}{options}"), game), game, Runtime())


def batched_greedy(folder, game, records):
    """Returns what batched play prefers at every step of recorded games, a list a game.

    The network reads all games at once, every player at every step, as it does when it is trained.
    """
    policy = on_game.load(folder)
    env, network = policy.env(), policy.network
    paths = [states_of(game, record) for record in records]
    steps, players = max(map(len, paths)), env.num_players
    padded = [state for path in paths for state in [*path, *[path[-1]] * (steps - len(path))]]
    batch = from_json(env, padded)

    def by_step(array):
        return array.reshape(len(records), steps, players, *array.shape[2:]).swapaxes(0, 1)

    lanes = len(records) * players
    seen = jax.tree.map(lambda leaf: by_step(leaf).reshape(steps, lanes, *leaf.shape[2:]), jax.jit(env.observe)(batch))
    starts = jnp.zeros((steps, lanes), bool)
    _, outputs = jax.jit(network.apply)(policy.params, network.initial_memory(lanes), seen, starts)
    logits = outputs.logits.reshape(steps, len(records), players, -1)
    chosen = np.asarray(masked_categorical.greedy(logits, by_step(jax.jit(env.legal_mask)(batch))))
    names = game.all_actions()
    return [
        [(state["player"], names[chosen[step, number, state["player"]]]) for step, state in enumerate(path)]
        for number, path in enumerate(paths)
    ]


def states_of(game, record):
    """Returns the states before every player's action of a recorded game."""
    state, found = game.initial_state(), []
    for player, action in record.actions:
        if player != -1:
            found.append(state)
        state = game.apply_action(state, action)
    return found


TINY = NetworkConfig(hidden=16, filters=4, layers=2)
GRAPH = NetworkConfig(encoder="gcn", core="none", hidden=16, filters=8, layers=1)
TWO_PARTS = NetworkConfig(hidden=16, filters=4, layers=1, public_private=True, private_channels=2)


@pytest.mark.parametrize(
    ("game_id", "view", "network"),
    [
        ("yokai-9c-3p", "memory", TINY),
        ("yokai-8c-2p", "default", TINY),
        ("yokai-8c-2p", "memory", GRAPH),
        ("yokai-8c-2p", "memory", TWO_PARTS),
    ],
)
def test_greedy_agents_play_the_games_that_batched_play_plays(save_policy, game_id, view, network):
    folder = save_policy(game=game_id, view=view, config=network)
    game = registry.make(game_id)
    seats = [agent(folder, game_id, ",greedy=true") for _ in range(game.info.num_players)]
    records = [play(game, seats, deal, [0] * len(seats)) for deal in range(6)]
    own = [[entry for entry in map(tuple, record.actions) if entry[0] != -1] for record in records]
    assert own == batched_greedy(folder, game, records)
    assert max(record.length for record in records) > 8


def test_a_policy_has_the_view_that_it_was_trained_on_and_the_hash_of_its_content(save_policy):
    game = registry.make("yokai-9c-2p")
    one, other = save_policy("one", seed=1), save_policy("other", view="default", seed=2)
    found = seating.resolve(parse(f"ippo:{one}"), game)
    assert (found.view, found.model_hash) == ("memory", on_game.content_hash(one))
    assert seating.resolve(parse(f"ippo:{other}"), game).view == "default"
    assert on_game.content_hash(one) != on_game.content_hash(other)
    assert seating.resolve(found, game) == found


def test_same_policy_in_another_folder_is_the_same_agent_and_a_greedy_one_another(save_policy, tmp_path):
    first = save_policy("first")
    (tmp_path / "moved").mkdir()
    for file in first.iterdir():
        (tmp_path / "moved" / file.name).write_bytes(file.read_bytes())

    def key(text):
        return plan(prepare(TournamentConfig("yokai-9c-2p", (parse(text),), 1)))[0].key

    assert key(f"ippo:{first},name=p") == key(f"ippo:{tmp_path / 'moved'},name=p")
    assert key(f"ippo:{first},name=p") != key(f"ippo:{first},name=p,greedy=true")


def test_a_policy_meets_a_partner_and_a_planner_in_a_tournament_that_can_be_repeated(save_policy):
    agents = tuple(map(parse, (f"ippo:{save_policy()},name=p", "partner:heuristic", "random")))
    asked = prepare(TournamentConfig("yokai-9c-2p", agents, 1, seed=3))
    once, again = (tournament.run(asked, MemoryStore()).records for _ in range(2))
    assert len(once) == 9
    assert all(record.forfeit is None for record in once)
    assert [record.actions for record in once] == [record.actions for record in again]


def test_sampled_play_draws_with_the_policy_s_own_probabilities():
    logits = np.array([5.0, 0.0, np.log(3.0), 9.0], np.float32)
    drawn = [learned_policy.drawn(logits, [1, 2], seed) for seed in range(4000)]
    assert sum(drawn) / len(drawn) == pytest.approx(0.75, abs=0.03)
    assert learned_policy.greedy(logits, [1, 2]) == 1
    assert learned_policy.greedy(np.zeros(4, np.float32), [3, 1, 2]) == 1


def test_an_agent_that_plays_a_second_game_remembers_nothing_of_the_first(save_policy):
    folder = save_policy()
    game = registry.make("yokai-9c-2p")
    used = [agent(folder, "yokai-9c-2p") for _ in range(2)]
    play(game, used, 1, [1, 2])
    fresh = [agent(folder, "yokai-9c-2p") for _ in range(2)]
    assert play(game, used, 2, [3, 4]).actions == play(game, fresh, 2, [3, 4]).actions


def test_a_checkpoint_that_changes_while_games_run_is_noticed(save_policy):
    game = registry.make("yokai-9c-2p")
    spec = seating.resolve(parse(f"ippo:{save_policy(seed=1)}"), game)
    save_policy(seed=2)
    with pytest.raises(AgentSpecError, match="changed while the games ran"):
        seating.build(spec, game, Runtime())


def test_a_policy_that_does_not_fit_is_refused(save_policy, tmp_path):
    folder = save_policy()
    with pytest.raises(AgentSpecError, match="was trained on yokai-9c-2p, the game is yokai-8c-2p"):
        seating.resolve(parse(f"ippo:{folder}"), registry.make("yokai-8c-2p"))
    with pytest.raises(AgentSpecError, match="No checkpoint 'nobody'"):
        seating.resolve(parse("ippo:nobody"), registry.make("yokai-9c-2p"))
    (folder / "policy.safetensors").write_bytes(b"damaged")
    with pytest.raises(AgentSpecError, match="cannot be read as a checkpoint"):
        seating.resolve(parse(f"ippo:{folder}"), registry.make("yokai-9c-2p"))


def test_what_a_policy_thinks_of_the_legal_actions_sums_to_one() -> None:
    logits = np.array([0.0, 9.0, np.log(3.0)], np.float32)
    assert learned_policy.weights(logits, [0, 2]) == pytest.approx([0.25, 0.75])


def test_a_policy_of_a_game_of_jaxmarl_sits_down_with_a_chef_and_a_planner_without_jaxmarl(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxmarl", None)
    game = "overcooked-v2-grounded-coord-simple,steps=4"
    config = NetworkConfig(hidden=16, convolutions=((3, 4),))
    network, shapes = on_game._network(game, "default", config)
    rng = np.random.default_rng(0)
    params = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape), shapes)
    about = {"name": "tiny", "game": game, "view": "default", "method": "sp", "seed": 0, "steps": 0, "ppo": {}}
    checkpoint.save_policy(tmp_path / "tiny", params, {**about, "network": config.to_json()})
    learner = agent(tmp_path / "tiny", game, ",greedy=true")
    made = registry.make(game)
    chef, planner = (
        seating.build(seating.resolve(parse(text), made), made, Runtime())
        for text in ("partner:chef", "posg:ipomcp,types=chef,sims=2")
    )
    record = play(made, [learner, chef], 3, [1, 2])
    assert len(play(made, [planner, learner], 3, [1, 2]).returns) == 2
    state = made.initial_state()
    for player, action in record.actions:
        if player == 0:
            break
        state = made.apply_action(state, action)
    image = jnp.asarray(batched.table_alone(game).image(made.observations(state)[0]))
    _, outputs = network.apply(params, network.initial_memory(1), image[None, None], jnp.zeros((1, 1), bool))
    assert action == made.legal_actions(state)[int(jnp.argmax(outputs.logits[0, 0]))]
