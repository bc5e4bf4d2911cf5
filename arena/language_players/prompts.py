"""What a language model at the table is told: rules, recorded games, its own history, nothing that is hidden."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena.agents.llm_settings import History, LlmConfig
from arena.language_players import notation
from cwm.interface import templates
from cwm.trajectories.recorded import Step, Trajectory, collect
from cwm.trajectories.vocabulary import Vocabulary
from games import registry
from games.api import CHANCE, DEFAULT_VIEW, Action, Game, GameInfo, ObsActionHistory, Observation
from games.viewed import with_view

SHOWN_LEGAL: Final = 12
"""Legal actions that a step of a recorded game shows, at most."""

_LEGENDS: Final[Mapping[History, str]] = {
    "json": "Each line is one action: who moved, what that player saw, some of its legal actions, what it did. "
    "The last line is the end: what each player saw there and its return.",
    "table": "Each row is one action: who moved, what that player saw, what it did. Of what a player saw, only the "
    "fields that changed since its own row before are given. The last row is the end, with the returns.",
}
_HISTORY_LEGENDS: Final[Mapping[History, str]] = {
    "json": "",
    "table": " The row of now is whole; of what you saw before, a row gives only the fields that changed.",
}


class GamePrompts:
    """Writes the prompts of one game; the same turn gives the same text.

    Args:
        game: the true game; its rules must be known to the registry.
        config: what is shown.
        view: which of the game's views the player is shown.

    Raises:
        games.api.GameError: the game has no rules text.
    """

    def __init__(self, game: Game, config: LlmConfig, view: str = DEFAULT_VIEW) -> None:
        self._info = game.info
        self._config = config
        self._wording = () if config.wording is None else tuple(config.wording["templates"].items())
        self._rules = registry.book_of(game)
        # What only states hold is no player's business, its names included.
        listed = registry.vocabulary(game.info.id) if registry.knows(game.info.id) else None
        self._names = None if listed is None else Vocabulary.from_json(listed).closed().to_json()
        self.notations = notation.own_notations(game.info.id)
        recorded = collect(with_view(game, view), config.trajectories, config.trajectories_seed)
        self._trajectories = [trajectory_text(trajectory, game.info, config.history) for trajectory in recorded]

    def decision(self, player: int, history: ObsActionHistory, legal: Sequence[Action]) -> str:
        """Returns the question for a move.

        Args:
            player: who is asked.
            history: its own decision points, the last action None.
            legal: its legal actions; shown only if the options say so.
        """
        shown = list(legal) if self._config.show_legal else None
        return templates.render("player", self._wording, **self.values(player, history), legal_actions=shown)

    def values(self, player: int, history: ObsActionHistory) -> dict[str, Any]:
        """Returns what templates are given of a decision, but for its legal actions.

        Args:
            player: who is asked.
            history: its own decision points, the last action None.
        """
        described = (notation.DESCRIPTION, self.notations.description)
        return {
            "rules": self._rules,
            "names": self._names,
            "complete": True,
            "player_names": self._info.player_names,
            "trajectories": self._trajectories,
            "legend": _LEGENDS[self._config.history],
            "notation": " ".join(text for text in described if text),
            "player": player,
            "player_name": self._info.player_name(player),
            "history": history_text(history, self._config.history),
            "history_legend": _HISTORY_LEGENDS[self._config.history],
        }

    def retry(self, kind: str, reason: str) -> str:
        """Returns what is said after a bad answer."""
        return templates.render("player_retry", self._wording, kind=kind, reason=reason)


def history_text(history: ObsActionHistory, form: History) -> str:
    """Returns a player's own decision points, oldest first, the last one without an action."""
    if form == "json":
        rows = [
            {"decision": number, "observation": seen, "action": action}
            for number, (seen, action) in enumerate(history, 1)
        ]
        return "\n".join(map(_json, rows))
    lines = ["| decision | what you saw | what you did |", "|---|---|---|"]
    before: Observation = {}
    for number, (seen, action) in enumerate(history, 1):
        # The row of now is whole: nobody should have to add up the rows before it.
        shown = _changes(before, seen) if action is not None else _fields(seen)
        lines.append(f"| {number} | {shown} | {action or '(now)'} |")
        before = seen
    return "\n".join(lines)


def trajectory_text(trajectory: Trajectory, info: GameInfo, form: History) -> str:
    """Returns a whole recorded game: every action, and what its player saw."""
    if form == "json":
        return "\n".join(_json(_step(step, trajectory)) for step in trajectory.steps)
    lines = ["| who | what the player saw | action |", "|---|---|---|"]
    before: dict[int, Observation] = {}
    for step in trajectory.steps:
        name = info.player_name(step.player)
        if step.action is None:
            returns = ", ".join(f"{value:g}" for value in trajectory.returns)
            lines.append(f"| {name} | {' / '.join(map(_fields, step.observations))} | returns: {returns} |")
        elif step.player == CHANCE:
            lines.append(f"| {name} | | {step.action} |")
        else:
            seen = step.observations[step.player]
            lines.append(f"| {name} | {_changes(before.get(step.player, {}), seen)} | {step.action} |")
            before[step.player] = seen
    return "\n".join(lines)


def _step(step: Step, trajectory: Trajectory) -> dict[str, Any]:
    if step.action is None:
        return {"player": step.player, "observations": list(step.observations), "returns": trajectory.returns}
    if step.player == CHANCE:
        return {"player": step.player, "action": step.action}
    legal = list(step.legal_actions[:SHOWN_LEGAL])
    rest = len(step.legal_actions) - len(legal)
    return {
        "player": step.player,
        "observation": step.observations[step.player],
        "legal_actions": legal + ([f"… and {rest} more"] if rest else []),
        "action": step.action,
    }


def _changes(before: Observation, seen: Observation) -> str:
    return _fields({name: value for name, value in seen.items() if name not in before or before[name] != value})


def _fields(seen: Observation) -> str:
    return "; ".join(f"{name}: {_json(value)}" for name, value in seen.items()).replace("|", "\\|") or "(as before)"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
