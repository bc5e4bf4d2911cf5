"""Games under way, for environments of other libraries: what a seat is asked, what it is told, what the others do.

A game of turns and one of simultaneous moves look alike to whoever sits at one seat. What is told of a game of
simultaneous moves is what `games.posg.serialised` would tell, so that every agent of the arena can be an opponent.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from games.api import (
    CHANCE,
    TERMINAL,
    Action,
    Game,
    GameError,
    Json,
    ObsActionHistory,
    Observation,
    RendersText,
    State,
)
from games.posg.api import PosgInfo, PosgModel, RendersPosg, observation_to_json
from games.posg.chance import drawing
from games.posg.serialised import SerialisedPosg

MOST_ACTIONS: Final = 10_000
"""A game without a bound of its own is cut after so many actions of players, or steps."""
MOST_CHANCE: Final = 10_000
"""So many chance nodes in a row are no game."""


@dataclass(frozen=True)
class Asked:
    """What an opponent is told when it is to move.

    Attributes:
        player: its seat.
        history: its own decision points, oldest first; the last action is None. One entry: a new game has begun.
        legal: what it may do.
        rng: of all that it draws.
        state: the game's state where everybody sees it all, else None.
        draw: returns the game's drawing of its own view, None if the game draws nothing.
    """

    player: int
    history: ObsActionHistory
    legal: Sequence[Action]
    rng: random.Random
    state: State | None
    draw: Callable[[], str | None]


Opponent: TypeAlias = Callable[[Asked], Action]
"""Who sits at another seat."""


def plays_at_random(asked: Asked) -> Action:
    """Plays a uniformly random legal action."""
    return asked.legal[int(asked.rng.random() * len(asked.legal))]


class Seat(Protocol):
    """One seat of a game under way; all other seats and chance play by themselves."""

    @property
    def is_over(self) -> bool:
        """Whether the game has ended for the seat."""
        ...

    @property
    def is_cut(self) -> bool:
        """Whether the game was broken off, which is no end by its rules."""
        ...

    def begin(self, rng: random.Random) -> float:
        """Begins a game and plays on to the seat's first decision; returns what it was paid until then."""
        ...

    def legal(self) -> Sequence[Action]:
        """Returns what the seat may do; nothing once the game is over."""
        ...

    def raw(self) -> Json:
        """Returns what the seat was told last, as the game itself has it."""
        ...

    def seen(self) -> Observation:
        """Returns what the seat was told last, as JSON."""
        ...

    def play(self, action: Action) -> float:
        """Plays a legal action and goes on to the seat's next decision; returns what it was paid.

        Raises:
            GameError: an opponent plays what is not legal.
        """
        ...

    def render(self) -> str | None:
        """Returns the drawing of the seat's own view, None if the game draws nothing."""
        ...


class SeatInTurns:
    """A seat of a game of turns."""

    def __init__(self, game: Game, seat: int, opponents: Mapping[int, Opponent], most: int | None = None) -> None:
        """Args:
        game: the game.
        seat: which.
        opponents: by seat, all others.
        most: actions of players, after which a game is cut; None for the game's own bound, which cuts nothing.
        """
        self._game, self._seat, self._opponents = game, seat, opponents
        self._most = most or game.info.max_length or MOST_ACTIONS
        self._state: State = None
        self._actions = 0
        self._histories: list[list[tuple[Observation, Action | None]]] = []
        self._rng = random.Random(0)

    @property
    def is_over(self) -> bool:
        return self._game.current_player(self._state) == TERMINAL

    @property
    def is_cut(self) -> bool:
        return not self.is_over and self._actions >= self._most

    def begin(self, rng: random.Random) -> float:
        self._rng, self._actions = rng, 0
        self._histories = [[] for _ in range(self._game.info.num_players)]
        self._state = self._game.initial_state()
        return self._game.rewards(self._state)[self._seat] + self._to_decision()

    def legal(self) -> Sequence[Action]:
        return [] if self.is_over else self._game.legal_actions(self._state)

    def raw(self) -> Json:
        return self.seen()

    def seen(self) -> Observation:
        return self._game.observations(self._state)[self._seat]

    def play(self, action: Action) -> float:
        paid = self._apply(action)
        self._actions += 1
        return paid + self._to_decision()

    def render(self) -> str | None:
        return self._drawn(self._seat)

    def _to_decision(self) -> float:
        paid, drawn = 0.0, 0
        while (player := self._game.current_player(self._state)) not in (self._seat, TERMINAL):
            if player == CHANCE:
                drawn += 1
                if drawn > MOST_CHANCE:
                    raise GameError(f"{self._game.info.id}: more than {MOST_CHANCE:,} chance nodes follow one another.")
                paid += self._apply(chance_by(self._game, self._state, self._rng))
                continue
            drawn = 0
            if self._actions >= self._most:
                break
            paid += self._apply(self._asked(player))
            self._actions += 1
        return paid

    def _asked(self, player: int) -> Action:
        history, legal = self._histories[player], self._game.legal_actions(self._state)
        history.append((self._game.observations(self._state)[player], None))
        state = self._state if self._game.info.perfect_information else None
        asked = Asked(player, tuple(history), legal, self._rng, state, lambda: self._drawn(player))
        action = checked(self._game.info.id, self._opponents[player](asked), asked)
        history[-1] = (history[-1][0], action)
        return action

    def _apply(self, action: Action) -> float:
        self._state = self._game.apply_action(self._state, action)
        return float(self._game.rewards(self._state)[self._seat])

    def _drawn(self, player: int) -> str | None:
        return self._game.render(self._state, player) if isinstance(self._game, RendersText) else None


