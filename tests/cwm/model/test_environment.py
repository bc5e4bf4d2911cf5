"""Vectorised games of a model: stepped in the worker as they would be here, whatever the program does."""

import random
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from cwm.model import many_games
from cwm.model import walk as learner_walk
from cwm.model.arrivals import ModelPlayError, WorkerBrokenError
from cwm.model.bundle import ModelBundle
from cwm.model.environment import EnvironmentConfig, ModelEnvironment, explore, inferred
from cwm.sandbox.inside.program import LoadedCode
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Limits, Outcome
from games.api import GameInfo

PROGRAMS = Path(__file__).resolve().parents[2] / "data" / "programs"
INFOS = {
    "tic_tac_toe": GameInfo("tic_tac_toe", 2, "win_loss_draw", -1.0, 1.0, True, False, ("x", "o"), 9),
    "high_card": GameInfo("high_card", 2, "zero_sum", -2.0, 2.0, False, True, ("first", "second"), 2),
}
INITIAL = {"tic_tac_toe": {"board": [None] * 9, "mark": "x"}, "high_card": {"cards": [], "moves": []}}
SANDBOX = Sandbox(Limits(memory_mb=256, wall_s=20.0, reply_bytes=1_000_000))
LANES = 4
BEFORE_ACTING = "def apply_action(state, action):\n"


def bundle_of(name, *replacements, extra=""):
    source = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
    for old, new in replacements:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return ModelBundle(source + extra, None, INITIAL[name], asdict(INFOS[name]), "")


def met(bundle, seat=0):
    return explore(bundle, seat, SANDBOX, games=60, observations=2000, max_actions=50, seed=0)


def environment(bundle, seat=0, like=None, **changes):
    """Returns games of a program whose actions and vectors were found on `like`, by default on itself."""
    found = met(like or bundle, seat)
    in_worker = changes.pop("in_worker", True)
    settings = {"seat": seat, "actions": found.actions, "games": LANES, "seed": 3, "max_actions": 50} | changes
    return ModelEnvironment(bundle, EnvironmentConfig(**settings), inferred(found.observations), SANDBOX, in_worker)


def first_legal(arrival):
    return arrival.legal.argmax(axis=1).astype(np.int32)


def drawn(arrival, rng):
    return np.array([rng.choice(np.flatnonzero(row)) for row in arrival.legal], np.int32)


