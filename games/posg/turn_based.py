"""A `Game` as a `PosgModel`: in each step one agent is active, and what chance does until the next turn is drawn in it.

Standard library alone. Who is not to move is not active; at its place in a joint action stands `NOOP`. Agents are told
what they see when it is their turn and at the end; in between `{}`, so that nobody knows more than in the game.
"""

from collections.abc import Sequence
from typing import Any, Final

from games.api import CHANCE, TERMINAL, Action, Game, Json
from games.posg.api import Choose, Joint, Moved, PosgError, PosgInfo, PosgModel
from games.posg.serialised import SerialisedPosg

NOOP: Final = "noop"
MOST_STATES: Final = 200_000
"""Of a game whose actions are looked for."""


class Turn:
    """A state: that of the game, known by the actions that led to it."""

    __slots__ = ("actions", "state")

    def __init__(self, actions: tuple[Action, ...], state: Any) -> None:
        self.actions, self.state = actions, state

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Turn) and self.actions == other.actions

    def __hash__(self) -> int:
        return hash(self.actions)

    def __repr__(self) -> str:
        return f"Turn({self.actions!r})"


class TurnBased:
    """A game of turns as one of simultaneous moves; as JSON a state is the list of actions that led to it."""

    def __init__(
        self,
        game: Game,
        actions: Sequence[Sequence[Action]] | None = None,
        discount: float = 1.0,
    ) -> None:
        """Makes the model.

        Args:
            game: the game; chance may pay nothing before the first turn.
            actions: all actions of each agent, in the order in which they are listed; None: they are looked for in all
                states of the game.
            discount: of rewards a step.

        Raises:
            PosgError: actions are to be looked for, and the game has too many states.
        """
        info = game.info
        self._game = game
        bounds = info.min_utility - info.max_utility, info.max_utility - info.min_utility
        if actions is None:
            actions, bounds = _found_in(game)
        self.info = PosgInfo(
            id=info.id,
            agent_names=info.player_names,
            utility=info.utility,
            actions=tuple((NOOP, *own) for own in actions),
            min_step=bounds[0],
            max_step=bounds[1],
            min_utility=info.min_utility,
            max_utility=info.max_utility,
            step_limit=info.max_length,
            discount=discount,
            perfect_information=info.perfect_information,
        )

    def initial_state(self, choose: Choose) -> Turn:
        first = self._game.initial_state()
        turn, paid = self._to_turn(Turn((), first), choose)
        if any(paid):
            raise PosgError(f"{self.info.id} pays {paid} before the first turn, which no step can pay.")
        return turn

    def active(self, state: Turn) -> Sequence[int]:
        player = self._game.current_player(state.state)
        return () if player == TERMINAL else (player,)

    def legal_actions(self, state: Turn, agent: int) -> Sequence[Action]:
        if self._game.current_player(state.state) != agent:
            return ()
        legal = set(self._game.legal_actions(state.state))
        known = [action for action in self.info.actions[agent] if action in legal]
        if len(known) < len(legal):
            strange = ", ".join(sorted(legal - set(known)))
            raise PosgError(f"{self.info.id}: agent {agent} may do {strange}, which `actions` does not list.")
        return known

    def move(self, state: Turn, actions: Joint, choose: Choose) -> Moved:
        player = self._game.current_player(state.state)
        chosen = actions[player]
        after = Turn((*state.actions, chosen), self._game.apply_action(state.state, chosen))
        paid = self._game.rewards(after.state)
        turn, more = self._to_turn(after, choose)
        is_over = self._game.current_player(turn.state) == TERMINAL
        rewards = [first + second for first, second in zip(paid, more, strict=True)]
        return turn, rewards, (is_over,) * self.info.num_agents

    def observe(self, state: Turn, actions: Joint | None, choose: Choose) -> Sequence[Json]:
        player = self._game.current_player(state.state)
        shown = self._game.observations(state.state)
        return [seen if player in (agent, TERMINAL) else {} for agent, seen in enumerate(shown)]

    def state_to_json(self, state: Turn) -> Json:
        return list(state.actions)

    def state_from_json(self, described: Json) -> Turn:
        state = self._game.initial_state()
        for action in described:
            state = self._game.apply_action(state, action)
        return Turn(tuple(described), state)

    def observation_to_json(self, agent: int, observation: Json) -> Json:
        return observation

    def _to_turn(self, turn: Turn, choose: Choose) -> tuple[Turn, Sequence[float]]:
        """Lets chance act until it is somebody's turn, and returns what that paid."""
        total = [0.0] * self.info.num_agents
        number = 0
        while self._game.current_player(turn.state) == CHANCE:
            action = str(choose(f"chance {number}", self._game.chance_outcomes(turn.state)))
            turn = Turn((*turn.actions, action), self._game.apply_action(turn.state, action))
            total = [paid + more for paid, more in zip(total, self._game.rewards(turn.state), strict=True)]
            number += 1
        return turn, total


def model_of(game: Game) -> PosgModel:
    """Returns the model behind a game that is played in turns, or a game of turns as one.

    Raises:
        PosgError: see `TurnBased`.
    """
    return game.model if isinstance(game, SerialisedPosg) else TurnBased(game)


def _found_in(game: Game) -> tuple[list[list[Action]], tuple[float, float]]:
    """Returns all actions of each player and the bounds of what one action pays, from all histories of a game.

    The actions of a player stand in the order in which longer lists of legal ones name them first.
    """
    found: list[dict[tuple[Action, ...], None]] = [{} for _ in range(game.info.num_players)]
    waiting, least, most = [game.initial_state()], 0.0, 0.0
    count = 0
    while waiting:
        state = waiting.pop()
        count += 1
        if count > MOST_STATES:
            raise PosgError(
                f"{game.info.id} has more than {MOST_STATES:,} histories, too many to look for its actions; give them."
            )
        player, legal = game.current_player(state), game.legal_actions(state)
        if player >= 0:
            found[player].setdefault(tuple(legal))
        rewards = game.rewards(state)
        least, most = min(least, *rewards), max(most, *rewards)
        waiting += [game.apply_action(state, action) for action in legal]
    return [_merged(sorted(lists, key=len, reverse=True)) for lists in found], (least, most)


def _merged(lists: Sequence[Sequence[Action]]) -> list[Action]:
    """Returns what lists hold, each new entry before the known one that follows it in its list."""
    merged: list[Action] = []
    for one in lists:
        for number, action in enumerate(one):
            if action not in merged:
                later = [merged.index(other) for other in one[number + 1 :] if other in merged]
                merged.insert(min(later, default=len(merged)), action)
    return merged
