"""One game that a person plays in the browser: it is played in a thread, and the page is told what its seat may see."""

import threading
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from arena.agents.specs import AgentSpec
from arena.machine import shipped
from arena.machine.runtime import Runtime
from arena.matches import replay, seating
from arena.matches.game_source import open_game
from arena.matches.match import GameRecord, play
from arena.one_game import kept
from arena.terminal.game_words import result, words_of
from arena.web import sight
from arena.web.seat import BrowserAgent, PlayerLeftError
from cwm.storage.keys import derive
from games.api import CHANCE, TERMINAL, Action, Game, GameInfo, State

Phase: TypeAlias = Literal["starting", "playing", "over", "left", "failed"]

KEPT_STEPS: Final = 120
"""Positions that a page which fell behind is shown one by one; older ones it has missed."""


@dataclass(frozen=True)
class Wishes:
    """What a person wants to play.

    Attributes:
        game: as `arena.matches.game_source.open_game` takes it.
        seat: the person's.
        agents: descriptions of the others, by seat without the person's.
        seed: of the deal.
        view: what the person is shown.
        folder: keeps the game; None: a new one in `runs`.
    """

    game: str
    seat: int
    agents: tuple[str, ...]
    seed: int
    view: str
    folder: Path | None = None

    @property
    def described(self) -> list[str]:
        """Returns descriptions by seat, the person's included."""
        return [*self.agents[: self.seat], f"human:view={self.view}", *self.agents[self.seat :]]


@dataclass
class _Course:
    """How far a game is; the game's thread writes it, pages read it."""

    phase: Phase = "starting"
    mover: int | None = None
    steps: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=KEPT_STEPS))
    count: int = 0
    about: dict[str, Any] = field(default_factory=dict)
    end: dict[str, Any] | None = None
    error: str = ""


class Table:
    """One game, from its deal to its end. All calls of the game are its thread's.

    Args:
        wishes: what to play.
    """

    def __init__(self, wishes: Wishes) -> None:
        self.wishes = wishes
        self._agent = BrowserAgent("human", wishes.view)
        self._course = _Course()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"table of {wishes.game}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def is_running(self) -> bool:
        return self._course.phase in ("starting", "playing")

    def wait(self, timeout_s: float) -> None:
        """Waits for the end of the game."""
        self._thread.join(timeout_s)

    def choose(self, turn: int, action: Action) -> bool:
        """Takes a move of the person; returns whether it is legal now."""
        return self._agent.choose(turn, action)

    def leave(self) -> None:
        """Has the game end without a result, at the person's next turn."""
        self._agent.leave()

    def version(self) -> str:
        """Returns a text that changes with everything that a page is told."""
        course, agent = self._course, self._agent
        return f"{course.phase}.{course.count}.{agent.turn}.{len(agent.legal)}"

    def told(self, after: int) -> dict[str, Any]:
        """Returns what the page shows.

        Args:
            after: number of positions that the page has seen.
        """
        version = self.version()
        with self._lock:
            course = self._course
            legal = list(self._agent.legal)
            return {
                "version": version,
                "phase": course.phase,
                "about": course.about,
                "mover": self.wishes.seat if legal else course.mover,
                "turn": self._agent.turn,
                "legal": legal,
                "count": course.count,
                "steps": [step for step in course.steps if step["number"] >= after],
                "end": course.end,
                "error": course.error,
            }

    # ---------------------------------------------------------------- in the game's thread

    def _run(self) -> None:
        try:
            with open_game(self.wishes.game) as game:
                self._play(game)
        except PlayerLeftError:
            self._course.phase = "left"
        except Exception as error:
            # A page is told what the terminal would say; the server goes on with its other tables.
            self._course.error = str(error) or type(error).__name__
            self._course.phase = "failed"

    def _play(self, game: Game) -> None:
        wishes = self.wishes
        specs = kept.seated(wishes.described, game)
        runtime = Runtime(shipped.level_of([spec.model_hash for spec in specs if spec.traits.sandboxed]))
        config, plan = kept.planned(wishes.game, specs, wishes.seed, runtime)
        names = _names(game.info, specs, wishes.seat)
        self._course.about = _about(game, names, wishes)
        follower = _Follower(self, game, names)
        agents = [
            self._agent if seat == wishes.seat else seating.build(spec, game, runtime)
            for seat, spec in enumerate(specs)
        ]
        self._course.phase = "playing"
        record = play(
            game,
            agents,
            plan.deal_seed,
            [derive("agent", plan.course, seat) for seat in range(len(agents))],
            runtime.level if any(spec.traits.sandboxed for spec in specs) else None,
            follower.acted,
            explain=True,
        )
        folder = kept.folder_for(wishes.game, wishes.folder)
        kept.keep(folder, config, plan, record, game)
        self._course.end = _end(game, record, names, wishes, folder)
        self._course.phase = "over"

    def show(self, mover: int, step: dict[str, Any]) -> None:
        """Takes the next position; called by the game's thread."""
        with self._lock:
            course = self._course
            course.mover = mover
            course.steps.append({"number": course.count, **step})
            course.count += 1