class PosgTable:
    """One game of simultaneous moves under way.

    Attributes:
        state: of the model.
        step: steps played.
        told: what each agent was told last, as the model has it.
        over: by agent: the game is over for it.
    """

    def __init__(self, model: PosgModel, most: int | None = None) -> None:
        """Args:
        model: the rules.
        most: steps after which a game is cut; None for the model's own limit.
        """
        self.model = model
        self.state: State = None
        self.step = 0
        self.told: list[Json] = []
        self.over: list[bool] = []
        self._missed: list[list[Json]] = []
        self._most = most or model.info.step_limit or MOST_ACTIONS
        self._rng = random.Random(0)

    @property
    def active(self) -> Sequence[int]:
        """Returns whose action counts next; nobody's once the game is over."""
        return self.model.active(self.state)

    @property
    def is_cut(self) -> bool:
        """Whether the game was broken off, which is no end by its rules."""
        return self.step >= self._most and bool(self.active)

    def begin(self, rng: random.Random) -> None:
        """Begins a game."""
        agents = range(self.model.info.num_agents)
        self._rng, self.step = rng, 0
        choose = drawing(rng)
        self.state = self.model.initial_state(choose)
        self.told = list(self.model.observe(self.state, None, choose))
        self.over, self._missed = [False for _ in agents], [[] for _ in agents]

    def legal(self, agent: int) -> Sequence[Action]:
        """Returns what an agent may do; nothing where its action does not count."""
        return self.model.legal_actions(self.state, agent) if agent in self.active else ()

    def seen(self, agent: int) -> Observation:
        """Returns what an agent was told last, as `SerialisedPosg` tells it."""
        told = observation_to_json(self.model, agent, self.told[agent])
        missed = {"missed": list(self._missed[agent])} if self._missed[agent] else {}
        return {"agent": agent, "step": self.step, "seen": told, **missed}

    def play(self, actions: Mapping[int, Action]) -> list[float]:
        """Plays a step and returns what it paid, by agent.

        Args:
            actions: by agent, those of all active ones at least.
        """
        acted, before, over = self.active, self.told, self.over
        joint = tuple(actions.get(agent, own[0]) for agent, own in enumerate(self.model.info.actions))
        choose = drawing(self._rng)
        self.state, rewards, ends = self.model.move(self.state, joint, choose)
        self.told = list(self.model.observe(self.state, joint, choose))
        self.step += 1
        for agent, told in enumerate(before):
            if agent in acted or over[agent]:
                self._missed[agent] = []
            else:
                self._missed[agent].append(observation_to_json(self.model, agent, told))
        nobody = not self.active
        self.over = [nobody or bool(end) for end in ends]
        return [float(reward) for reward in rewards]

    def drawn(self, agent: int) -> str | None:
        """Returns the drawing of an agent's own view, None if the model draws nothing."""
        return self.model.render(self.state, agent) if isinstance(self.model, RendersPosg) else None