def same(left, right):
    for name in ("observations", "legal", "rewards", "ended", "cut"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    assert left.finished == right.finished


def test_games_by_chance_meet_every_action_of_the_seat():
    found = met(bundle_of("tic_tac_toe"))
    assert found.actions == tuple(f"x{cell}" for cell in range(9))
    assert found.games == 60
    assert found.failures == {}
    assert met(bundle_of("high_card"), 1).actions == ("call", "fold")


@pytest.mark.parametrize(("name", "seat"), [("tic_tac_toe", 0), ("tic_tac_toe", 1), ("high_card", 0), ("high_card", 1)])
def test_worker_steps_games_as_this_process_would(name, seat):
    bundle = bundle_of(name)
    game = LoadedCode(asdict(bundle.program())).instantiate()
    rng = np.random.default_rng(5)
    with environment(bundle, seat) as env:
        vectors = inferred(met(bundle, seat).observations)
        names = env.config.actions
        episodes = [0] * LANES
        walks = [None] * LANES

        def fresh(lane):
            while True:
                seeded = random.Random(f"vector games/3/{lane}/{episodes[lane]}")
                walk = learner_walk.Walk(game, seat, seeded, 50)
                if walk.advance():
                    walks[lane] = walk
                    return
                episodes[lane] += 1

        for lane in range(LANES):
            fresh(lane)
        now = env.begin()
        for _ in range(25):
            for lane, walk in enumerate(walks):
                assert {names[number] for number in np.flatnonzero(now.legal[lane])} == set(walk.legal)
                assert now.observations[lane].tolist() == np.float32(vectors.encode(walk.observation())).tolist()
            choices = drawn(now, rng)
            now = env.step(choices)
            for lane, choice in enumerate(choices):
                walks[lane].act(names[choice])
                goes_on = walks[lane].advance()
                assert now.ended[lane] == (not goes_on)
                assert now.rewards[lane] == walks[lane].paid
                if not goes_on:
                    assert (lane, walks[lane].returns) in now.finished
                    episodes[lane] += 1
                    fresh(lane)


def test_rewards_of_a_lane_add_up_to_the_return_of_its_game():
    rng = np.random.default_rng(0)
    with environment(bundle_of("tic_tac_toe"), games=1) as env:
        now, paid, returns, told = env.begin(), 0.0, [], []
        for _ in range(120):
            now = env.step(drawn(now, rng))
            paid += float(now.rewards[0])
            told += now.finished
            if now.ended[0]:
                returns.append(paid)
                paid = 0.0
    assert len(returns) > 20
    assert {-1.0, 1.0} <= set(returns)
    assert [row[0] for _, row in told] == returns


def test_game_that_ends_before_the_learner_is_asked_counts_as_finished_and_gives_no_step():
    # After a pass the second player has nothing to do: its games end by themselves half of the time.
    with environment(bundle_of("high_card"), 1) as env:
        now = env.begin()
        passed = len(now.finished)
        ended = 0
        for _ in range(30):
            now = env.step(first_legal(now))
            assert now.ended.all()
            ended += LANES
            passed += len(now.finished)
    assert ended < passed < 4 * ended


def test_games_go_on_in_another_worker_as_if_nothing_had_been():
    with environment(bundle_of("high_card")) as through, environment(bundle_of("high_card")) as renewed:
        same(through.begin(), renewed.begin())
        for _ in range(3):
            now = through.step(np.zeros(LANES, np.int32))
            same(now, renewed.step(np.zeros(LANES, np.int32)))
        taken, again = renewed.renew()
        np.testing.assert_array_equal(again.observations, now.observations)
        np.testing.assert_array_equal(again.legal, now.legal)
        assert taken == through.snapshot()
        same(through.step(np.ones(LANES, np.int32)), renewed.step(np.ones(LANES, np.int32)))


def test_snapshot_in_the_middle_of_games_brings_them_back():
    rng = np.random.default_rng(1)
    with environment(bundle_of("tic_tac_toe")) as env:
        now = env.begin()
        for _ in range(5):
            now = env.step(drawn(now, rng))
        taken, choices = env.snapshot(), drawn(now, rng)
        after = env.step(choices)
        assert any(len(place[1]) for place in taken)
        back = env.begin(taken)
        np.testing.assert_array_equal(back.observations, now.observations)
        same(env.step(choices), after)


def test_encoding_here_and_in_the_worker_are_the_same():
    bundle = bundle_of("tic_tac_toe")
    with environment(bundle) as inside, environment(bundle, in_worker=False) as outside:
        left, right = inside.begin(), outside.begin()
        same(left, right)
        for _ in range(6):
            left, right = inside.step(first_legal(left)), outside.step(first_legal(right))
            same(left, right)


def test_action_outside_the_table_is_masked_and_counted():
    bundle = bundle_of("tic_tac_toe")
    with environment(bundle, actions=("x0", "x1")) as env:
        now = env.begin()
        assert now.legal.shape == (LANES, 2)
        assert now.legal.any(axis=1).all()
        assert now.counts["masked"] > 0
        now = env.step(first_legal(now))
        for _ in range(10):
            now = env.step(first_legal(now))
        assert now.counts["unlisted"] > 0


def test_observation_that_does_not_fit_is_left_to_chance_and_counted():
    bundle = bundle_of("tic_tac_toe")
    found = met(bundle)
    config = EnvironmentConfig(0, found.actions, LANES, 0, 50)
    early = [seen for seen in found.observations if "o" not in seen["board"]]
    with ModelEnvironment(bundle, config, inferred(early), SANDBOX) as env:
        now, unfit = env.begin(), 0
        for _ in range(20):
            now = env.step(first_legal(now))
            unfit += now.counts["unfit"]
    assert unfit > 0


FAILING = (BEFORE_ACTING, BEFORE_ACTING + "    if action == 'x4': raise ValueError('no centre')\n")


def test_failure_of_the_model_is_counted_and_the_game_begins_anew():
    with environment(bundle_of("tic_tac_toe", FAILING), like=bundle_of("tic_tac_toe")) as env:
        begun = env.begin()
        number = env.config.actions.index("x4")
        choosable = begun.legal[:, number]
        now = env.step(np.where(choosable, number, first_legal(begun)).astype(np.int32))
        np.testing.assert_array_equal(now.cut, choosable)
        np.testing.assert_array_equal(now.ended, choosable)
        assert choosable.any()
        assert sum(now.failures.values()) == choosable.sum()
        assert next(iter(now.failures)) == "ValueError: no centre"
        assert now.finished == []
        assert env.step(first_legal(now)).failures == {}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    raise SystemExit(3)\n", "SystemExit"),
        ("    return 7\n", "TypeError"),
        ("    return {'board': 3, 'mark': None}\n", "TypeError"),
        ("    return [apply_action]\n", "TypeError"),
        ("    class Odd(Exception):\n        def __str__(self): raise SystemExit\n    raise Odd\n", "Odd"),
    ],
)
def test_model_that_never_comes_to_a_decision_again_cannot_be_learned_on(body, message):
    right = bundle_of("tic_tac_toe")
    broken = bundle_of("tic_tac_toe", extra="\n\n" + BEFORE_ACTING + body)
    with (
        environment(broken, seat=1, like=right) as env,
        pytest.raises(ModelPlayError, match="cannot be learned on") as caught,
    ):
        env.begin()
    assert "200 games in a row seat 1 had nothing to decide" in str(caught.value)
    assert message in str(caught.value)


