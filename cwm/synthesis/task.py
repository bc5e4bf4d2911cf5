"""What a program is to be written for."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any, Literal, TypeAlias

from cwm.interface import inference as inference_api
from cwm.interface import joint as joint_api
from cwm.interface.inference import STATE_FUNCTION
from cwm.interface.joint import JOINT_FUNCTIONS
from cwm.interface.program import INFERENCE_FUNCTION, TRANSITION_FUNCTIONS
from cwm.storage.keys import content_key
from cwm.suite import joint as joint_tests
from cwm.suite.build import BuildOptions, build
from cwm.suite.types import Kind, UnitTest
from cwm.trajectories.recorded import Deck, Trajectory
from cwm.trajectories.telling import UNNAMED, Telling
from games.api import CHANCE, TERMINAL, GameInfo, Json, ResamplesHistory
from games.posg.api import PosgInfo, PosgModel

Inference: TypeAlias = Literal["none", "history", "state"]
"""What the program infers from one player's history: nothing (perfect information), the whole history (G.3), or the
present state alone (G.4)."""

_EXAMPLE_DECISIONS = 3


@dataclass(frozen=True)
class ExampleHistory:
    """One input of an inference function from a recorded game.

    Attributes:
        player: whose history.
        history: the player's own observations and actions, the last action None.
        answer: the actions of all players and of chance that really led there.
        state: where they led.
    """

    player: int
    history: tuple[tuple[dict[str, Any], str | None], ...]
    answer: tuple[str, ...]
    state: Json


@dataclass(frozen=True)
class SynthesisTask:
    """The rules, the interface and the tests of one game.

    Attributes:
        rules: the rules in words, given to the model in full.
        info: players, utility, bounds.
        initial_state: bound to INITIAL_STATE before a program runs.
        trajectories: recorded games, for examples; none in the closed deck, where they hold more than may be shown.
        tests: every training test; a program is done when all pass.
        inference: what the program infers.
        deck: whether the hidden states of the recorded games are shown and tested.
        telling: what the model is told beside rules and tests.
        joint: what is fixed about a game of simultaneous moves whose program is to have a joint step; None for a
            program whose players take turns.
    """

    rules: str
    info: GameInfo
    initial_state: Json
    trajectories: tuple[Trajectory, ...]
    tests: tuple[UnitTest, ...]
    inference: Inference
    deck: Deck = "open"
    telling: Telling = UNNAMED
    joint: PosgInfo | None = None

    @classmethod
    def of(
        cls,
        rules: str,
        info: GameInfo,
        initial_state: Json,
        trajectories: Sequence[Trajectory],
        inference: Inference,
        reference: ResamplesHistory | None = None,
        deck: Deck = "open",
        telling: Telling = UNNAMED,
    ) -> "SynthesisTask":
        """Makes the task and its tests: transitions (in the open deck), inference where asked for, and random play.

        Args:
            rules: the rules in words.
            info: players, utility, bounds.
            initial_state: as JSON.
            trajectories: recorded games, at least one.
            inference: what the program infers.
            reference: draws histories on the true game, to know where several fit; None if there is none.
            deck: `closed`: of each game only what one player saw.
            telling: what the model is told beside rules and tests.

        Raises:
            ValueError: no trajectory was given, or the closed deck without inference of histories.
        """
        if not trajectories:
            raise ValueError("a synthesis needs at least one recorded game to make unit tests from; got none")
        if deck == "closed" and inference != "history":
            raise ValueError(f"a closed deck is tested by inferred histories alone; got inference {inference!r}")
        kinds: tuple[Kind, ...] = ("transition", "random_play")
        if inference != "none":
            kinds = ("transition", "inference", "random_play")
        options = BuildOptions(
            kinds=kinds,
            reference=reference,
            max_length=longest_game(info, trajectories),
            deck=deck,
            infers="state" if inference == "state" else "history",
            drawn=telling.drawn,
        )
        tests = tuple(build(trajectories, options))
        examples = () if deck == "closed" else tuple(trajectories)
        return cls(rules, info, initial_state, examples, tests, inference, deck, telling)

    @classmethod
    def of_joint(
        cls,
        rules: str,
        info: GameInfo,
        joint: PosgInfo,
        trajectories: Sequence[Trajectory],
        true_rules: PosgModel | None = None,
        telling: Telling = UNNAMED,
    ) -> "SynthesisTask":
        """Makes the task of a program with a joint step, and its tests.

        Args:
            rules: the rules in words.
            info: of the game in turns, as it was recorded.
            joint: what is fixed about the game.
            trajectories: recorded games, at least one.
            true_rules: say how likely what was recorded is; None where nobody has them.
            telling: what the model is told beside rules and tests.

        Raises:
            ValueError: no trajectory was given.
        """
        if not trajectories:
            raise ValueError("a synthesis needs at least one recorded game to make unit tests from; got none")
        tests = tuple(build(trajectories, BuildOptions(kinds=joint_tests.KINDS, joint=joint, rules=true_rules)))
        return cls(rules, info, None, (), tests, "none", telling=telling, joint=joint)

    @property
    def sampler(self) -> str | None:
        """Name of the inference function, None if the program infers nothing."""
        return {"none": None, "history": INFERENCE_FUNCTION, "state": STATE_FUNCTION}[self.inference]

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the functions that a program must define."""
        if self.joint is not None:
            return JOINT_FUNCTIONS
        return TRANSITION_FUNCTIONS if self.sampler is None else (*TRANSITION_FUNCTIONS, self.sampler)

    @property
    def interface(self) -> ModuleType | None:
        """The module that declares functions otherwise than `cwm.interface.program`, None for the usual ones."""
        if self.joint is not None:
            return joint_api
        return inference_api if self.deck == "closed" or self.inference == "state" else None

    @property
    def family(self) -> str:
        """Beginning of the names of its prompts; the usual ones have none."""
        if self.joint is not None:
            return "joint_"
        # The usual templates stay as they are: recorded completions answer them to the letter.
        return "" if self.interface is None else "hidden_"

    @property
    def purpose(self) -> str:
        """What usage is counted under."""
        if self.joint is not None:
            return "joint step"
        if self.deck == "closed":
            return "closed deck"
        named = {"none": "transition", "history": "transition+inference", "state": "transition+state inference"}
        return named[self.inference]

    def example_history(self) -> ExampleHistory | None:
        """Returns a short input of the inference function, None if there is none, or nothing to show.

        It is the first recorded one with three own decisions between which somebody else acted, or else the one that
        comes closest to that.
        """
        if self.inference == "none":
            return None
        best: tuple[tuple[bool, int], ExampleHistory] | None = None
        for trajectory in self.trajectories:
            for index, step in enumerate(trajectory.steps):
                if step.player in (CHANCE, TERMINAL):
                    continue
                example = _example(trajectory, index)
                own = [number for number in range(index) if trajectory.steps[number].player == step.player]
                foreign = bool(own) and any(other.player != step.player for other in trajectory.steps[own[0] : index])
                merit = (foreign, min(len(example.history), _EXAMPLE_DECISIONS))
                if best is None or merit > best[0]:
                    best = (merit, example)
                if merit == (True, _EXAMPLE_DECISIONS):
                    return example
        return None if best is None else best[1]

    def suite_hash(self, settings: dict[str, Any]) -> str:
        """Returns a key for test results: all tests, the initial state, and the settings that decide outcomes."""
        return content_key(
            {
                "tests": [asdict(test) for test in self.tests],
                "initial_state": self.initial_state,
                "info": described(self.info, self.joint),
                "settings": settings,
            }
        )


def described(info: GameInfo, joint: PosgInfo | None = None) -> dict[str, Any]:
    """Returns what a worker is told of a game, see `ProgramSource.info`."""
    return asdict(info) | ({} if joint is None else {"joint": asdict(joint)})


def longest_game(info: GameInfo, trajectories: Sequence[Trajectory]) -> int:
    """Returns how many actions a random game may take in a test, chance's included: generous, but with an end."""
    # `GameInfo.max_length` counts players' actions alone, and is unknown for a user's own game.
    recorded = max((len(trajectory.steps) for trajectory in trajectories), default=0)
    return max(1000, 4 * (info.max_length or 0), 4 * recorded)


def _example(trajectory: Trajectory, index: int) -> ExampleHistory:
    player = trajectory.steps[index].player
    actions = tuple(str(earlier.action) for earlier in trajectory.steps[:index])
    return ExampleHistory(player, tuple(trajectory.history(player, index)), actions, trajectory.steps[index].state)


def kinds(tests: Sequence[UnitTest]) -> list[str]:
    """Returns the kind of every test."""
    return [test.kind for test in tests]
