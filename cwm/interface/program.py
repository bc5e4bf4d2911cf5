"""The functions that a synthesised program defines. The prompts' API section is rendered from these very classes."""

from typing import Any, Protocol, TypeAlias

Action: TypeAlias = str
State: TypeAlias = dict[str, Any]
PlayerObservation: TypeAlias = dict[str, Any]


class TransitionProgram(Protocol):
    """The game itself (the CWM paper, G.2; `get_chance_outcomes` is ours)."""

    def apply_action(self, state: State, action: Action) -> State:
        """Returns the state after `action`, a chance action too. Must not change `state` or share mutable parts
        that a later call changes."""
        ...

    def get_current_player(self, state: State) -> int:
        """Returns the player to move: 0, 1, ...; -1 for chance; -4 when the game is over."""
        ...

    def get_player_name(self, player_id: int) -> str:
        """Returns the name of a player, 'chance' for -1 and 'terminal' for -4."""
        ...

    def get_rewards(self, state: State) -> list[float]:
        """Returns each player's reward for the last action (not the sum so far), as floats."""
        ...

    def get_legal_actions(self, state: State) -> list[Action]:
        """Returns the legal actions of the player to move, the possible outcomes at a chance node, [] at the end."""
        ...

    def get_chance_outcomes(self, state: State) -> list[tuple[Action, float]]:
        """Returns every outcome with its exact probability at a chance node, and [] anywhere else."""
        ...

    def get_observations(self, state: State) -> list[PlayerObservation]:
        """Returns what each player sees, by player id: nothing that this player cannot know."""
        ...


class HiddenHistoryProgram(Protocol):
    """Inference of the whole history (the CWM paper, G.3)."""

    def resample_history(
        self, obs_action_history: list[tuple[PlayerObservation, Action | None]], player_id: int
    ) -> list[Action]:
        """Samples at random one of the histories that `player_id` cannot tell from the real one: the actions of all
        players and of chance, from INITIAL_STATE up to now. Replayed, they must recreate every observation and every
        action of `player_id` at its own decision points, which is all that `obs_action_history` holds (oldest first;
        the last action is None, since it is still to be chosen). Where several histories fit, different calls
        return different ones, drawn with the probabilities that chance gives them. Use the module `random`."""
        ...


class ValueProgram(Protocol):
    """A value function (the CWM paper, G.7)."""

    def value_function(self, state: State, player_id: int) -> float:
        """Returns the reward of `player_id` if the game is over, else an estimate of what that player will still be
        paid in all. Always a float, the same for the same arguments."""
        ...


class PolicyProgram(Protocol):
    """A policy prior: how a sensible player would choose."""

    def policy_prior(self, state: State, legal_actions: list[Action], player_id: int) -> list[float]:
        """Returns how likely a sensible player is to take each of `legal_actions` as `player_id`, whose turn it is:
        one probability for each action, in their order, each greater than 0, summing to 1. The player knows only what
        `player_id` has seen so far: what it cannot know must not change the answer, although the whole state is
        given. The same arguments give the same answer. Must be fast, and change neither argument."""
        ...


TRANSITION_FUNCTIONS = (
    "apply_action",
    "get_current_player",
    "get_player_name",
    "get_rewards",
    "get_legal_actions",
    "get_chance_outcomes",
    "get_observations",
)
INFERENCE_FUNCTION = "resample_history"
VALUE_FUNCTION = "value_function"
POLICY_FUNCTION = "policy_prior"