NUMBERS = ["float('nan')", "float('inf')", "'1'", "None", "10 ** 400", "1e300"]


@pytest.mark.parametrize("number", NUMBERS)
def test_rewards_that_are_no_numbers_never_reach_the_learner(number):
    extra = f"\n\ndef get_rewards(state):\n    return [{number}] * 2 if _over(state) else [0.0, 0.0]\n"
    rng = np.random.default_rng(0)
    with environment(bundle_of("tic_tac_toe", extra=extra), like=bundle_of("tic_tac_toe")) as env:
        now, failures = env.begin(), 0
        for _ in range(12):
            now = env.step(drawn(now, rng))
            assert np.isfinite(now.rewards).all()
            failures += sum(now.failures.values())
    assert failures > 0


def test_endless_game_is_cut_and_counted():
    extra = "\n\ndef get_current_player(state):\n    return 0\n\n\ndef get_legal_actions(state):\n    return ['x0']\n"
    with environment(bundle_of("tic_tac_toe", extra=extra), max_actions=5) as env:
        now = env.begin()
        cuts = [bool((now := env.step(first_legal(now))).cut.all()) for _ in range(10)]
        assert cuts == [False, False, False, False, True] * 2
        assert now.counts["endless"] == LANES


def test_endless_loop_is_a_limit_that_is_reported():
    slow = (BEFORE_ACTING, BEFORE_ACTING + "    while action == 'x4': pass\n")
    bundle, right = bundle_of("tic_tac_toe", slow), bundle_of("tic_tac_toe")
    config = EnvironmentConfig(0, met(right).actions, LANES, 0, 50)
    limited = Sandbox(Limits(memory_mb=256, wall_s=0.5))
    with ModelEnvironment(bundle, config, inferred(met(right).observations), limited) as env:
        env.begin()
        with pytest.raises(ModelPlayError, match="wall_timeout") as caught:
            env.step(np.full(LANES, config.actions.index("x4"), np.int32))
    assert caught.value.reply.outcome is Outcome.WALL_TIMEOUT


