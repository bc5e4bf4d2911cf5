"""Agents of the arena as opponents in environments of other libraries."""

from arena.agents.api import Agent, AgentFailure, Turn
from games.adapters.seats import Asked
from games.api import Action, Game, GameError, state_to_json

SEED_BITS = 62


class SeatedAgent:
    """An agent at one seat, game after game."""

    def __init__(self, agent: Agent, game: Game) -> None:
        """Args:
        agent: in the game's default view.
        game: that is played.
        """
        self._agent, self._game = agent, game

    def __call__(self, asked: Asked) -> Action:
        """Returns what the agent plays.

        Raises:
            GameError: it gave no move.
        """
        agent, needs = self._agent, self._agent.needs
        state = asked.state if needs.state != "none" else None
        if state is not None and needs.state == "json":
            state = state_to_json(self._game, state)
        try:
            if len(asked.history) == 1:
                agent.close()
                agent.start(self._game.info, asked.player, asked.rng.getrandbits(SEED_BITS))
            turn = Turn(
                player=asked.player,
                history=tuple(asked.history),
                state=state,
                legal_actions=tuple(asked.legal) if needs.legal_actions else (),
                rendering=asked.draw() if needs.rendering else None,
                seed=asked.rng.getrandbits(SEED_BITS),
            )
            return agent.act(turn).action
        except AgentFailure as failure:
            raise GameError(
                f"{self._game.info.id}: the opponent {agent.name!r} at seat {asked.player} gave no move "
                f"({failure.kind}): {failure.detail}"
            ) from failure

    def close(self) -> None:
        """Ends the agent."""
        self._agent.close()