class _Follower:
    """Goes along the game, and shows the table what its person sees of it."""

    def __init__(self, table: Table, game: Game, names: list[str]) -> None:
        self._table = table
        self._game = game
        self._names = names
        self._state: State = game.initial_state()
        self._show(None)

    def acted(self, player: int, action: Action) -> None:
        """Takes what a player, or chance, has done."""
        self._state = self._game.apply_action(self._state, action)
        seat = self._table.wishes.seat
        text = sight.told(self._game, self._state, player, action, seat, self._names)
        who = "chance" if player == CHANCE else self._names[player]
        self._show(None if text is None else {"seat": player, "who": who, "text": text})

    def _show(self, told: dict[str, Any] | None) -> None:
        mover = self._game.current_player(self._state)
        if mover == CHANCE and told is None:
            return
        wishes = self._table.wishes
        seen = sight.seen(self._game, self._state, wishes.seat, wishes.view, self._names)
        self._table.show(mover, {"told": told, "mover": None if mover in (CHANCE, TERMINAL) else mover, **seen})


def _names(info: GameInfo, specs: list[AgentSpec], seat: int) -> list[str]:
    """Returns how the players are called, by seat."""
    own = [f"{info.player_name(number)} ({spec.name})" for number, spec in enumerate(specs)]
    return [f"{info.player_name(seat)} (you)" if number == seat else name for number, name in enumerate(own)]


def _about(game: Game, names: list[str], wishes: Wishes) -> dict[str, Any]:
    words = words_of(game)
    return {
        "game": game.info.id,
        "named": wishes.game,
        "names": names,
        "players": list(game.info.player_names),
        "seat": wishes.seat,
        "note": words.note(wishes.view),
        "turns": game.info.max_length,
    }


def _end(game: Game, record: GameRecord, names: list[str], wishes: Wishes, folder: Path) -> dict[str, Any]:
    """Returns what is told when nothing is hidden any more."""
    *_, (state, _, _) = replay.states(game, record)
    won = None if record.outcome is None else bool(record.outcome["won"])
    rows = [
        {"name": name, "result": result(game.info, seat, record.returns, won), "return": record.returns[seat]}
        for seat, name in enumerate(names)
    ]
    words = words_of(game)
    fault = record.forfeit
    return {
        "rows": rows,
        "breakdown": "" if record.outcome is None or words.breakdown is None else words.breakdown(record.outcome),
        "forfeit": "" if fault is None else f"{names[fault.seat]} forfeits: {fault.kind}: {fault.detail}",
        "actions": [["chance" if player == CHANCE else names[player], action] for player, action in record.actions],
        "seed": wishes.seed,
        "folder": str(folder),
        **sight.whole(game, state, wishes.seat, names),
    }
