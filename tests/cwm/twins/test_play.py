"""Random play of many games of a twin: nothing but states of its program, and chance as it says."""

import json
from collections import Counter

import pytest

from cwm.observations.vectors import infer

pytestmark = [pytest.mark.extra("batched"), pytest.mark.slow]


@pytest.fixture(scope="module")
def kuhn(hand_written):
    return hand_written("kuhn_poker")


def test_games_side_by_side_visit_decisions_of_the_program_alone_and_every_deal_equally_often(kuhn, in_process):
    jax = pytest.importorskip("jax")
    from cwm.twins.play import TwinGames, uniform_actions
    from cwm.twins.text.build import function_of

    lanes, steps = 300, 40
    with in_process(kuhn.source, kuhn.program, None) as worker:
        traced = worker.traced(infer(kuhn.sample.observations).width)
        functions = {name: function_of(program) for name, program in traced.programs().items()}
        games = TwinGames(traced.form, functions)

        @jax.jit
        def play(key):
            def once(state, key):
                choose, chance = jax.random.split(key)
                action = uniform_actions(games.look(state).legal, choose)
                later, played = games.step(state, action, chance)
                return later, (state, played)

            keys = jax.random.split(key, steps + 1)
            return jax.lax.scan(once, games.begin(lanes, keys[0]), keys[1:])[1]

        states, played = play(jax.random.key(0))
        flat = [array.reshape(lanes * steps, *array.shape[2:]) for array in states]
        texts, problems = worker.decoded(traced.form, traced.form.join(flat))
    assert problems == []
    seen = Counter(texts)
    decisions = [json.loads(text) for text in seen]
    assert all(state["current_player"] in (0, 1) and None not in state["private_cards"] for state in decisions)
    # Six deals; player 0 begins, then player 1 after either action, then player 0 after a pass and a bet.
    assert len(seen) == 6 * 4
    firsts = Counter()
    for text, number in seen.items():
        state = json.loads(text)
        if not state["betting"]:
            firsts[tuple(state["private_cards"])] += number
    assert len(firsts) == 6
    assert max(firsts.values()) < 1.15 * min(firsts.values())
    assert int(played.done.sum()) > 0
    paid = played.rewards[played.done]
    assert set(paid.reshape(-1).tolist()) == {-2.0, -1.0, 1.0, 2.0}
    assert bool((played.rewards[~played.done] == 0).all())
    assert bool((paid.sum(axis=1) == 0).all())