class SeatAtOnce:
    """A seat of a game of simultaneous moves."""

    def __init__(self, model: PosgModel, seat: int, opponents: Mapping[int, Opponent], most: int | None = None) -> None:
        """Args:
        model: the rules.
        seat: which.
        opponents: by agent, all others.
        most: steps after which a game is cut; None for the model's own limit.
        """
        self._table = PosgTable(model, most)
        self._seat, self._opponents = seat, opponents
        self._histories: list[list[tuple[Observation, Action | None]]] = []
        self._rng = random.Random(0)

    @property
    def is_over(self) -> bool:
        return self._table.over[self._seat] or not self._table.active

    @property
    def is_cut(self) -> bool:
        return not self.is_over and self._table.is_cut

    def begin(self, rng: random.Random) -> float:
        self._rng = rng
        self._histories = [[] for _ in range(self._table.model.info.num_agents)]
        self._table.begin(rng)
        return self._to_decision()

    def legal(self) -> Sequence[Action]:
        return () if self.is_over else self._table.legal(self._seat)

    def raw(self) -> Json:
        return self._table.told[self._seat]

    def seen(self) -> Observation:
        return self._table.seen(self._seat)

    def play(self, action: Action) -> float:
        return self._step({self._seat: action}) + self._to_decision()

    def render(self) -> str | None:
        return self._table.drawn(self._seat)

    def _to_decision(self) -> float:
        paid = 0.0
        while not self.is_over and not self.is_cut and self._seat not in self._table.active:
            paid += self._step({})
        return paid

    def _step(self, own: Mapping[int, Action]) -> float:
        others = {agent: self._asked(agent) for agent in self._table.active if agent != self._seat}
        return self._table.play({**own, **others})[self._seat]

    def _asked(self, agent: int) -> Action:
        table, history = self._table, self._histories[agent]
        history.append((table.seen(agent), None))
        asked = Asked(agent, tuple(history), table.legal(agent), self._rng, None, lambda: table.drawn(agent))
        action = checked(table.model.info.id, self._opponents[agent](asked), asked)
        history[-1] = (history[-1][0], action)
        return action


def seat_of(
    game: Game | PosgModel, seat: int, opponents: Opponent | Sequence[Opponent], most: int | None = None
) -> Seat:
    """Returns a seat of a game.

    Args:
        game: of turns, or of simultaneous moves, as a game or as a model.
        seat: which, from 0.
        opponents: one for all other seats, or one for each of them in their order.
        most: actions of players (of simultaneous moves: steps) after which a game is cut; None for its own limit.

    Raises:
        GameError: there is no such seat, or there are not as many opponents as other seats.
    """
    model = posg_in(game)
    game_id = game.info.id
    count = turns_in(game).info.num_players if model is None else model.info.num_agents
    if type(seat) is not int or not 0 <= seat < count:
        raise GameError(f"{game_id} has the seats 0 to {count - 1}, not {seat!r}.")
    if most is not None and most < 1:
        raise GameError(f"{game_id}: a game is cut after at least 1 action, not {most}.")
    others = [other for other in range(count) if other != seat]
    chosen = [opponents] * len(others) if callable(opponents) else list(opponents)
    if len(chosen) != len(others):
        raise GameError(
            f"{game_id} has {len(others)} seats beside seat {seat}, but {len(chosen)} opponents were given: give one "
            "for all, or one for each in the order of the seats."
        )
    by_seat = dict(zip(others, chosen, strict=True))
    if model is None:
        return SeatInTurns(turns_in(game), seat, by_seat, most)
    return SeatAtOnce(model, seat, by_seat, most)


def posg_in(game: Game | PosgModel) -> PosgModel | None:
    """Returns the rules of a game of simultaneous moves, None for one of turns."""
    if isinstance(game, SerialisedPosg):
        return game.model
    return game if isinstance(game.info, PosgInfo) else None


def turns_in(game: Game | PosgModel) -> Game:
    """Returns a game as one of turns."""
    return SerialisedPosg(game) if isinstance(game.info, PosgInfo) else game


def chance_by(game: Game, state: State, rng: random.Random) -> Action:
    """Returns what chance does at a chance node."""
    outcomes = game.chance_outcomes(state)
    left = rng.random() * sum(probability for _, probability in outcomes)
    for action, probability in outcomes:
        left -= probability
        if left < 0.0:
            return action
    return outcomes[-1][0]


def checked(game_id: str, action: Action, asked: Asked) -> Action:
    """Returns an opponent's action.

    Raises:
        GameError: it is not legal.
    """
    if action in asked.legal:
        return action
    shown = ", ".join(asked.legal[:10]) + (", …" if len(asked.legal) > 10 else "")
    raise GameError(f"{game_id}: the opponent at seat {asked.player} played {action!r}; legal are {shown}.")
