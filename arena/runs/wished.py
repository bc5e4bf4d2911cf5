"""What a synthesis is asked for: the settings of the run that it replays, or the usual ones, and what the user says.

None stands for what the user left open.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from arena.runs.how_told import HowTold
from arena.runs.inputs import Inputs
from arena.runs.replayed import recorded_settings
from arena.runs.settings import DEFAULT_LLM, MOST_FURTHER_ROUNDS, RunSettings
from arena.usage import UsageError
from cwm.functions.joint.kinds import kinds_for
from cwm.functions.types import FunctionConfig
from cwm.interface.wording import USUAL, Wording
from cwm.speed.task import SpeedConfig
from cwm.synthesis.config import NEW, SynthesisConfig
from games.posg.registry import knows as is_simultaneous

_USUAL: Final[Mapping[str, Any]] = {
    "deck": "open",
    "inference": "history",
    "vectors": None,
    "faster": None,
    "further_games": 0,
}
"""Settings that are for programs whose players take turns, as they are where nobody asked for them."""


@dataclass(frozen=True)
class Ways:
    """How the game is told and the program asked for; by these a recording is found.

    Attributes:
        told: whether the rules text is given.
        detail: see `arena.runs.how_told.HowTold`, as the next three.
        vocabulary: see there.
        chance: see there.
        wording: see there.
        deck: see `arena.runs.hidden_information.HiddenInformation`, as the next.
        inference: see there.
        method: of the synthesis.
    """

    told: bool = True
    detail: str | None = None
    vocabulary: str | None = None
    chance: str | None = None
    wording: Wording | None = None
    deck: str | None = None
    inference: str | None = None
    method: str | None = None

    def settings(self) -> dict[str, Any]:
        """Returns those that were said, as fields of `RunSettings`."""
        said: dict[str, Any] = {"rules_detail": self.detail, "wording": self.wording}
        said |= {"deck": self.deck, "inference": self.inference}
        if self.method is not None:
            said["synthesis"] = SynthesisConfig.from_json({"method": self.method})
        return _said(said) | {"told": self.told}


@dataclass(frozen=True)
class Start:
    """What is settled before games are played or read.

    Attributes:
        settings: of the recorded run that is replayed, else the usual ones of a live model.
        how: how the game is told.
        replayed: whether they are those of a recorded run.
    """

    settings: RunSettings
    how: HowTold
    replayed: bool

    def held_out(self, said: int | None) -> int | None:
        """Returns how many of a user's own games are kept for the test, None if nothing says so."""
        own = self.replayed and not self.settings.registered
        return self.settings.held_out_games if said is None and own else said

    def settled(
        self,
        inputs: Inputs,
        numbers: Mapping[str, int | None],
        named: Mapping[str, FunctionConfig],
        synthesis: Mapping[str, Any],
        faster: int | None = None,
        **said: Any,
    ) -> RunSettings:
        """Returns the settings of the run.

        Args:
            inputs: its games.
            numbers: candidates by kind of function.
            named: settings of the kinds that the user asks for.
            synthesis: settings of the synthesis, by name.
            faster: faster versions to ask for.
            **said: further ones, by name.

        Raises:
            SynthesisConfigError: a setting of the synthesis is unknown or out of range.
            UsageError: a program with a joint step has nothing of what is asked for.
        """
        start = self.settings
        own = replace(
            start,
            game=inputs.info.id,
            registered=inputs.game is not None,
            train_games=len(inputs.train),
            held_out_games=len(inputs.held_out),
            synthesis=SynthesisConfig.from_json(start.synthesis.to_json() | _said(synthesis)),
            rules_detail=self.how.detail,
            vocabulary=self.how.names,
            chance=self.how.chance,
            wording=self.how.wording,
            **_said(said),
        )
        if faster is not None:
            own = replace(own, faster=SpeedConfig(num_candidates=faster, seed=own.seed) if faster else None)
        left = {name: config for name, config in start.asked_functions.items() if numbers.get(name) is None}
        without = replace(own, value=None, prior=None, vectors=None, functions={})
        asked = left | dict(named)
        functions = {kind.name: asked[kind.name] for kind in kinds_for(start.joint) if kind.name in asked}
        return _with_joint_step(without.with_functions(functions))


def begin(game: str | None, llm: str | None, base_url: str | None, seed: int | None, ways: Ways) -> Start:
    """Returns what a run begins from.

    Args:
        game: registry id; None for a user's own.
        llm: `PROVIDER:MODEL`; None for the recorded completions that ship.
        base_url: address of a server that speaks the provider's API.
        seed: None for that of the recording, else 0.
        ways: as the user gave them.

    Raises:
        UsageError: ways are unknown, or do not go together.
        SynthesisConfigError: the method is unknown.
        RecordingError: the recording is missing, or not as it was written.
    """
    joint: dict[str, Any] = {"joint": True, "further_games": 0} if game and is_simultaneous(game) else {}
    wished = RunSettings(
        game=game or "",
        registered=game is not None,
        llm=llm or DEFAULT_LLM,
        base_url=base_url,
        seed=seed or 0,
        further_rounds=MOST_FURTHER_ROUNDS,
        **ways.settings(),
        **joint,
    )
    recorded = recorded_settings(wished, seed)
    if recorded is None:
        how = HowTold.asked(game, ways.detail or "book", ways.vocabulary, ways.chance, ways.told, ways.wording or USUAL)
        usual = SynthesisConfig.from_json({**wished.synthesis.to_json(), **NEW, "seed": wished.seed})
        return Start(replace(wished, synthesis=usual), how, False)
    recorded = replace(recorded, told=recorded.told and ways.told)
    how = recorded.how_told
    if (ways.detail, ways.vocabulary, ways.chance, ways.wording) != (None, None, None, None):
        detail, wording = ways.detail or how.detail, ways.wording or how.wording
        how = HowTold.asked(game, detail, ways.vocabulary, ways.chance, recorded.told, wording)
    return Start(recorded, how, True)


def _with_joint_step(settings: RunSettings) -> RunSettings:
    """Returns the settings of a run, without what only programs in turns have.

    Raises:
        UsageError: something is asked for that a program with a joint step has not.
    """
    if not settings.joint:
        return settings
    for name, usual in _USUAL.items():
        if getattr(settings, name) != usual:
            raise _refused(settings, name)
    return replace(settings, planner_games=0)


def check_single(settings: RunSettings, syntheses: int) -> None:
    """Checks that several syntheses are not asked for where their models could not be chosen among.

    Raises:
        UsageError: they are, of programs with a joint step.
    """
    if settings.joint and syntheses > 1:
        raise _refused(settings, "syntheses")


def _refused(settings: RunSettings, option: str) -> UsageError:
    return UsageError(
        f"In {settings.game} the agents act at the same time, and its program has a joint step: the option `{option}` "
        "is for games in turns; leave it out."
    )


def _said(wishes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in wishes.items() if value is not None}
