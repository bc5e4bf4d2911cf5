"""The contract that every `PosgModel` must pass, as code: reference games, adapters and models that programs make.

Standard library alone. `check` plays seeded random games and asks every question at every state; what is drawn is
compared with what is enumerated in `games.posg.distributions`.
"""

import json
import math
import random
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from games.api import Action, Json, State
from games.contract.report import ContractError, Findings, Stop, Violation, list_violations
from games.posg.api import (
    Choose,
    DescribesPosg,
    Joint,
    Observation,
    PosgModel,
    key_of,
    observation_to_json,
    state_to_json,
)
from games.posg.chance import drawing, recording, replaying
from games.posg.distributions import SAMPLES, faults_of_chance
from games.posg.offers import Hidden, Moment, faults_of_offers

MAX_STEPS: Final = 200
"""Of a random game without a limit of its own, or with a higher one."""
EPSILON: Final = 1e-6
SHORT_GAMES: Final = 20
"""So many games are played besides for a few steps: they meet again what an agent saw, and other states behind it."""
SHORT: Final = 3
_UTILITIES: Final = ("win_loss_draw", "zero_sum", "general_sum", "identical")


def check(
    model: PosgModel,
    *,
    games: int = 10,
    seed: int = 0,
    samples: int = SAMPLES,
    hidden: Hidden | None = None,
    pairs: int = 3,
) -> list[Violation]:
    """Plays random games and returns the rules that the model breaks, [] if none.

    Args:
        model: what to check.
        games: so many random games, each to its end or `MAX_STEPS`.
        seed: of all random choices.
        samples: of each start and step whose probabilities are compared.
        hidden: what an agent cannot see; without it, leaks are looked for only by the model's own `resample`.
        pairs: so many states and joint actions are compared.
    """
    report = _Report(model)
    if _is_described(report):
        player = _RandomGames(report, random.Random(f"contract {seed}"), hidden)
        for number in range(games + SHORT_GAMES):
            player.play(SHORT if number >= games else MAX_STEPS)
        if not report.violations:
            rng = random.Random(f"chance {seed}")
            met = [None, *rng.sample(player.met, min(pairs, len(player.met)))]
            for rule, message, where in faults_of_chance(model, met, rng, samples):
                report.state = where
                report.bad(rule, message)
    return report.violations


def assert_posg(
    model: PosgModel, *, games: int = 10, seed: int = 0, samples: int = SAMPLES, hidden: Hidden | None = None
) -> None:
    """Checks a model as `check` does.

    Raises:
        ContractError: it breaks a rule.
    """
    violations = check(model, games=games, seed=seed, samples=samples, hidden=hidden)
    if violations:
        raise ContractError(list_violations(model.info.id, violations))


class _Report(Findings):
    """What is found in one model; texts have their keys in order, since equal states must have one text."""

    def __init__(self, model: PosgModel) -> None:
        super().__init__()
        self.model = model

    def text(self, what: str, described: Json) -> str:
        """Returns JSON as text; something that JSON would change is a violation."""
        return self.to_text(what, described, sort_keys=True)

    def state_text(self, state: State) -> str:
        return self.text("state", self.ask("state_to_json", state_to_json, self.model, state))


def _is_described(report: _Report) -> bool:
    """Checks what is fixed before a game starts, and returns whether one can be played."""
    info = report.model.info
    agents = info.num_agents
    if agents < 1 or len(info.actions) != agents:
        report.bad("info", f"{agents} agents have {len(info.actions)} lists of actions; give each agent one")
    for actions in info.actions:
        if not actions or len(set(actions)) != len(actions) or any(type(action) is not str for action in actions):
            report.bad("info", f"actions are {actions}; give each agent distinct strings, at least one")
    if info.utility not in _UTILITIES:
        report.bad("info", f"utility is {info.utility!r}; choose one of {_UTILITIES}")
    bounds = (info.min_step, info.max_step), (info.min_utility, info.max_utility)
    if any(not -math.inf < low <= high < math.inf for low, high in bounds):
        report.bad("info", f"bounds of rewards and returns are {bounds}; give finite, ordered ones")
    if info.step_limit is not None and info.step_limit < 1:
        report.bad("info", f"step_limit is {info.step_limit}; give a positive number, or None")
    if not 0.0 < info.discount <= 1.0:
        report.bad("info", f"discount is {info.discount}; give a number above 0 and at most 1")
    return not report.violations


