"""Tree search over programs: Thompson sampling chooses which one to refine, as in REx (the CWM paper, 4.1 and C.1.3).

A program with pass rate h that was refined f times in vain has the Beta distribution

    alpha = 1 + C * h        beta = 1 + C * (1 - h) + f

and the largest of one draw from each wins. C.1.3 prints beta = 1 + (1 - C) * h. That is an erratum: with C = 5 it is
1 - 4 h, which is negative from h = 0.25 on (and 0 there), no parameter of a Beta distribution; and it would not fall
with what a program lacks. The form above is REx's own, failed refinements included, so the posterior moves after each
of them.

Unless the policy is `rex`, a refinement also learns from the ones before it: see `POLICIES`.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cwm.llm.api import Message
from cwm.synthesis.attempts import NOTHING, Attempts
from cwm.synthesis.candidate import Candidate
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.conversation import Conversation, is_stuck
from cwm.synthesis.refiner import Answer, PromptWriter, RefinementStep

REPAIRS_OF_UNFIT = 2
"""A first program that falls short of the entry value is repaired so often before a new one is asked for."""


@dataclass
class Arm:
    """A program that may be chosen.

    Attributes:
        candidate: the program.
        failed: refinements of it that gave no program worth refining.
        succeeded: refinements of it that did.
    """

    candidate: Candidate
    failed: int = 0
    succeeded: int = 0


def beta_parameters(heuristic: float, failed: int, weight: float) -> tuple[float, float]:
    """Returns alpha and beta of a program's Beta distribution.

    Args:
        heuristic: pass rate h, in [0, 1].
        failed: failed refinements of it.
        weight: C; more means more exploitation.
    """
    return 1.0 + weight * heuristic, 1.0 + weight * (1.0 - heuristic) + failed


class TreeSearch:
    """Keeps the programs worth refining and draws one for each step.

    Args:
        writer: writes the prompts.
        config: weight, thresholds and seed.
    """

    def __init__(self, writer: PromptWriter, config: SynthesisConfig) -> None:
        self._writer = writer
        self._config = config
        self._arms: dict[int, Arm] = {}
        self._unfit: dict[int, Arm] = {}
        self._steps = 0
        self._next: Candidate | None = None
        self._best: Candidate | None = None
        self._attempts = Attempts()
        self._in_vain = 0
        self._anew = False
        self._chat: Conversation | None = None

    @property
    def arms(self) -> list[Arm]:
        """The programs that may be chosen, by id."""
        return [self._arms[key] for key in sorted(self._arms)]

    def propose(self) -> RefinementStep:
        """Draws a program to refine; while none is worth it, repairs an unfit one or asks for a first one."""
        if self._chat is not None:
            return self._chat.propose()
        draws = self._draws()
        self._steps += 1
        if self._next is not None:
            candidate, self._next = self._next, None
            return self._refinement(candidate, {})
        if self._anew or not draws:
            self._anew = False
            told = self._attempts.approaches() if self._config.policy.rotates else NOTHING
            return RefinementStep((Message("user", self._writer.synthesis(told)),), None)
        chosen = max(draws, key=lambda key: (draws[key], -key))
        return self._refinement((self._arms or self._unfit)[chosen].candidate, draws)

    def _refinement(self, candidate: Candidate, draws: dict[int, float]) -> RefinementStep:
        told = self._attempts.at(candidate) if self._config.policy.rotates else NOTHING
        return RefinementStep((Message("user", self._writer.refinement(candidate, told)),), candidate, draws)

    def observe(self, step: RefinementStep, answer: Answer, candidates: Sequence[Candidate]) -> None:
        """Adds the programs that gained enough, and moves the posterior of the one that was refined."""
        if self._chat is not None:
            self._chat.observe(step, answer, candidates)
            return
        fit = [candidate for candidate in candidates if self._is_fit(candidate, step.parent)]
        self._arms.update((candidate.id, Arm(candidate)) for candidate in fit)
        unfit = [item for item in candidates if item not in fit and item.duplicate_of is None]
        if not self._arms:
            self._unfit.update((candidate.id, Arm(candidate)) for candidate in unfit)
        self._best = max([*filter(None, [self._best]), *candidates], key=Candidate.rank, default=None)
        if answer.is_whole and self._config.policy.rotates:
            self._learn(step.parent, candidates, bool(fit))
        if step.parent is None:
            return
        arm = self._arms.get(step.parent.id) or self._unfit.get(step.parent.id)
        if arm is not None and fit:
            arm.succeeded += 1
        elif arm is not None:
            arm.failed += 1

    def _learn(self, parent: Candidate | None, candidates: Sequence[Candidate], gained: bool) -> None:
        """Takes note of what was tried, and turns to something else where it leads nowhere."""
        self._attempts.answered(parent, candidates)
        if parent is None:
            self._in_vain = 0
            return
        self._attempts.refined(parent, candidates)
        self._in_vain = 0 if gained else self._in_vain + 1
        if not is_stuck(self._in_vain, candidates, self._config):
            return
        self._in_vain = 0
        if self._config.policy.stuck == "fresh":
            self._anew = True
        elif self._best is not None:
            self._chat = Conversation(self._writer, self._config, self._attempts)
            self._chat.begin(self._best)

    def begin(self, candidate: Candidate) -> None:
        """Takes a program as the root of the tree, to be refined first."""
        self._attempts.answered(None, [candidate])
        self._best = candidate
        self._arms[candidate.id] = Arm(candidate)
        self._next = candidate

    def retested(self, writer: PromptWriter, candidates: Mapping[int, Candidate], chosen: int) -> None:
        """Keeps the tree: its programs have new pass rates, and the next step refines the one that passed before."""
        self._writer = writer
        self._attempts.retested(candidates)
        self._best = candidates[chosen]
        if self._chat is not None:
            self._chat.retested(writer, candidates, chosen)
            return
        for arms in (self._arms, self._unfit):
            for key, arm in arms.items():
                arm.candidate = candidates[key]
        self._next = candidates[chosen]
        self._in_vain, self._anew = 0, False

    def _draws(self) -> dict[int, float]:
        rng = random.Random(f"thompson/{self._config.seed}/{self._steps}")
        open_arms = self._arms or {key: arm for key, arm in self._unfit.items() if arm.failed < REPAIRS_OF_UNFIT}
        draws: dict[int, float] = {}
        for key in sorted(open_arms):
            arm = open_arms[key]
            draws[key] = rng.betavariate(
                *beta_parameters(arm.candidate.heuristic, arm.failed, self._config.heuristic_weight)
            )
        return draws

    def _is_fit(self, candidate: Candidate, parent: Candidate | None) -> bool:
        if candidate.duplicate_of is not None or candidate.status in ("rejected", "broken"):
            return False
        least = self._config.min_heuristic_value_on_init
        if parent is None or parent.id not in self._arms:
            return candidate.heuristic >= least
        lacking = 1.0 - parent.heuristic
        gain = min(self._config.min_heuristic_value_gain, lacking / 2.0)
        # Pass rates are ratios of counts: a gain of exactly the threshold must not fail by rounding.
        return candidate.heuristic - parent.heuristic >= max(gain - 1e-12, 1e-12)
