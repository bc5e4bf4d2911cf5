"""A game of simultaneous moves as a `Game`: its agents choose one after the other, and none sees what others chose.

Standard library alone. A step of the model becomes: the active agents choose, in order; then chance acts, one node a
draw; with the last of these the step is played and pays its rewards. A start is the
draws alone. Chance nodes come by replay: the step is run again with all draws so far until it asks for a further one.
"""

import json
import random
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from games.api import CHANCE, TERMINAL, Action, GameInfo, IllegalActionError, Json, Observation, State
from games.posg.api import (
    Choose,
    FastStep,
    Joint,
    Moved,
    PosgModel,
    RendersPosg,
    observation_to_json,
    state_to_json,
)
from games.posg.chance import check_draw, drawing

Phase: TypeAlias = Literal["chance", "act", "over"]
Outcomes: TypeAlias = Sequence[tuple[Json, float]]

OF_TURNS: Final = ("agent", "step", "seen", "missed")
"""Keys of an observation in turns; what the game itself shows stands in `seen` and `missed`."""
MAX_STEPS: Final = 1_000_000
"""Of a game without a limit of its own, in a playout."""


class Stage(NamedTuple):
    """A state of the serialised game; nothing in it is ever changed.

    Attributes:
        phase: whose turn it is: chance's, an agent's, nobody's.
        state: of the model, before the step that is being chosen; None before the game has started.
        chosen: actions of the first of the active agents in the present step.
        drawn: what chance has done in the present start or step, by label, in the order of the draws.
        draw: label and outcomes of the draw that chance is to make; None where it is not its turn.
        step: number of steps played.
        seen: what each agent was told last, as JSON.
        missed: by agent: what it was told since it last acted, before that, as JSON.
        ended: by agent: the game is over for it.
        rewards: what the last action paid.
    """

    phase: Phase
    state: State
    chosen: tuple[Action, ...]
    drawn: tuple[tuple[str, Json], ...]
    draw: tuple[str, tuple[tuple[Json, float], ...]] | None
    step: int
    seen: tuple[Json, ...]
    missed: tuple[tuple[Json, ...], ...]
    ended: tuple[bool, ...]
    rewards: tuple[float, ...]


class _OpenDraw(Exception):
    def __init__(self, label: str, outcomes: Outcomes) -> None:
        super().__init__(label)
        self.label, self.outcomes = label, outcomes


class _Replay:
    """Repeats draws, and stops at the first that is not made yet."""

    def __init__(self, drawn: Sequence[tuple[str, Json]]) -> None:
        self.log = dict(drawn)

    def __call__(self, label: str, outcomes: Outcomes) -> Json:
        if label in self.log:
            return self.log[label]
        check_draw(label, outcomes, {})
        raise _OpenDraw(label, outcomes)


