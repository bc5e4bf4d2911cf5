"""Prompts for a twin: the game, the verified module, the interface, the layout of vectors, and what differed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cwm.interface import templates, text
from cwm.interface import twin as interface
from cwm.observations.described import described
from cwm.sandbox.parent.static_check import ALLOWED_MODULES
from cwm.synthesis.attempts import NOTHING, Told
from cwm.synthesis.candidate import Candidate
from cwm.twins.differences import listing
from cwm.twins.proof import ProofResult
from cwm.twins.task import TwinTask, shown

MOST_MOMENTS: Final = 30
MOST_EXAMPLES: Final = 20_000
"""Characters."""
WITH_VECTORS: Final = 4
"""So many moments of the first game are told with their vectors."""


@dataclass(frozen=True)
class TwinReport:
    """What became of one twin.

    Attributes:
        problems: why it could not be compared, one paragraph each; () if it was.
        proof: what comparing came to, None if it was not compared.
    """

    problems: tuple[str, ...] = ()
    proof: ProofResult | None = None

    @property
    def proved(self) -> bool:
        """Whether it equals its program as far as was asked for."""
        return self.proof is not None and self.proof.proved


class TwinPrompts:
    """Writes every prompt; a `cwm.synthesis.refiner.PromptWriter`.

    Args:
        task: what the twin is written for.
        reports: of every candidate by the hash of its source, filled in by whoever tests them.
    """

    def __init__(self, task: TwinTask, reports: Mapping[str, TwinReport]) -> None:
        self._reports = reports
        program, sample = task.program, task.sample
        modules = {*ALLOWED_MODULES, *interface.TWIN_MODULES}
        self._templates = task.telling.templates
        self._shared: dict[str, Any] = {
            "rules": task.rules,
            **task.telling.words(),
            "player_names": task.info.player_names,
            "initial_state": repr(program.initial_state),
            "source": program.source,
            "interface": text.render(interface.TWIN_FUNCTIONS, interface),
            "allowed_modules": sorted(modules),
            "sampled": sample.games,
            "num_actions": len(sample.actions),
            "actions": shown(sample.actions),
            "num_outcomes": len(sample.outcomes),
            "outcomes": shown(sample.outcomes),
            "width": task.vectors.width,
            "vectors": described(task.vectors.part),
            "examples": examples(task),
        }

    def synthesis(self, approaches: Told = NOTHING) -> str:
        """Returns the first prompt."""
        return templates.render("twin", **self._shared)

    def refinement(self, candidate: Candidate, attempts: Told = NOTHING) -> str:
        """Returns a fresh prompt with the twin and what is wrong with it."""
        told = self._verdict(candidate) | {"attempts": attempts.lines}
        return templates.render("twin_repair", **self._shared, **told, candidate=candidate.source)

    def follow_up(self, candidate: Candidate, num_given: int, turn: int = 0) -> str:
        """Returns the next message of a conversation whose last answer held a twin."""
        return templates.render("twin_follow_up", **self._templates, **self._verdict(candidate))

    def no_program(self) -> str:
        """Returns the next message of a conversation whose last answer held no twin."""
        told: dict[str, Any] = {"functions": interface.TWIN_FUNCTIONS, "num_programs": 1}
        return templates.render("no_program", **self._templates, **told)

    def _verdict(self, candidate: Candidate) -> dict[str, Any]:
        report = self._reports[candidate.hash]
        proof = report.proof
        if proof is None:
            return {"problems": report.problems, "summary": "", "groups": []}
        number = proof.state.transitions
        summary = f"It was traced and compiled. {number:,} transitions of the module were compared with it."
        return {"problems": (), "summary": summary, "groups": listing(proof.state.differences)}


def examples(task: TwinTask) -> str:
    """Returns moments of a few games as text."""
    lines: list[str] = []
    size = 0
    for number, game in enumerate(task.sample.history):
        lines.append(f"# game {number + 1}")
        left = MOST_MOMENTS if number == 0 else MOST_MOMENTS // 3
        moments = list(game) if len(game) <= left else [*game[: left - 5], *game[-5:]]
        for place, moment in enumerate(moments):
            if place == left - 5 and len(game) > left:
                lines.append(f"# … {len(game) - left} moments are left out")
            told = list(_moment(task, moment, number == 0 and (place < WITH_VECTORS or place == len(moments) - 1)))
            size += sum(map(len, told))
            if size > MOST_EXAMPLES:
                return "\n".join([*lines, "# (and so on)"])
            lines += told
    return "\n".join(lines)


def _moment(task: TwinTask, moment: Mapping[str, Any], with_vectors: bool) -> Iterator[str]:
    yield f"state = {json.dumps(moment['state'])}"
    player = moment["player"]
    if player == -1:
        yield f"  chance: {json.dumps(moment['chance'])}"
    elif player >= 0:
        yield f"  player {player}, legal: {json.dumps(moment['legal'])}"
    if any(moment["rewards"]) or player == -4:
        yield f"  rewards: {json.dumps(moment['rewards'])}"
    if with_vectors:
        for who, observation in enumerate(moment["observations"]):
            numbers = task.vectors.encode(observation)
            told = ", ".join(f"[{place}] = {number:g}" for place, number in enumerate(numbers) if number)
            yield f"  vector of player {who}: {told or 'all 0'}"
    if moment["action"] is not None:
        yield f"  action: {json.dumps(moment['action'])}"
