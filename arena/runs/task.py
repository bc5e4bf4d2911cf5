"""What a run's model is written for and tested on, made from its inputs."""

from arena.runs.hidden_information import HiddenInformation
from arena.runs.inputs import Inputs
from cwm.suite import joint
from cwm.suite.build import BuildOptions
from cwm.suite.types import Kind
from cwm.synthesis.task import SynthesisTask, longest_game
from games.api import ResamplesHistory

OPEN = HiddenInformation()


def make_task(inputs: Inputs, hidden: HiddenInformation = OPEN) -> SynthesisTask:
    """Returns rules, interface and unit tests of the game as the synthesis takes them."""
    if inputs.joint_info is not None:
        return SynthesisTask.of_joint(
            inputs.rules, inputs.info, inputs.joint_info, inputs.train, inputs.joint, inputs.telling
        )
    return SynthesisTask.of(
        inputs.rules,
        inputs.info,
        inputs.initial_state,
        inputs.train,
        "none" if inputs.info.perfect_information else hidden.inference,
        reference_of(inputs),
        hidden.deck,
        inputs.telling,
    )


def reference_of(inputs: Inputs) -> ResamplesHistory | None:
    """Returns the reference game's own inference function, None if there is none."""
    return inputs.game if isinstance(inputs.game, ResamplesHistory) else None


def build_options(inputs: Inputs, value: bool, hidden: HiddenInformation = OPEN) -> BuildOptions:
    """Returns which tests are made of a game's trajectories."""
    if inputs.joint_info is not None:
        return BuildOptions(kinds=joint.KINDS, joint=inputs.joint_info, rules=inputs.joint)
    kinds: list[Kind] = ["transition", "random_play"]
    if not inputs.info.perfect_information:
        kinds.append("inference")
    if value:
        kinds.append("value")
    return BuildOptions(
        kinds=tuple(kinds),
        reference=reference_of(inputs),
        max_length=longest_game(inputs.info, inputs.train),
        deck=hidden.deck,
        infers=hidden.inference,
        drawn=inputs.telling.drawn,
    )
