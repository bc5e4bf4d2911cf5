"""The functions beside a program with a joint step, rendered into prompts as `cwm.interface.program` is.

A state of such a program holds what the future depends on, and not what the agents have seen: a policy and an inference
are given an agent's own history, so that they cannot know more. Policies are called as those beside programs in turns
are, and so are the others.
"""

from typing import Any, Final, Protocol, TypeAlias

Action: TypeAlias = str
State: TypeAlias = Any
Observation: TypeAlias = Any
History: TypeAlias = list[tuple[Observation, Action | None]]

ALIASES: Final = ("Action", "State", "Observation", "History")
"""Type names that the signatures use."""


class JointValueProgram(Protocol):
    """What a state is worth."""

    def value_function(self, state: State, agent: int, steps: int) -> float:
        """Returns what `agent` may expect to be paid in at most `steps` further steps, as the game is played by agents
        who act sensibly and know only what they have seen: the sum of its rewards, that of the next step in full and
        each later one discounted once for every step before it. 0.0 if `steps` is 0 or the game is over for `agent`.
        Always a finite float, the same for the same arguments. Must be fast, and not change `state`."""
        ...


class JointPolicyProgram(Protocol):
    """How a sensible agent would choose."""

    def policy_prior(self, history: History, legal: list[Action], agent: int) -> list[float]:
        """Returns how likely a sensible agent is to take each of the actions `legal` as `agent`, who is to act: one
        probability for each action, in their order, each greater than 0, summing to 1. `history` is all that the agent
        knows of the game: what `observe` told it on every arrival, from the start on, oldest first, each with what it
        did then; the last action is None, since it is still to be chosen. The same arguments give the same answer. Must
        be fast, and change neither argument."""
        ...


class JointInferenceProgram(Protocol):
    """What is hidden from an agent, drawn from what it saw and did."""

    def resample_history(self, history: History, agent: int) -> list[tuple[list[Action] | None, dict[str, Any]]]:
        """Samples at random one of the games that `agent` cannot tell from the real one. `history` is what `observe`
        told it on every arrival, from the start on, oldest first, each with what it did then; the last action is None.
        Returns as many entries, one for the start and one for every step: the actions of all agents (None at the start)
        and what chance drew, by label. Replayed with them, the program must tell `agent` exactly what it was told, at
        every arrival, and it must have done what it did. Different calls return different games, drawn with the
        probabilities that they have given the history, as if the other agents had chosen uniformly among what was legal
        for them. Use the module `random`."""
        ...


VALUE_FUNCTION: Final = "value_function"
POLICY_FUNCTION: Final = "policy_prior"
INFERENCE_FUNCTION: Final = "resample_history"
