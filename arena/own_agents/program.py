"""A program in any language at the table, over lines of JSON on its input and output: arena/docs/AGENTS.md."""

import hashlib
import json
import os
import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from arena.agents.api import AgentFailure, Move, Needs, Turn
from arena.agents.own_settings import ProgramConfig
from arena.agents.specs import AgentSpec, AgentSpecError
from arena.own_agents.line_process import EndedError, FloodError, LateError, LineProcess
from cwm.llm.provider_table import key_variables
from games import registry
from games.api import DEFAULT_VIEW, Game, GameError, GameInfo

PROTOCOL: Final = 1
_SEEDS: Final = 2**31
"""Seeds are smaller: some languages have no larger whole numbers."""
_SHOWN: Final = 120
Heard = Callable[[str, str], None]
"""Is told of every line: "sent" or "received", and the line."""


def resolve(spec: AgentSpec) -> AgentSpec:
    """Returns an agent with its limits written out and the hash of the files that its command names.

    Raises:
        AgentSpecError: the command is none, or there is no such program.
    """
    words, folder = _words(spec), _folder(spec)
    if shutil.which(_path(words[0], folder)) is None:
        raise AgentSpecError(
            f"agent {spec.name!r}: no program {words[0]!r} can be run from {folder}: correct the command, "
            "or make the file executable with `chmod +x`."
        )
    options = ProgramConfig.from_json(spec.options).to_json()
    return replace(spec, options=options, folder=folder, model_hash=_hash(spec))


def build(spec: AgentSpec, game: Game, heard: Heard | None = None) -> "ProgramAgent":
    """Builds an agent that `resolve` returned.

    Args:
        spec: the agent.
        game: the true game, for its rules text.
        heard: is told of every line; None for nobody.

    Raises:
        AgentSpecError: a file of its command changed since it was resolved.
    """
    spec.check_unchanged(_hash(spec), f"a file of the command {spec.model!r}")
    command = ProgramCommand(tuple(_words(spec)), _folder(spec), ProgramConfig.from_json(spec.options))
    return ProgramAgent(command, _rules(game), spec.name, spec.view, heard)


@dataclass(frozen=True)
class ProgramCommand:
    """What is started, and where.

    Attributes:
        words: of the command; no shell reads them.
        folder: where it is started.
        config: its limits.
    """

    words: tuple[str, ...]
    folder: str
    config: ProgramConfig