class SerialisedPosg:
    """A `PosgModel` as a `Game`. Observations: `agent`, who looks; `step`, steps played; `seen`, what it was told last;
    and, where it was told more since it last acted, `missed`, that before, oldest first."""

    def __init__(self, model: PosgModel, has_chance: bool = True, game_id: str = "") -> None:
        """Makes the game.

        Args:
            model: the rules.
            has_chance: anything in them is drawn.
            game_id: by which the game is found, if not by the model's own id.
        """
        info = model.info
        self.model: Final = model
        self._info = GameInfo(
            id=game_id or info.id,
            num_players=info.num_agents,
            utility=info.utility,
            min_utility=info.min_utility,
            max_utility=info.max_utility,
            perfect_information=False,  # even where all see the whole state, choices are hidden
            has_chance=has_chance,
            player_names=info.agent_names,
            max_length=None if info.step_limit is None else info.step_limit * info.num_agents,
            simultaneous=True,
        )
        self._limit = MAX_STEPS if info.step_limit is None else info.step_limit
        self._nothing = (0.0,) * info.num_agents
        self._fast = model if isinstance(model, FastStep) else None

    @property
    def info(self) -> GameInfo:
        return self._info

    def initial_state(self) -> Stage:
        agents = self._info.num_players
        empty = Stage("chance", None, (), (), None, 0, (None,) * agents, ((),) * agents, (False,) * agents, ())
        return self._onward(empty._replace(rewards=self._nothing))

    def current_player(self, state: Stage) -> int:
        if state.phase == "act":
            return self.model.active(state.state)[len(state.chosen)]
        return CHANCE if state.phase == "chance" else TERMINAL

    def legal_actions(self, state: Stage) -> list[Action]:
        if state.draw is not None:
            return [name_of(state.draw[0], outcome) for outcome, _ in state.draw[1]]
        player = self.current_player(state)
        return list(self.model.legal_actions(state.state, player)) if player >= 0 else []

    def chance_outcomes(self, state: Stage) -> list[tuple[Action, float]]:
        if state.draw is None:
            return []
        label, outcomes = state.draw
        return [(name_of(label, outcome), probability) for outcome, probability in outcomes]

    def apply_action(self, state: Stage, action: Action) -> Stage:
        if state.draw is not None:
            label, outcomes = state.draw
            for outcome, _ in outcomes:
                if name_of(label, outcome) == action:
                    return self._onward(state._replace(drawn=(*state.drawn, (label, outcome)), draw=None))
        elif action in self.legal_actions(state):
            player = self.current_player(state)
            missed = (*state.missed[:player], (), *state.missed[player + 1 :])
            after = state._replace(chosen=(*state.chosen, action), missed=missed, rewards=self._nothing)
            return after if len(after.chosen) < len(self.model.active(state.state)) else self._onward(after)
        legal = ", ".join(self.legal_actions(state)) or "none, the game is over"
        raise IllegalActionError(f"{self._info.id}: {action!r} is not legal here; legal are: {legal}.")

    def rewards(self, state: Stage) -> list[float]:
        return list(state.rewards)

    def observations(self, state: Stage) -> list[Observation]:
        return [
            {
                "agent": agent,
                "step": state.step,
                "seen": state.seen[agent],
                **({"missed": list(state.missed[agent])} if state.missed[agent] else {}),
            }
            for agent in range(self._info.num_players)
        ]

    def state_to_json(self, state: Stage) -> Json:
        return {
            "phase": state.phase,
            "step": state.step,
            "state": None if state.state is None else state_to_json(self.model, state.state),
            "chosen": list(state.chosen),
            "drawn": [name_of(label, outcome) for label, outcome in state.drawn],
            "draw": None if state.draw is None else state.draw[0],
            "seen": list(state.seen),
            "missed": [list(missed) for missed in state.missed],
            "ended": list(state.ended),
            "rewards": list(state.rewards),
        }

    def render(self, state: Stage, player: int | None = None) -> str:
        """Returns the table; with `player`, what that agent was told alone."""
        lines = [f"step {state.step}"]
        if state.state is not None and isinstance(self.model, RendersPosg):
            lines.append(self.model.render(state.state, player))
        for agent, name in enumerate(self._info.player_names):
            if player in (None, agent):
                lines.append(f"{name} was told: {json.dumps(state.seen[agent], ensure_ascii=False)}")
        if player is None and state.chosen:
            lines.append(f"chosen: {', '.join(state.chosen)}")
        return "\n".join(lines)

    def playout(self, state: Stage, rng: random.Random, max_actions: int) -> list[float]:
        """Returns the sum of the rewards paid after `state` in uniformly random play, by agent.

        Nothing is observed in it, which is why it is fast; it is cut after the step in which `max_actions` is reached.
        """
        total = list(self._nothing)
        if state.phase == "over" or max_actions < 1:
            return total
        now, step, count = state.state, state.step, 0
        if state.phase == "chance" and now is None:
            now = self.model.initial_state(_resumed(state, rng))
        elif state.phase == "chance" or state.chosen:
            moved, count = self._finished(state, rng)
            now, step = moved[0], step + 1
            _add(total, moved[1])
        while step < self._limit and count < max_actions:
            active = self.model.active(now)
            if not active:
                break
            joint = self._random_joint(now, active, (), rng)
            now, paid, _ = self._sampled(now, joint, rng)
            _add(total, paid)
            step, count = step + 1, count + len(active)
        return total

    def joint(self, state: State, chosen: Sequence[Action]) -> Joint:
        """Returns the actions of all agents: what the active ones chose, and any action for the others."""
        given = dict(zip(self.model.active(state), chosen, strict=True))
        return tuple(given.get(agent, actions[0]) for agent, actions in enumerate(self.model.info.actions))

    def _onward(self, stage: Stage) -> Stage:
        """Plays the start or the step that has been chosen, as far as its draws are made."""
        replay = _Replay(stage.drawn)
        try:
            if stage.state is None:
                state = self.model.initial_state(replay)
                told, paid, over = self.model.observe(state, None, replay), self._nothing, stage.ended
                step = 0
            else:
                joint = self.joint(stage.state, stage.chosen)
                state, rewards, overs = self.model.move(stage.state, joint, replay)
                told = self.model.observe(state, joint, replay)
                paid, over, step = tuple(map(float, rewards)), tuple(map(bool, overs)), stage.step + 1
        except _OpenDraw as waits:
            return stage._replace(phase="chance", draw=(waits.label, tuple(waits.outcomes)), rewards=self._nothing)
        seen = tuple(observation_to_json(self.model, agent, one) for agent, one in enumerate(told))
        missed = stage.missed if stage.state is None else self._missed(stage)
        is_over = step >= self._limit or not self.model.active(state)
        phase: Phase = "over" if is_over else "act"
        return Stage(phase, state, (), (), None, step, seen, missed, over, paid)

    def _missed(self, stage: Stage) -> tuple[tuple[Json, ...], ...]:
        """Returns by agent what it will have missed when it is told more now: agents who acted have missed nothing."""
        acted = self.model.active(stage.state)
        return tuple(
            () if agent in acted or stage.ended[agent] else (*missed, stage.seen[agent])
            for agent, missed in enumerate(stage.missed)
        )

    def _random_joint(self, state: State, active: Sequence[int], chosen: Sequence[Action], rng: random.Random) -> Joint:
        uniform = rng.random
        joint = [actions[0] for actions in self.model.info.actions]
        for agent in active:
            legal = self.model.legal_actions(state, agent)
            joint[agent] = legal[int(uniform() * len(legal))]
        for agent, action in zip(active, chosen, strict=False):
            joint[agent] = action
        return tuple(joint)

    def _sampled(self, state: State, joint: Joint, rng: random.Random) -> Moved:
        if self._fast is not None:
            return self._fast.sample_step(state, joint, rng)
        return self.model.move(state, joint, drawing(rng))

    def _finished(self, stage: Stage, rng: random.Random) -> tuple[Moved, int]:
        """Returns the step that has begun, ended at random, and how many actions that took."""
        active = self.model.active(stage.state)
        joint = self._random_joint(stage.state, active, stage.chosen, rng)
        moved = self.model.move(stage.state, joint, _resumed(stage, rng))
        return moved, len(active) - len(stage.chosen)


def name_of(label: str, outcome: Json) -> Action:
    """Returns the action of chance that gives a draw an outcome, e.g. `prey 2: north`."""
    return f"{label}: {outcome if isinstance(outcome, str) else json.dumps(outcome, ensure_ascii=False)}"


def outcome_of(label: str, name: Action) -> Json:
    """Returns the outcome of a draw that an action of chance stands for: what `name_of` was given.

    An outcome that is text, and reads as other JSON, is not told from that JSON.
    """
    text = name.removeprefix(f"{label}: ")
    try:
        outcome = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(outcome, str) else outcome


def _resumed(stage: Stage, rng: random.Random) -> Choose:
    """Returns the reading that repeats the draws of a stage and draws the others."""
    log, draw = dict(stage.drawn), drawing(rng)

    def choose(label: str, outcomes: Outcomes) -> Json:
        return log[label] if label in log else draw(label, outcomes)

    return choose


def _add(total: list[float], paid: Sequence[float]) -> None:
    for agent, reward in enumerate(paid):
        total[agent] += reward
