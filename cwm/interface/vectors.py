"""The two functions between observations and lists of floats: rendered into prompts as `cwm.interface.program` is."""

from typing import Final, Protocol

from cwm.interface.program import PlayerObservation


class VectorProgram(Protocol):
    """Observations as vectors and back (the CWM paper, D.1, there with numpy arrays)."""

    def observation_to_vector(self, observation: PlayerObservation, player_id: int) -> list[float]:
        """Returns what `player_id` sees as a list of finite floats, as long for every observation and every player.
        Nothing of the observation is lost. The same arguments give the same answer; `observation` is not changed."""
        ...

    def vector_to_observation(self, vector: list[float], player_id: int) -> PlayerObservation:
        """Returns the observation of which `observation_to_vector(observation, player_id)` made `vector`: the same
        keys, lists of the same lengths, whole numbers as `int`, other numbers as `float`. It knows `vector` and
        `player_id` and nothing else: it may be called in another process, with nothing encoded there before."""
        ...


ENCODE: Final = "observation_to_vector"
DECODE: Final = "vector_to_observation"