class ProgramAgent:
    """A process of its own for one game; it is told what any agent is told, and of nothing that is hidden.

    Attributes:
        exit_code: how the process of the last game ended when its input was closed; None if it had to be killed.
        settle_s: seconds that are waited for lines nobody asked for, before each question.
    """

    needs = Needs(legal_actions=True)

    def __init__(
        self,
        command: ProgramCommand,
        rules: str | None,
        name: str,
        view: str = DEFAULT_VIEW,
        heard: Heard | None = None,
    ) -> None:
        """Args:
        command: what is started.
        rules: the game's rules for people, None if it has none.
        name: label in tables.
        view: which of the game's views it is shown.
        heard: is told of every line; None for nobody.
        """
        self.name = name
        self.view = view
        self.exit_code: int | None = None
        self.settle_s = 0.0
        self._command = command
        self._rules = rules
        self._heard = heard or (lambda way, line: None)
        self._process: LineProcess | None = None

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self.close()
        command = self._command
        try:
            self._process = LineProcess(command.words, command.folder, _environment())
        except OSError as error:
            raise AgentFailure("crash", f"{command.words[0]!r} cannot be started: {error.strerror}") from error
        hello = {
            "type": "hello",
            "protocol": PROTOCOL,
            "game": info.id,
            "players": info.num_players,
            "seat": seat,
            "player_names": info.player_names,
            "utility": info.utility,
            "perfect_information": info.perfect_information,
            "view": self.view,
            "seed": seed % _SEEDS,
            "time_s": command.config.move_s,
            "rules": self._rules,
        }
        self._ask(self._process, hello, command.config.start_s, "ready")

    def act(self, turn: Turn) -> Move:
        """Asks for a move.

        Raises:
            AgentFailure: no answer came in time, the program ended, or its answer is none.
        """
        if self._process is None:
            raise AgentFailure("crash", "its program does not run")
        move_s = self._command.config.move_s
        question = {
            "type": "move",
            "player": turn.player,
            "observation": turn.observation,
            "legal_actions": turn.legal_actions,
            "seed": turn.seed % _SEEDS,
            "time_s": move_s,
        }
        answer = self._ask(self._process, question, move_s, "action")
        if "action" not in answer:
            raise AgentFailure("unparsable", f"{_shown(json.dumps(answer))} has no field 'action'")
        if not isinstance(answer["action"], str):
            raise AgentFailure("unparsable", f"its action is {_shown(json.dumps(answer['action']))}, which is no text")
        return Move(answer["action"])

    def ended(self, returns: Sequence[float]) -> None:
        if self._process is not None:
            try:
                self._send(self._process, {"type": "end", "returns": list(returns)}, time.monotonic() + 1)
            except (LateError, EndedError, FloodError):
                return

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            self.exit_code = process.end()

    def _ask(self, process: LineProcess, question: dict[str, Any], limit_s: float, wanted: str) -> dict[str, Any]:
        """Sends a message and returns the answer, of the type `wanted`; lines of type `info` are for people."""
        what = str(question["type"])
        try:
            if what != "hello":
                # A greeting that comes early is read as the answer that it is, whoever is faster.
                self._refuse_early(process, what)
            deadline = time.monotonic() + limit_s
            self._send(process, question, deadline)
            while True:
                line = process.receive(deadline)
                self._heard("received", line.decode("utf-8", "replace"))
                answer = _parsed(line)
                if answer.get("type") != "info":
                    break
        except LateError as error:
            raise AgentFailure(
                "timeout", f"no answer to {what!r} within {limit_s:g} s{error}{_said(process)}"
            ) from None
        except FloodError:
            raise AgentFailure("truncated", f"it wrote more than is taken when asked for {what!r}") from None
        except EndedError as error:
            raise AgentFailure("crash", f"{error} when asked for {what!r}{_said(process)}") from None
        if answer.get("type") != wanted:
            raise AgentFailure(
                "unparsable", f"{_shown(json.dumps(answer))} is not of the type {wanted!r}, which answers {what!r}"
            )
        return answer

    def _refuse_early(self, process: LineProcess, what: str) -> None:
        early = process.unread(self.settle_s).decode("utf-8", "replace")
        if early:
            self._heard("received", early.splitlines()[0])
            raise AgentFailure("unparsable", f"it wrote {_shown(early)} before it was asked for {what!r}")

    def _send(self, process: LineProcess, message: dict[str, Any], deadline: float) -> None:
        line = json.dumps(message, allow_nan=False)
        self._heard("sent", line)
        process.send(line.encode("ascii") + b"\n", deadline)


def _parsed(line: bytes) -> dict[str, Any]:
    text = line.decode("utf-8", "replace").strip()
    if not text:
        raise AgentFailure("empty", "it answered with an empty line")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AgentFailure("unparsable", f"{_shown(text)} is no JSON: {error}") from None
    if not isinstance(answer, dict):
        raise AgentFailure("unparsable", f"{_shown(text)} is no JSON object")
    return answer


def _said(process: LineProcess) -> str:
    words = process.last_words()
    return f"; its last words: {words}" if words else ""


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def _environment() -> dict[str, str]:
    """Returns our variables but those that may hold a key of a language model."""
    secret = set(key_variables())
    return {name: value for name, value in os.environ.items() if name not in secret}


def _rules(game: Game) -> str | None:
    try:
        return registry.rules_of(game)
    except GameError:
        return None


def _words(spec: AgentSpec) -> list[str]:
    try:
        words = shlex.split(spec.model or "")
    except ValueError as error:
        raise AgentSpecError(f"agent {spec.name!r}: {spec.model!r} is no command: {error}.") from error
    if not words:
        raise AgentSpecError(f"agent {spec.name!r} names no program: write exec:COMMAND.")
    return words


def _folder(spec: AgentSpec) -> str:
    return spec.folder or os.getcwd()


def _path(word: str, folder: str) -> str:
    return str(Path(folder) / word) if os.sep in word else word


def _hash(spec: AgentSpec) -> str:
    """Returns the SHA-256 of the command and of every file that it names by its path."""
    digest = hashlib.sha256()
    for word in _words(spec):
        digest.update(word.encode() + b"\0")
        file = Path(_folder(spec)) / word
        try:
            if file.is_file():
                digest.update(hashlib.sha256(file.read_bytes()).digest())
        except (OSError, ValueError):
            # Whoever starts it will be told.
            continue
    return digest.hexdigest()
