"""What planners of simultaneous games believe along games: shares with the true state, type and action of the others.

Chance and the others' policies are drawn alike for all planners of one seed. Source of the figures: Schwartz et al.,
"POSGGym" (2025), figures 12 to 15 and 18.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from arena.agents.posg import check, model_of, named, written_out
from arena.agents.specs import AgentSpec
from arena.figures.intervals import Estimate, mean_estimate
from arena.posg.kept import KeptPieces
from arena.usage import UsageError
from games import registry
from games.api import Action, State
from games.posg.api import Joint, Observation, PosgModel, observation_to_json
from games.posg.chance import drawing
from games.posterior import NamesHiddenParts
from search.api import Position
from search.posg.config import PosgPlannerConfig
from search.posg.others import Memory, OtherPolicy
from search.posg.planner import PosgPlanner, make
from search.posg.types import UNKNOWN, named_policy

MOST_STEPS: Final = 1_000
"""Of a game that has no limit of its own."""


@dataclass(frozen=True)
class Believed:
    """A belief at one decision, beside the truth.

    Attributes:
        step: of the game, from 0 on.
        state: probability of the true state.
        parts: mean probability of the true values of the parts that the game hides; None where it names none.
        whole: probability that all of these are true at once; None likewise.
        type: probability of the others' true type; None where the planner has none for it.
        action: probability of what the others do next.
        contradicting: share of particles that would have shown the ego something else.
        effective: effective number of particles.
    """

    step: int
    state: float
    parts: float | None
    whole: float | None
    type: float | None
    action: float
    contradicting: float
    effective: float


@dataclass(frozen=True)
class BelievedGame:
    """One game.

    Attributes:
        agent: name of the planner.
        others: names of the others' policies, joined by `/`.
        returned: what the planner got, undiscounted.
        simulations: a decision, on average.
        fallbacks: decisions that it did not search.
        steps: its beliefs.
    """

    agent: str
    others: str
    returned: float
    simulations: float
    fallbacks: int
    steps: tuple[Believed, ...]


def measure(
    game_id: str,
    agents: Sequence[AgentSpec],
    *,
    episodes: int = 20,
    others: Sequence[str] = (),
    steps: int | None = None,
    seed: int = 0,
    out: Path | None = None,
    on_game: Callable[[int, int], None] = lambda done, total: None,
) -> list[BelievedGame]:
    """Plays games of each planner, as agent 0, with others of drawn policies.

    Args:
        game_id: of a game of simultaneous moves.
        agents: planners, `posg:…`.
        episodes: games a planner.
        others: policies that the others may have, each as likely; () for the types that the planner is told.
        steps: of a game, at most; None for all.
        seed: of all chance.
        out: file that keeps finished games; those that it has are not played again.
        on_game: told how many games are done, and of how many.

    Raises:
        UsageError: an agent is no such planner, two have one name, or the file is of other settings.
        PlannerConfigError: a planner cannot play the game, or a policy is unknown.
        UnknownGameError: no game has the id.
    """
    game = registry.make(game_id)
    model = model_of(game)
    for spec in agents:
        if spec.kind != "posg":
            raise UsageError(f"agent {spec.name!r} has no belief to look at: write posg:METHOD, e.g. posg:pomcp.")
    configs = {spec.name: written_out(PosgPlannerConfig.from_json(spec.planner), game) for spec in agents}
    trained = {name: found for name, config in configs.items() if (found := check(config, game)) is not None}
    if len({spec.name for spec in agents}) < len(agents):
        raise UsageError("two agents have one name: give each its own, e.g. name=A.")
    if others:
        named(model, PosgPlannerConfig(types=tuple(others)))
    settings: dict[str, Any] = {
        "game": game_id,
        "agents": {name: config.to_json() for name, config in configs.items()},
        "others": list(others),
        "steps": steps,
        "seed": seed,
    }
    if trained:
        settings["trained"] = trained
    kept = KeptPieces(out, settings, "beliefs", "games")
    jobs = [(spec, number) for number in range(episodes) for spec in agents]
    for done, (spec, number) in enumerate(jobs):
        on_game(done, len(jobs))
        if f"{number} {spec.name}" not in kept.pieces:
            config = configs[spec.name]
            names = others or config.types or ("uniform",)
            played = _played(model, spec.name, config, names, steps or MOST_STEPS, f"{seed} {number}")
            kept.add(f"{number} {spec.name}", asdict(played))
    on_game(len(jobs), len(jobs))
    return [_game(kept.pieces[f"{number} {spec.name}"]) for spec, number in jobs]


def _game(stored: Mapping[str, Any]) -> BelievedGame:
    return BelievedGame(**{**stored, "steps": tuple(Believed(**step) for step in stored["steps"])})


def over_a_game(games: Sequence[BelievedGame], figure: str) -> Estimate | None:
    """Returns the mean over games of the mean of a figure (a field of `Believed`) over their steps."""
    means = []
    for game in games:
        found = [value for step in game.steps if (value := getattr(step, figure)) is not None]
        if found:
            means.append(math.fsum(found) / len(found))
    return mean_estimate(means)


def by_step(games: Sequence[BelievedGame], figure: str) -> list[tuple[int, Estimate]]:
    """Returns the mean of a figure over the games that came to a step, for each step."""
    values: dict[int, list[float]] = {}
    for game in games:
        for step in game.steps:
            value = getattr(step, figure)
            if value is not None:
                values.setdefault(step.step, []).append(value)
    return [(step, one) for step, found in sorted(values.items()) if (one := mean_estimate(found)) is not None]


class _Others:
    """The other agents of a game, each with a policy."""

    def __init__(self, model: PosgModel, names: Sequence[str], rng: random.Random) -> None:
        known = named(model, PosgPlannerConfig(types=tuple(names)))
        self._model, self._rng, self._ids = model, rng, range(1, model.info.num_agents)
        chosen = [rng.choice(names) for _ in self._ids]
        self.type = "/".join(chosen)
        self._policies: list[OtherPolicy] = [
            named_policy(known, name, model.info.id)[agent] for name, agent in zip(chosen, self._ids, strict=True)
        ]
        self._memories: list[Memory] = [
            policy.start(agent) for policy, agent in zip(self._policies, self._ids, strict=True)
        ]

    def told(self, seen: Sequence[Observation | None], joint: Joint | None) -> None:
        """Tells them what they see, after a joint action (None at the start)."""
        for number, (policy, agent) in enumerate(zip(self._policies, self._ids, strict=True)):
            if seen[agent] is not None:
                done = None if joint is None else joint[agent]
                self._memories[number] = policy.update(self._memories[number], done, seen[agent])

    def act(self, state: State) -> tuple[Action, ...]:
        """Returns what they do; the first action of who is not active."""
        found = []
        for policy, memory, agent in zip(self._policies, self._memories, self._ids, strict=True):
            legal = self._model.legal_actions(state, agent)
            weights = policy.probabilities(memory, legal) if len(legal) > 1 else [1.0]
            found.append(self._rng.choices(legal or self._model.info.actions[agent][:1], weights)[0])
        return tuple(found)


def _played(
    model: PosgModel, name: str, config: PosgPlannerConfig, names: Sequence[str], most: int, seed: str
) -> BelievedGame:
    """Plays one game; the planner draws from a stream of its own, so that it moves nobody else's luck."""
    planner = make(model, 0, config, named(model, config))
    others, own = _Others(model, names, random.Random(f"others {seed}")), random.Random(f"planner {seed}")
    choose = drawing(random.Random(f"chance {seed}"))
    state = model.initial_state(choose)
    seen = model.observe(state, None, choose)
    others.told(seen, None)
    history, found = list[tuple[Any, Action | None]](), list[Believed]()
    returned, simulations, fallbacks = 0.0, 0, 0
    for step in range(min(most, model.info.step_limit or MOST_STEPS)):
        history.append((observation_to_json(model, 0, seen[0]), None))
        decision = planner.choose(Position(0, tuple(history)), own, model.legal_actions(state, 0))
        joint = (decision.action, *others.act(state))
        simulations, fallbacks = simulations + decision.simulations, fallbacks + (decision.fallback is not None)
        if decision.fallback is None:  # else there is no belief, or an old one
            found.append(_believed(planner, step, state, others.type, joint))
        history[-1] = (history[-1][0], decision.action)
        state, rewards, over = model.move(state, joint, choose)
        seen = model.observe(state, joint, choose)
        others.told(seen, joint)
        returned += rewards[0]
        if over[0]:
            break
    return BelievedGame(name, others.type, returned, simulations / len(history), fallbacks, tuple(found))