def test_memory_limit_is_reported():
    hungry = (BEFORE_ACTING, BEFORE_ACTING + "    if action == 'x4': return [0] * (1 << 30)\n")
    with environment(bundle_of("tic_tac_toe", hungry), like=bundle_of("tic_tac_toe")) as env:
        now = env.begin()
        number = env.config.actions.index("x4")
        with pytest.raises(ModelPlayError, match="memory_exceeded"):
            env.step(np.where(now.legal[:, number], number, first_legal(now)).astype(np.int32))


def test_model_that_plays_a_game_again_otherwise_cannot_be_learned_on():
    # Each process plays otherwise: what a program keeps for itself does not outlive its worker.
    counting = (BEFORE_ACTING, "CALLS = []\n\n\n" + BEFORE_ACTING + "    CALLS.append(1)\n")
    forgetful = (
        "    board[int(action[1:])] = mark\n",
        "    board[int(action[1:])] = mark\n    if len(CALLS) % 7 == 0: board = [mark] * 9\n",
    )
    bundle = bundle_of("tic_tac_toe", counting, forgetful)
    with environment(bundle, like=bundle_of("tic_tac_toe")) as env:
        now = env.begin()
        with pytest.raises(ModelPlayError, match="does not play a game again"):
            step_and_renew(env, now)


def step_and_renew(env, now):
    for _ in range(40):
        now = env.step(first_legal(now))
        _, now = env.renew()


