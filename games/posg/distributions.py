"""What is drawn is compared with what is enumerated: steps, fast steps, starts and steps given an observation."""

import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from games.api import Json, State
from games.posg.api import (
    ConditionsStart,
    FastRollout,
    FastStep,
    Joint,
    PosgError,
    PosgModel,
    StepGiven,
    key_of,
    observation_to_json,
    state_to_json,
)
from games.posg.chance import drawing, enumerating

SAMPLES: Final = 20_000
MOST_WAYS: Final = 20_000
"""A step that chance can take in more ways is not enumerated: fast samples are then compared with drawn ones."""
SIGMAS: Final = 5.0
ROLLOUT: Final = 8
"""Steps of the random games whose returns are compared."""

_CHANCE: Final = "sampled with other probabilities than enumerated"


Fault = tuple[str, str, Json]
"""Rule, message, and the state in question as JSON."""


def faults_of_chance(
    model: PosgModel, met: Sequence[tuple[State, Joint] | None], rng: random.Random, samples: int
) -> Iterator[Fault]:
    """Yields what is wrong with the probabilities of starts and steps.

    Args:
        model: to check.
        met: pairs of state and joint action that occurred; None for the start.
        rng: source of the samples.
        samples: so many of each.
    """
    for one in met:
        where = None if one is None else state_to_json(model, one[0])
        try:
            for rule, message in _of_one(model, one, rng, samples):
                yield rule, message, where
        except Exception as error:
            yield "chance raises", f"{type(error).__name__}: {error}", where


