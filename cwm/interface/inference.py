"""Inference functions other than the open deck's: rendered into prompts as `cwm.interface.program` is."""

from typing import Protocol

from cwm.interface.program import Action, PlayerObservation, State


class ClosedDeckProgram(Protocol):
    """Inference of the whole history, the end of the game included (the CWM paper, G.5)."""

    def resample_history(
        self,
        obs_action_history: list[tuple[PlayerObservation, Action | None]],
        player_id: int,
        last_is_terminal: bool,
    ) -> list[Action]:
        """Samples at random one of the histories that `player_id` cannot tell from the real one: the actions of all
        players and of chance, from INITIAL_STATE on. Replayed, they must recreate every observation and every action
        of `player_id` at its own decision points, which is what `obs_action_history` holds (oldest first). Its last
        action is None. Without `last_is_terminal` the last observation is that of the decision that `player_id` has
        to make now, and the history ends there. With `last_is_terminal` it is what `player_id` saw when the game was
        over, and the history ends with the last action of the game. Where several histories fit, different calls
        return different ones, drawn with the probabilities that chance gives them. Use the module `random`."""
        ...


class HiddenStateProgram(Protocol):
    """Inference of the present state alone (the CWM paper, G.4)."""

    def resample_state(
        self, obs_action_history: list[tuple[PlayerObservation, Action | None]], player_id: int
    ) -> State:
        """Samples at random one of the states in which the game may be now, as far as `player_id` can know: one that
        can be reached from INITIAL_STATE by a history in which `player_id` saw and did, at its own decision points,
        what `obs_action_history` holds (oldest first; the last action is None, since it is still to be chosen). It is
        `player_id`'s turn there, and its observation is the last one given. Where several states fit, different calls
        return different ones, drawn with the probabilities that chance gives them. Use the module `random`."""
        ...


STATE_FUNCTION = "resample_state"
