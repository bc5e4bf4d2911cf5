"""The questions of one decision by a scaffold: the one to the player, to roles, to whoever chooses or decides last."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from arena.agents.api import Turn
from arena.language_players import notation
from arena.language_players.scaffolds.found import BEFORE_ALL, Offered
from cwm.interface import templates
from cwm.llm.api import Message
from games.api import Action, GameInfo
from games.scaffolds import Role


@dataclass(frozen=True)
class Earlier:
    """An own turn as the player is told of it later.

    Attributes:
        situation: the part of the prompt that told the situation and the legal moves, as it was sent.
        answer: the whole answer that was played.
    """

    situation: str
    answer: str


@dataclass(frozen=True)
class Proposal:
    """A move that some of several answers chose.

    Attributes:
        action: the move.
        count: how many chose it.
        reasons: what they gave as reasons, in their order.
    """

    action: Action
    count: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """What a role said; "" if nothing of it could be used."""

    role: str
    text: str


class ScaffoldPrompts:
    """Writes the prompts of one game by one scaffold; the same turn and memory give the same text.

    Args:
        info: of the game.
        offered: the scaffold with its texts.
    """

    def __init__(self, info: GameInfo, offered: Offered) -> None:
        self.scaffold = offered.scaffold
        self.hash = offered.hash
        self.notations = notation.own_notations(info.id)
        self.roles = tuple(role for role in offered.scaffold.roles if info.num_players >= role.least_players)
        self._texts = offered.texts

    def question(self, turn: Turn, memory: Sequence[Earlier] = ()) -> "Questions":
        """Returns a decision's questions.

        Args:
            turn: the decision.
            memory: the own turns before it that are told, oldest first.
        """
        return Questions(self, turn, tuple(memory))

    def retry(self, kind: str, reason: str) -> str:
        """Returns what is said after a bad answer."""
        return self.render("scaffold_retry", {"kind": kind, "reason": reason})

    def has(self, name: str) -> bool:
        """Tells whether there is a template of this name beside those in `prompts`."""
        return name in dict(self._texts)

    def render(self, name: str, values: dict[str, Any]) -> str:
        """Returns a template filled in, without empty lines around it."""
        return templates.render(name, self._texts, **values).strip("\n")


@dataclass(frozen=True)
class Questions:
    """What is asked at one decision.

    Attributes:
        prompts: of the game.
        turn: the decision.
        memory: the own turns before it that are told, oldest first.
    """

    prompts: ScaffoldPrompts
    turn: Turn
    memory: tuple[Earlier, ...]

    @cached_property
    def values(self) -> dict[str, Any]:
        """What templates are given."""
        told = self.prompts.scaffold
        return {
            **told.values(self.turn.player, self.turn.history),
            "legal_actions": list(self.turn.legal_actions),
            "labels": told.labels,
            "ratings": told.ratings,
            "deduction": told.deduction,
            "words": told.words,
        }

    @cached_property
    def situation(self) -> str:
        """The part of every prompt of this decision that tells the situation and the legal moves."""
        return "\n\n".join(self._rendered(name) for name in (self.prompts.scaffold.state, "scaffold_moves"))

    def asked(self) -> list[Message]:
        """Returns the question for a move."""
        return self._messages(self._rendered("scaffold_answer"))

    def of_role(self, role: Role) -> list[Message]:
        """Returns the question to one who reports."""
        words = [] if role.template is None else [self._rendered(role.template)]
        return self._messages(*words, *([self._rendered("scaffold_answer")] if role.moves else []))

    def of_chooser(self, proposals: Sequence[Proposal], answers: int) -> list[Message]:
        """Returns the question which of some proposals is best.

        Args:
            proposals: moves that differ.
            answers: how many answers there were.
        """
        told = {"proposals": proposals, "answers": answers}
        return self._messages(self.prompts.render("scaffold_proposals", self.values | told))

    def of_aggregator(self, reports: Sequence[Report]) -> list[Message]:
        """Returns the question to the one who decides on the reports of the others."""
        told = self.prompts.render("scaffold_reports", self.values | {"reports": reports})
        return self._messages(told, self._rendered("role_aggregator"), self._rendered("scaffold_answer"))

    def _messages(self, *asked: str) -> list[Message]:
        told = self.prompts.scaffold
        memory = [self.prompts.render("scaffold_memory", {"memory": self.memory})] if self.memory else []
        before = [self._rendered(BEFORE_ALL)] if self.prompts.has(BEFORE_ALL) else []
        text = "\n\n".join([*before, self._rendered(told.brief), *memory, self.situation, *asked])
        system = [] if told.system is None else [Message("system", self._rendered(told.system))]
        return [*system, Message("user", f"{text}\n")]

    def _rendered(self, name: str) -> str:
        return self.prompts.render(name, self.values)