class _RandomGames:
    """Plays random games, and remembers what all of them have to agree on."""

    def __init__(self, report: _Report, rng: random.Random, hidden: Hidden | None) -> None:
        self.report, self.model, self.info = report, report.model, report.model.info
        self.rng, self.hidden = rng, hidden
        self.met: list[tuple[State, Joint]] = []
        self._legal: dict[tuple[int, int, Hashable], tuple[Action, ...]] = {}
        self._pasts: dict[tuple[int, Hashable], int] = {}
        self._texts: dict[str, Hashable] = {}
        self._arrival: tuple[Joint | None, dict[str, Json]] = (None, {})

    def play(self, most: int) -> None:
        """Plays one game of at most so many steps."""
        self.report.start()
        try:
            self._play(min(most, self.info.step_limit or MAX_STEPS))
        except Stop:
            return

    def _play(self, steps: int) -> None:
        agents = range(self.info.num_agents)
        state, told = self._started()
        histories: list[list[tuple[Observation, Action | None]]] = [[] for _ in agents]
        over, totals, kept = [False] * len(agents), [0.0] * len(agents), []
        # By agent the number of what it saw and did: the histories themselves, kept whole, fill the memory.
        pasts = [0] * len(agents)
        for number in range(steps + 1):
            kept.append((state, self.report.state_text(state)))
            self._look_at(state, told, over)
            active = self._active(state, over)
            legal = [self._legal_of(state, agent, active) for agent in agents]
            for agent in agents:
                if not over[agent]:
                    histories[agent].append((told[agent], None))
                    self._compare_legal(agent, pasts[agent], histories[agent], legal[agent])
            if not active or number == steps:
                break
            moment = Moment(state, self._arrival, told, histories, legal)
            for rule, message in faults_of_offers(self.model, moment, self.hidden, self.rng):
                self.report.bad(rule, message)
            joint = self._joint(active, legal)
            self.met.append((state, joint))
            state, rewards, now_over, told = self._moved(state, joint)
            self._check_told(told, over)
            for agent in agents:
                if not over[agent]:
                    done = joint[agent] if agent in active else None
                    histories[agent][-1] = last = histories[agent][-1][0], done
                    pasts[agent] = self._pasts.setdefault((pasts[agent], key_of(list(last))), len(self._pasts) + 1)
            self._check_step(rewards, over, now_over)
            over = list(now_over)
            totals = [total + reward for total, reward in zip(totals, rewards, strict=True)]
        self._check_returns(totals)
        for old, text in kept:
            if self.report.state_text(old) != text:
                self.report.bad("a later call changes an earlier state", f"it was {text}")

    def _started(self) -> tuple[State, Sequence[Observation | None]]:
        def run(choose: Choose) -> tuple[State, Sequence[Observation | None]]:
            state = self.model.initial_state(choose)
            return state, self.model.observe(state, None, choose)

        state, told = self._once_more("start", None, run, lambda result: result)
        self._check_told(told, [False] * self.info.num_agents)
        return state, told

    def _moved(self, state: State, joint: Joint) -> tuple[State, Sequence[float], Sequence[bool], Sequence[Any]]:
        before = self.report.state_text(state)

        def run(choose: Choose) -> tuple[State, Sequence[float], Sequence[bool], Sequence[Observation | None]]:
            after, rewards, over = self.model.move(state, joint, choose)
            told = self.model.observe(after, joint, choose)
            if (now := self.report.state_text(state)) != before:
                self.report.bad("move changes its input", f"{joint} turned {before} into {now}")
                raise Stop
            return after, rewards, over, told

        after, rewards, over, told = self._once_more("step", joint, run, lambda result: (result[0], result[3]))
        self.report.actions.append(" | ".join(joint))
        return after, rewards, over, told

    def _once_more(
        self, what: str, joint: Joint | None, run: Callable[[Choose], Any], of: Callable[[Any], tuple[State, Any]]
    ) -> Any:
        """Draws a start or a step, and checks that the same draws give the same again, in whatever order."""
        log: dict[str, Json] = {}
        result = self.report.ask(what, run, recording(drawing(self.rng), log))
        texts = []
        for one in (result, self.report.ask(what, run, replaying(log)), self.report.ask(what, run, replaying(log))):
            state, told = of(one)
            shown = [observation_to_json(self.model, agent, seen) for agent, seen in enumerate(told)]
            texts.append((self.report.state_text(state), shown, repr(one[1:-1])))
        if any(text != texts[0] for text in texts):
            self.report.bad("equal draws, unequal results", f"{log} led to {texts[0]} and to {texts[1:]}")
            raise Stop
        self._arrival = joint, log
        return result

    def _look_at(self, state: State, told: Sequence[Observation | None], over: Sequence[bool]) -> None:
        """Checks that a state and what was told are JSON, there and back, and that JSON tells states apart."""
        self.report.state = self.report.ask("state_to_json", state_to_json, self.model, state)
        text = self.report.text("state", self.report.state)
        key = self.report.ask("hash of the state", lambda: (hash(key_of(state)), key_of(state)))[1]
        if self._texts.setdefault(text, key) != key:
            self.report.bad("two states with one JSON", f"{text} describes {self._texts[text]!r} and {key!r}")
        if isinstance(self.model, DescribesPosg):
            back = self.report.ask("state_from_json", self.model.state_from_json, json.loads(text))
            if key_of(back) != key:
                self.report.bad("state_from_json", f"{text} came back as {back!r}; expected {state!r}")
        for agent, seen in enumerate(told):
            if not over[agent]:
                shown = self.report.ask("observation_to_json", observation_to_json, self.model, agent, seen)
                self.report.text("observation", shown)
                self.report.ask("hash of the observation", lambda seen=seen: hash(key_of(seen)))

    def _active(self, state: State, over: Sequence[bool]) -> Sequence[int]:
        active = list(self.report.ask("active", self.model.active, state))
        if active != sorted(set(active)) or any(agent not in range(self.info.num_agents) for agent in active):
            self.report.bad("active", f"got {active}; expected agents in ascending order, each once")
            raise Stop
        if any(over[agent] for agent in active):
            self.report.bad("over disagrees with active", f"over is {list(over)}, yet active are {active}")
        if (not active) != all(over):
            self.report.bad("over disagrees with active", f"active are {active}, and over is {list(over)}")
        return active

    def _legal_of(self, state: State, agent: int, active: Sequence[int]) -> tuple[Action, ...]:
        """Returns what an agent may do, nothing where it is not active."""
        if agent not in active:
            return ()
        legal = tuple(self.report.ask("legal_actions", self.model.legal_actions, state, agent))
        order = [action for action in self.info.actions[agent] if action in legal]
        if not legal or list(legal) != order:
            known = self.info.actions[agent]
            self.report.bad("legal_actions", f"agent {agent} may do {legal}; expected some of {known}, in this order")
            raise Stop
        return legal

    def _compare_legal(
        self, agent: int, past: int, history: Sequence[tuple[Observation, Action | None]], legal: tuple[Action, ...]
    ) -> None:
        known = self._legal.setdefault((agent, past, key_of(history[-1][0])), legal)
        if known != legal:
            told = f"agent {agent} saw and did {list(history)!r} and may do {known} in one game, {legal} in another"
            self.report.bad("legal actions that an agent cannot know", told)

    def _joint(self, active: Sequence[int], legal: Sequence[Sequence[Action]]) -> Joint:
        return tuple(
            self.rng.choice(legal[agent]) if agent in active else actions[0]
            for agent, actions in enumerate(self.info.actions)
        )

    def _check_step(self, rewards: Sequence[float], over: Sequence[bool], now_over: Sequence[bool]) -> None:
        agents, info = self.info.num_agents, self.info
        if len(rewards) != agents or any(isinstance(one, bool) or not math.isfinite(one) for one in rewards):
            self.report.bad("rewards", f"got {rewards!r}; expected a finite number for each of {agents} agents")
            raise Stop
        if any(not info.min_step - EPSILON <= one <= info.max_step + EPSILON for one in rewards):
            told = f"got {list(rewards)}; info says {info.min_step} to {info.max_step} a step"
            self.report.bad("rewards out of bounds", told)
        if len(now_over) != agents or any(was and not now for was, now in zip(over, now_over, strict=True)):
            self.report.bad("over ends", f"over was {list(over)} and is {list(now_over)}; over stays over")
            raise Stop

    def _check_told(self, told: Sequence[Observation | None], over: Sequence[bool]) -> None:
        if len(told) != self.info.num_agents:
            self.report.bad("observe", f"got {told!r}; expected an observation for each agent")
            raise Stop
        for agent, seen in enumerate(told):
            if (seen is None) != over[agent]:
                expected = "None: the game was over for it before" if over[agent] else "an observation"
                self.report.bad("observe", f"agent {agent} was told {seen!r}; expected {expected}")

    def _check_returns(self, totals: Sequence[float]) -> None:
        info = self.info
        if any(not info.min_utility - EPSILON <= one <= info.max_utility + EPSILON for one in totals):
            told = f"got {list(totals)}; info says {info.min_utility} to {info.max_utility} a game"
            self.report.bad("returns out of bounds", told)
        if info.utility == "identical" and max(totals) - min(totals) > EPSILON:
            self.report.bad("utility", f"agents of identical utility were paid {list(totals)}")
        if info.utility == "zero_sum" and abs(math.fsum(totals)) > EPSILON:
            self.report.bad("utility", f"agents of a zero-sum game were paid {list(totals)}")
