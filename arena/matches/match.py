"""One game: the true game checks legality, applies moves and keeps score; agents see their own view alone."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from arena.agents.api import Agent, AgentFailure, ForfeitKind, HearsTheEnd, KeepsAccount, Move, Turn
from arena.agents.thought import Thought
from cwm.storage.keys import derive
from games.api import (
    CHANCE,
    TERMINAL,
    Action,
    Game,
    GameError,
    Observation,
    RendersText,
    ReportsOutcome,
    State,
    observe,
    state_to_json,
)

MAX_ACTIONS = 10_000
"""A game with more players' actions than this, where the game states no bound, is given up as endless."""


@dataclass(frozen=True)
class NamedDeck:
    """What chance does at its first nodes, in order, in place of what the deal's seed would give.

    Attributes:
        name: as the game names it.
        actions: chance's.
    """

    name: str
    actions: tuple[Action, ...]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "NamedDeck":
        """Builds what `asdict` made."""
        return cls(data["name"], tuple(data["actions"]))


@dataclass(frozen=True)
class Forfeit:
    """Who lost a game without finishing it, and why."""

    seat: int
    kind: ForfeitKind
    detail: str


@dataclass(frozen=True)
class GameRecord:
    """A finished game: enough to score it and to replay it through the true rules.

    Attributes:
        game: id of the game.
        deal_seed: seed of every chance node; the same for all seat rotations on one deal.
        seats: agent names by seat.
        actions: (player, action) in order, chance (-1) too; an illegal answer is not among them.
        paid: sum of the rewards that the true game paid, by player.
        returns: what the game is scored with: `paid`, or what a forfeit makes of it.
        outcome: the game's own account of its end (`ReportsOutcome`), None if it gives none or was forfeited.
        forfeit: None if the game was played to its end.
        length: actions of players, chance not counted.
        fallbacks: by seat, how often the agent's own method gave up, by reason.
        model_errors: by seat, exceptions of the agent's model while it thought, by message.
        sandbox: level at which untrusted programs ran, None if none ran.
        seconds: by seat, wall-clock seconds of each move; the one thing here that may differ from run to run.
        accounts: by seat, as a number in text, what an agent says of its game (`KeepsAccount`): of a language model its
            options, calls, tokens, votes and bad answers by kind.
        thoughts: by number of the action, as text, what its player had considered (`arena.agents.thought`); {} where
            nobody asked for that.
        deck: what chance was told to do (`games.api.DealsNamedDecks`); None where the deal's seed says all.
    """

    game: str
    deal_seed: int
    seats: tuple[str, ...]
    actions: tuple[tuple[int, Action], ...]
    paid: tuple[float, ...]
    returns: tuple[float, ...]
    outcome: dict[str, Any] | None
    forfeit: Forfeit | None
    length: int
    fallbacks: tuple[dict[str, int], ...]
    model_errors: tuple[dict[str, int], ...]
    sandbox: str | None
    seconds: tuple[tuple[float, ...], ...]
    accounts: dict[str, dict[str, Any]] = field(default_factory=dict)
    thoughts: dict[str, Thought] = field(default_factory=dict)
    deck: NamedDeck | None = None

    @property
    def won_score(self) -> float:
        """R of one cooperative game: its score if it was won; 0 if it was lost or forfeited, or reports no outcome."""
        return float(self.outcome["score"]) if self.outcome is not None and self.outcome["won"] else 0.0

    def records(self) -> list[dict[str, Any]]:
        """Returns a row for each action, chance's too, in order: number, player, agent, action."""
        names = {CHANCE: "chance"} | dict(enumerate(self.seats))
        return [
            {"number": number, "player": player, "agent": names[player], "action": action}
            for number, (player, action) in enumerate(self.actions)
        ]

    def to_json(self) -> dict[str, Any]:
        """Returns the record as JSON; one without accounts, thoughts or deck is as it was before there were any."""
        data = asdict(self)
        for name in ("accounts", "thoughts", "deck"):
            if not data[name]:
                del data[name]
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "GameRecord":
        """Builds a record from JSON; keys that a newer version wrote are left out."""
        known = {item.name for item in fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        values["actions"] = tuple((player, action) for player, action in data["actions"])
        values["forfeit"] = None if data["forfeit"] is None else Forfeit(**data["forfeit"])
        values["seconds"] = tuple(tuple(row) for row in data["seconds"])
        for key in ("seats", "paid", "returns", "fallbacks", "model_errors"):
            values[key] = tuple(data[key])
        if data.get("deck") is not None:
            values["deck"] = NamedDeck.from_json(data["deck"])
        return cls(**values)


def play(
    game: Game,
    agents: Sequence[Agent],
    deal_seed: int,
    agent_seeds: Sequence[int],
    sandbox: str | None = None,
    on_action: Callable[[int, Action], None] | None = None,
    explain: bool = False,
    deck: NamedDeck | None = None,
) -> GameRecord:
    """Plays one game and closes the agents.

    Args:
        game: the true game.
        agents: by seat.
        deal_seed: the only thing that chance depends on, together with the number of chance nodes before.
        agent_seeds: by seat; each move's seed is derived from it and from the number of the move.
        sandbox: level at which untrusted programs run, for the record.
        on_action: called with player (chance too) and action after each.
        explain: keep what agents considered; the game stays the same.
        deck: what chance does first; None for what `deal_seed` gives.

    Raises:
        InfrastructureError: something of ours broke; there is nothing to score.
        GameError: the number of agents or a view does not fit the game, or the game does not end.
    """
    if not len(agents) == len(agent_seeds) == game.info.num_players:
        raise GameError(f"{game.info.id} seats {game.info.num_players} players, not {len(agents)}.")
    table = _Table(game, agents, deal_seed, agent_seeds, on_action, explain, deck)
    try:
        forfeit = table.play()
        table.say_end(forfeit)
    finally:
        for agent in agents:
            agent.close()
    return table.record(forfeit, sandbox)


def chance_action(game: Game, state: State, deal_seed: int, number: int, deck: NamedDeck | None = None) -> Action:
    """Returns what chance does at a game's chance node `number`, from 0: what the deck has there, else by the seed.

    Each node has its own generator: how many actions players took in between shifts nothing.
    """
    if deck is not None and number < len(deck.actions):
        return deck.actions[number]
    point = random.Random(derive("chance", deal_seed, number)).random()
    outcomes = game.chance_outcomes(state)
    for action, probability in outcomes:
        point -= probability
        if point < 0:
            return action
    return outcomes[-1][0]


def forfeit_returns(game: Game, seat: int, paid: Sequence[float]) -> list[float]:
    """Returns what a forfeit by `seat` is scored with, by player.

    Identical interest: the worst return for all. Two players who win what the other loses, zero sum: the forfeiting
    player gets the lowest return, the others share its opposite (for two players with symmetric bounds, the
    highest). General sum: the forfeiting player gets the lowest return, the others keep what they were paid so far.
    """
    info = game.info
    if info.utility == "identical":
        return [info.min_utility] * info.num_players
    if info.utility == "general_sum":
        return [info.min_utility if player == seat else paid[player] for player in range(info.num_players)]
    share = info.max_utility if info.num_players == 2 else -info.min_utility / (info.num_players - 1)
    return [info.min_utility if player == seat else share for player in range(info.num_players)]


class _Forfeited(Exception):
    def __init__(self, forfeit: Forfeit) -> None:
        super().__init__(forfeit.detail)
        self.forfeit = forfeit


class _Table:
    """The state of one game in progress."""

    def __init__(
        self,
        game: Game,
        agents: Sequence[Agent],
        deal_seed: int,
        agent_seeds: Sequence[int],
        on_action: Callable[[int, Action], None] | None,
        explain: bool,
        deck: NamedDeck | None,
    ) -> None:
        self._deck = deck
        self._on_action = on_action
        self._explain = explain
        self._thoughts: dict[str, Thought] = {}
        self._game = game
        self._agents = agents
        self._deal_seed = deal_seed
        self._agent_seeds = agent_seeds
        self._state = game.initial_state()
        self._paid = list(game.rewards(self._state))
        self._actions: list[tuple[int, Action]] = []
        self._chance_nodes = 0
        self._histories: list[list[tuple[Observation, Action | None]]] = [[] for _ in agents]
        self._seconds: list[list[float]] = [[] for _ in agents]
        self._fallbacks: list[dict[str, int]] = [{} for _ in agents]
        self._errors: list[dict[str, int]] = [{} for _ in agents]

    def play(self) -> Forfeit | None:
        """Plays the game and returns who forfeited it, None if nobody did."""
        try:
            self._seat_agents()
            self._play_to_the_end()
        except _Forfeited as stop:
            return stop.forfeit
        return None

    def say_end(self, forfeit: Forfeit | None) -> None:
        """Tells the agents that want to hear it how the game ended."""
        for agent in self._agents:
            if isinstance(agent, HearsTheEnd):
                agent.ended(self._returns(forfeit))

    def _seat_agents(self) -> None:
        for seat, agent in enumerate(self._agents):
            try:
                agent.start(self._game.info, seat, self._agent_seeds[seat])
            except AgentFailure as failure:
                raise _Forfeited(Forfeit(seat, failure.kind, failure.detail)) from failure

    def _play_to_the_end(self) -> None:
        limit = self._game.info.max_length or MAX_ACTIONS
        while (player := self._game.current_player(self._state)) != TERMINAL:
            if player == CHANCE:
                action = chance_action(self._game, self._state, self._deal_seed, self._chance_nodes, self._deck)
                self._chance_nodes += 1
                self._apply(player, action)
                continue
            if self.length >= limit:
                raise GameError(f"{self._game.info.id} did not end within {limit} actions: its rules are at fault.")
            self._apply(player, self._ask(player))

    @property
    def length(self) -> int:
        return len(self._actions) - self._chance_nodes

    def record(self, forfeit: Forfeit | None, sandbox: str | None) -> GameRecord:
        game = self._game
        reports = forfeit is None and isinstance(game, ReportsOutcome)
        return GameRecord(
            game=game.info.id,
            deal_seed=self._deal_seed,
            seats=tuple(agent.name for agent in self._agents),
            actions=tuple(self._actions),
            paid=tuple(self._paid),
            returns=tuple(self._returns(forfeit)),
            outcome=dict(game.outcome(self._state)) if reports and isinstance(game, ReportsOutcome) else None,
            forfeit=forfeit,
            length=self.length,
            fallbacks=tuple(self._fallbacks),
            model_errors=tuple(self._errors),
            sandbox=sandbox,
            seconds=tuple(tuple(row) for row in self._seconds),
            accounts={
                str(seat): agent.account() for seat, agent in enumerate(self._agents) if isinstance(agent, KeepsAccount)
            },
            thoughts=self._thoughts,
            deck=self._deck,
        )

    def _returns(self, forfeit: Forfeit | None) -> list[float]:
        return self._paid if forfeit is None else forfeit_returns(self._game, forfeit.seat, self._paid)

    def _ask(self, player: int) -> Action:
        agent = self._agents[player]
        legal = self._game.legal_actions(self._state)
        history = self._histories[player]
        history.append((observe(self._game, self._state, player, agent.view), None))
        turn = self._turn(player, agent, legal)
        begun = time.perf_counter()
        try:
            move = agent.act(turn)
        except AgentFailure as failure:
            raise _Forfeited(Forfeit(player, failure.kind, failure.detail)) from failure
        finally:
            self._seconds[player].append(time.perf_counter() - begun)
        self._note(player, move)
        if move.action not in legal:
            shown = ", ".join(legal[:10]) + (", …" if len(legal) > 10 else "")
            raise _Forfeited(Forfeit(player, "illegal", f"{move.action!r} is not among the {len(legal)}: {shown}"))
        history[-1] = (history[-1][0], move.action)
        return move.action

    def _turn(self, player: int, agent: Agent, legal: list[Action]) -> Turn:
        needs = agent.needs
        state: State | None = None
        if self._game.info.perfect_information and needs.state != "none":
            state = self._state if needs.state == "native" else state_to_json(self._game, self._state)
        # A game draws its default view alone; in another one the drawing could show too little or too much.
        default = agent.view == self._game.info.views[0]
        draws = needs.rendering and default and isinstance(self._game, RendersText)
        return Turn(
            player=player,
            history=tuple(self._histories[player]),
            state=state,
            legal_actions=tuple(legal) if needs.legal_actions else (),
            rendering=self._game.render(self._state, player) if draws and isinstance(self._game, RendersText) else None,
            seed=derive("move", self._agent_seeds[player], len(self._seconds[player])),
            explain=self._explain,
        )

    def _note(self, player: int, move: Move) -> None:
        if self._explain and move.thought is not None:
            self._thoughts[str(len(self._actions))] = move.thought
        if move.fallback is not None:
            self._fallbacks[player][move.fallback] = self._fallbacks[player].get(move.fallback, 0) + 1
        for message, count in move.errors.items():
            self._errors[player][message] = self._errors[player].get(message, 0) + count

    def _apply(self, player: int, action: Action) -> None:
        self._state = self._game.apply_action(self._state, action)
        self._actions.append((player, action))
        if self._on_action is not None:
            self._on_action(player, action)
        for index, reward in enumerate(self._game.rewards(self._state)):
            self._paid[index] += reward