def _believed(planner: PosgPlanner, step: int, state: State, kind: str, joint: Joint) -> Believed:
    scope, cloud = planner.scope, planner.belief.cloud
    steps, types = scope.steps, scope.types
    true, actions, sure = steps.key(steps.place(state)), 0.0, 0.0
    for particle, weight in zip(cloud.particles, cloud.weights, strict=True):
        sure += weight * (steps.key(particle.place) == true)
        chances = [mind.chance(joint[agent]) for mind, agent in zip(particle.minds, types.others, strict=False)]
        if not particle.minds:
            chances = [1.0 / len(steps.legal(particle.place, agent)) for agent in types.others]
        actions += weight * math.prod(chances)
    kind = kind if kind in types.names or UNKNOWN not in types.names else UNKNOWN
    named_type = cloud.posterior(len(types.names))[types.names.index(kind)] if kind in types.names else None
    parts, whole = _parts(planner, state)
    return Believed(
        step,
        sure,
        parts,
        whole,
        named_type,
        actions,
        cloud.contradicting / len(cloud.particles),
        cloud.figures(scope)["effective"],
    )


def _parts(planner: PosgPlanner, state: State) -> tuple[float | None, float | None]:
    """Returns the mean probability of the true hidden parts, and that of all at once."""
    steps, cloud = planner.scope.steps, planner.belief.cloud
    if not isinstance(steps.model, NamesHiddenParts):
        return None, None
    true = steps.model.hidden_parts_of(state)
    right, whole = 0.0, 0.0
    for particle, weight in zip(cloud.particles, cloud.weights, strict=True):
        found = steps.model.hidden_parts_of(steps.state(particle.place))
        agree = sum(one == other for one, other in zip(true, found, strict=True))
        right += weight * agree / len(true)
        whole += weight * (agree == len(true))
    return right, whole