def forging(body):
    """Returns games of a program that puts its own in the place of the worker's function for steps."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    patch = (
        "\n\nimport sys\n_games = sys.modules['cwm.model.many_games']\n_step = _games.step\n\n\n"
        f"def forged(game, argument, rng):\n    told, arrays = _step(game, argument, rng)\n{lines}\n"
        "    return told, arrays\n\n\n_games.step = forged\n"
    )
    array = "\n\ndef array(dtype, shape, data):\n    return _games.BinaryArray(dtype, shape, data)\n"
    return environment(bundle_of("tic_tac_toe", extra=patch + array), like=bundle_of("tic_tac_toe"))


@pytest.mark.parametrize(
    "body",
    [
        "told = 'all is well'",
        "told = None",
        "arrays = {}",
        "arrays.pop('legal')",
        "arrays['legal'] = array('uint8', (4, 9), bytes(36))",
        "arrays['legal'] = array('uint8', (4, 9), bytes([2] * 36))",
        "arrays['legal'] = array('uint8', (9, 4), bytes([1] * 36))",
        "arrays['legal'] = array('float32', (4,), bytes(16))",
        "arrays['rewards'] = array('float32', (4,), b'\\x00\\x00\\xc0\\x7f' * 4)",
        "arrays['rewards'] = array('float32', (4,), b'\\x00\\x00\\x80\\x7f' * 4)",
        "arrays['rewards'] = array('float32', (5,), bytes(20))",
        "arrays['rewards'] = array('int32', (4,), bytes(16))",
        "arrays['observations'] = array('float32', (4, 1), bytes(16))",
        "arrays['ended'] = array('uint8', (4,), bytes([255] * 4))",
        "arrays['cut'] = array('uint8', (4,), bytes([1] * 4)); arrays['ended'] = array('uint8', (4,), bytes(4))",
        "told['finished'] = 'all'",
        "told['finished'] = [[0, [1.0]]]",
        "told['finished'] = [[4, [1.0, 1.0]]]",
        "told['finished'] = [[True, [1.0, 1.0]]]",
        "told['finished'] = [[0, [1.0, True]]]",
        "told['finished'] = [[0, [10 ** 400, 0.0]]]",
        "told['finished'] = [[0, [0.0, 0.0]]] * 200000",
        "told['failures'] = ['none']",
        "told['failures'] = {'x': -1}",
        "told['failures'] = {str(i): 1 for i in range(1000)}",
        "told['masked'] = 1.5",
        "told['model_s'] = 'long'",
        "told.pop('encode_s')",
        "told['broken'] = {'deeply': ['x' * 100000]}",
    ],
)
def test_forged_answer_is_refused(body):
    with forging(body) as env:
        now = env.begin()
        with pytest.raises(ModelPlayError):
            env.step(first_legal(now))


def test_forged_loss_of_the_games_is_no_result_of_the_model():
    with forging("told = {'lost': True}; arrays = {}") as env:
        now = env.begin()
        with pytest.raises(WorkerBrokenError, match="begin again"):
            env.step(first_legal(now))


@pytest.mark.parametrize(
    "body",
    [
        "sys.modules['cwm.sandbox.wire.arrays'].described = lambda arrays: [['legal', 'uint8', [1 << 30] * 4]]",
        "sys.modules['cwm.sandbox.wire.arrays'].described = lambda arrays: None",
        "sys.modules['cwm.sandbox.wire.arrays'].joined = lambda arrays: bytes(100)",
        "sys.modules['cwm.sandbox.wire.arrays'].joined = lambda arrays: b''",
    ],
)
def test_frame_whose_bytes_are_not_what_it_says_breaks_the_protocol(body):
    with forging(body) as env:
        now = env.begin()
        with pytest.raises(ModelPlayError, match="protocol_error"):
            env.step(first_legal(now))


@pytest.mark.parametrize(
    "forged", ["None", "[]", "[[0, []]]", "[[0, [99]]] * 4", "[[-1, []]] * 4", "[[0, 'x']] * 4", "{'a': 1}"]
)
def test_forged_snapshot_is_refused(forged):
    extra = (
        "\n\nimport sys\nsys.modules['cwm.model.many_games'].snapshot = "
        f"lambda game, argument, rng: {{'snapshot': {forged}}}\n"
    )
    with environment(bundle_of("tic_tac_toe", extra=extra), like=bundle_of("tic_tac_toe")) as env:
        env.begin()
        with pytest.raises(ModelPlayError, match="a snapshot as no honest worker"):
            env.snapshot()


@pytest.mark.parametrize(
    "told", ["None", "[]", "{'observations': 3, 'actions': ['a']}", "{'observations': [], 'actions': [1]}"]
)
def test_forged_games_by_chance_are_refused(told):
    extra = f"\n\nimport sys\nsys.modules['cwm.model.walk'].explore = lambda game, argument, rng: {told}\n"
    with pytest.raises(ModelPlayError, match="games by chance as no honest worker"):
        met(bundle_of("tic_tac_toe", extra=extra))


def test_seat_that_is_never_asked_is_named():
    extra = "\n\ndef get_current_player(state):\n    return -4\n"
    with pytest.raises(ModelPlayError, match="seat 0 was asked for nothing in 60 games"):
        met(bundle_of("tic_tac_toe", extra=extra))


def test_program_that_does_not_load_is_named():
    broken = ModelBundle("def f(:\n", None, {}, asdict(INFOS["tic_tac_toe"]), "")
    with pytest.raises(ModelPlayError, match="SyntaxError"):
        met(broken)


@pytest.mark.parametrize(("point", "expected"), [(0.0, "a"), (0.249, "a"), (0.251, "b"), (0.999, "b")])
def test_chance_is_drawn_by_its_probabilities(point, expected):
    assert learner_walk.chosen([("a", 0.25), ("b", 0.75)], point) == expected


def test_messages_that_differ_every_time_are_counted_together():
    counts = {}
    for number in range(100):
        learner_walk.count(counts, f"error {number}")
    assert len(counts) == 21
    assert counts["others"] == 80


def test_payload_names_every_module_before_those_that_import_it():
    assert many_games.PAYLOAD[-1] == "cwm.model.many_games"