def _of_one(
    model: PosgModel, one: tuple[State, Joint] | None, rng: random.Random, samples: int
) -> Iterator[tuple[str, str]]:
    truth = _enumerated(model, one)
    drawn = _counted(model, (_run(model, one, drawing(rng)) for _ in range(samples)))
    if truth is not None:
        total = math.fsum(truth.values())
        if abs(total - 1.0) > 1e-6:
            yield "enumeration", f"the ways of chance have the probability {total:.9g} together, not 1"
        yield from _differences(_CHANCE, truth, drawn, samples)
    if isinstance(model, FastStep):
        if one is not None:
            fast = _counted(model, (_fast(model, *one, rng) for _ in range(samples)))
            yield from _compared("sample_step is drawn otherwise than move", truth, drawn, fast, samples)
        else:
            yield from _fast_start(model, drawn, rng, samples)
    if one is None:
        if isinstance(model, ConditionsStart):
            yield from _start_given(model, rng, samples)
        return
    if isinstance(model, StepGiven) and truth is not None:
        yield from _step_given(model, *one, rng, samples)
    if isinstance(model, FastRollout):
        yield from _rollouts(model, one[0], rng, max(200, samples // 10))


def _compared(
    rule: str, truth: Mapping[str, float] | None, drawn: Counter[str], fast: Counter[str], samples: int
) -> Iterator[tuple[str, str]]:
    if truth is not None:
        yield from _differences(rule, truth, fast, samples)
        return
    # Too many ways: what two samples share is compared, each outcome with the error of both.
    for outcome in {*drawn, *fast}:
        mean = (drawn[outcome] + fast[outcome]) / 2.0
        if abs(drawn[outcome] - fast[outcome]) > SIGMAS * math.sqrt(2.0 * mean) + SIGMAS:
            yield rule, f"{outcome} came {fast[outcome]} times of {samples}, by `move` {drawn[outcome]} times"
            return


def _differences(rule: str, truth: Mapping[str, float], drawn: Counter[str], samples: int) -> Iterator[tuple[str, str]]:
    for outcome in itertools.chain(truth, (seen for seen in drawn if seen not in truth)):
        probability = truth.get(outcome, 0.0)
        bound = SIGMAS * math.sqrt(samples * probability * (1.0 - probability)) + (SIGMAS if probability else 0.0)
        if abs(drawn[outcome] - samples * probability) > bound:
            told = f"{outcome} came {drawn[outcome]} times of {samples}; its probability is {probability:.6g}"
            yield rule, told
            return


def _enumerated(model: PosgModel, one: tuple[State, Joint] | None) -> dict[str, float] | None:
    """Returns the probability of each outcome by its text, None if there are too many ways."""
    found: dict[str, float] = {}
    try:
        for branch, result in enumerating(lambda choose: _run(model, one, choose), MOST_WAYS):
            text = _text(model, result)
            found[text] = found.get(text, 0.0) + branch.probability
    except PosgError as error:
        if "too many to go through" not in str(error):
            raise
        return None
    return found


def _run(model: PosgModel, one: tuple[State, Joint] | None, choose: Any) -> tuple[Any, ...]:
    if one is None:
        state = model.initial_state(choose)
        return state, (), (), model.observe(state, None, choose)
    after, rewards, over = model.move(*one, choose)
    return after, rewards, over, model.observe(after, one[1], choose)


def _counted(model: PosgModel, results: Iterable[tuple[Any, ...]]) -> Counter[str]:
    """Counts results by their texts, each of which is written once."""
    keys: Counter[Hashable] = Counter()
    texts: dict[Hashable, str] = {}
    for result in results:
        key = key_of(result)
        keys[key] += 1
        if key not in texts:
            texts[key] = _text(model, result)
    counts: Counter[str] = Counter()
    for key, count in keys.items():
        counts[texts[key]] += count
    return counts


def _fast(model: Any, state: State, joint: Joint, rng: random.Random) -> tuple[Any, ...]:
    after, rewards, over = model.sample_step(state, joint, rng)
    return after, rewards, over, model.sample_observations(after, joint, rng)


def _fast_start(model: Any, drawn: Counter[str], rng: random.Random, samples: int) -> Iterator[tuple[str, str]]:
    states = (model.initial_state(drawing(rng)) for _ in range(samples))
    found = _counted(model, ((state, (), (), model.sample_observations(state, None, rng)) for state in states))
    yield from _compared("sample_observations are drawn otherwise than observe", None, drawn, found, samples)


def _start_given(model: Any, rng: random.Random, samples: int) -> Iterator[tuple[str, str]]:
    """Compares starts given what an agent is told with all starts in which it is told that."""
    told = _run(model, None, drawing(rng))[3]
    for agent, seen in enumerate(told):
        truth: dict[str, float] = {}
        try:
            for branch, result in enumerating(lambda choose: _run(model, None, choose), MOST_WAYS):
                if key_of(result[3][agent]) == key_of(seen):
                    text = _text_of_state(model, result[0])
                    truth[text] = truth.get(text, 0.0) + branch.probability
        except PosgError:
            return
        total = math.fsum(truth.values())
        truth = {text: probability / total for text, probability in truth.items()}
        few = max(500, samples // 4)
        found = Counter(_text_of_state(model, model.initial_state_given(agent, seen, drawing(rng))) for _ in range(few))
        yield from _differences("initial_state_given is drawn otherwise than starts are", truth, found, few)


def _step_given(model: Any, state: State, joint: Joint, rng: random.Random, samples: int) -> Iterator[tuple[str, str]]:
    """Compares likelihood-weighted steps given an observation with the enumerated probability of both together."""
    told = _run(model, (state, joint), drawing(rng))[3]
    for agent, seen in enumerate(told):
        if seen is None:
            continue
        truth: dict[str, float] = {}
        for branch, result in enumerating(lambda choose: _run(model, (state, joint), choose), MOST_WAYS):
            if key_of(result[3][agent]) == key_of(seen):
                text = _text_of_state(model, result[0])
                truth[text] = truth.get(text, 0.0) + branch.probability
        sums: dict[str, list[float]] = {}
        for _ in range(samples):
            found = model.sample_step_given(state, joint, agent, seen, rng)
            if found is not None:
                sums.setdefault(_text_of_state(model, found[0][0]), []).append(found[1])
        for text in {*truth, *sums}:
            weights = sums.get(text, [])
            mean = math.fsum(weights) / samples
            spread = math.sqrt(max(0.0, math.fsum(w * w for w in weights) / samples - mean * mean) / samples)
            if abs(mean - truth.get(text, 0.0)) > SIGMAS * spread + SIGMAS / samples:
                told_of = (
                    f"{text}: likelihood {mean:.6g} together with {seen!r}, by enumeration {truth.get(text, 0.0):.6g}"
                )
                yield "sample_step_given is drawn otherwise than move", told_of
                return


def _rollouts(model: Any, state: State, rng: random.Random, games: int) -> Iterator[tuple[str, str]]:
    for agent in range(model.info.num_agents):
        fast = [model.rollout(state, agent, rng, ROLLOUT, 0.9) for _ in range(games)]
        slow = [_random_return(model, state, agent, rng) for _ in range(games)]
        means = [math.fsum(values) / games for values in (fast, slow)]
        spread = (
            math.sqrt(
                sum(math.fsum((v - m) ** 2 for v in values) for values, m in zip((fast, slow), means, strict=True))
            )
            / games
        )
        if abs(means[0] - means[1]) > SIGMAS * spread + 1e-9:
            told = f"agent {agent}: mean return {means[0]:.6g}, step by step {means[1]:.6g}"
            yield "rollout pays otherwise than steps", told


def _random_return(model: PosgModel, state: State, agent: int, rng: random.Random) -> float:
    total, worth = 0.0, 1.0
    for _ in range(ROLLOUT):
        active = model.active(state)
        if not active:
            break
        joint = tuple(
            rng.choice(model.legal_actions(state, number)) if number in active else actions[0]
            for number, actions in enumerate(model.info.actions)
        )
        state, rewards, _ = model.move(state, joint, drawing(rng))
        total, worth = total + worth * rewards[agent], worth * 0.9
    return total


def _text_of_state(model: PosgModel, state: State) -> str:
    return json.dumps(state_to_json(model, state), sort_keys=True)


def _text(model: PosgModel, result: tuple[Any, ...]) -> str:
    state, rewards, over, told = result
    shown = [observation_to_json(model, agent, seen) for agent, seen in enumerate(told)]
    told_of = {
        "state": state_to_json(model, state),
        "rewards": list(map(float, rewards)),
        "over": list(map(bool, over)),
        "told": shown,
    }
    return json.dumps(told_of, sort_keys=True)
