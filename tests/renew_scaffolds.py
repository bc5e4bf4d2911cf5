"""The prompts of Hanabi's scaffolds at one position: `python -m tests.renew_scaffolds` writes them anew.

For maintainers, after a template has changed on purpose. Stored games keep the hash of their templates.
"""

import random
from pathlib import Path
from typing import Final

from arena.agents.api import Turn
from arena.agents.llm_settings import LlmConfig
from arena.language_players.scaffolds import found
from arena.language_players.scaffolds.prompts import Earlier, Questions, ScaffoldPrompts
from cwm.llm.api import Message
from games import registry
from games.api import CHANCE, DEFAULT_VIEW, Action, Game, ObsActionHistory, State
from games.hanabi.partners import PARTNERS
from games.hanabi.scaffolds import SCAFFOLDS
from games.viewed import with_view

FOLDER: Final = Path(__file__).parent / "data" / "scaffolds"
GAME: Final = "hanabi-mini-2p"
SEED: Final = 4
GENERAL: Final = ("rated",)
"""Scaffolds of every game that are pinned, too."""


def prompts_of(name: str, game: Game, **options: object) -> ScaffoldPrompts:
    """Returns what writes the prompts of a scaffold."""
    config = LlmConfig(scaffold=name, **options)  # type: ignore[arg-type]
    view = (SCAFFOLDS[name].view if name in SCAFFOLDS else None) or DEFAULT_VIEW
    return ScaffoldPrompts(game.info, found.offered(config, game, view))


def histories(game: Game, actions: list[Action], view: str) -> tuple[State, list[ObsActionHistory]]:
    """Returns the last state and every player's own decision points in a view; the last one of its player is open."""
    seen = with_view(game, view)
    told: list[list[tuple[dict[str, object], Action | None]]] = [[] for _ in range(game.info.num_players)]
    state = game.initial_state()
    for action in actions:
        player = game.current_player(state)
        if player >= 0:
            told[player].append((seen.observations(state)[player], action))
        state = game.apply_action(state, action)
    player = game.current_player(state)
    if player >= 0:
        told[player].append((seen.observations(state)[player], None))
    return state, list(told)


def turn_of(game: Game, actions: list[Action], view: str) -> Turn:
    """Returns the decision after some actions."""
    state, told = histories(game, actions, view)
    player = game.current_player(state)
    return Turn(player, tuple(told[player]), None, tuple(game.legal_actions(state)), None, seed=1)


def position(game: Game) -> list[Action]:
    """Returns the actions that lead to the position that is told, the turn before the last of a game of two bots."""
    rng, actions, state = random.Random(SEED), list[Action](), game.initial_state()
    while game.observations(state)[0]["final_turns"] != 2:
        if game.current_player(state) == CHANCE:
            outcomes = game.chance_outcomes(state)
            actions.append(rng.choices([action for action, _ in outcomes], [share for _, share in outcomes])[0])
        else:
            turn = turn_of(game, actions, DEFAULT_VIEW)
            actions.append(PARTNERS["simple"](turn.history, turn.legal_actions, rng))
        state = game.apply_action(state, actions[-1])
    return actions


def texts(name: str) -> str:
    """Returns the question of a scaffold at the position, with what it remembers; of a general one, in Kuhn poker."""
    if name not in SCAFFOLDS:
        poker = registry.make("kuhn_poker")
        turn = turn_of(poker, ["Deal:2", "Deal:1"], DEFAULT_VIEW)
        return shown(Questions(prompts_of(name, poker, trajectories=0), turn, (Earlier("(then)", "(answer)"),)).asked())
    game = registry.make(GAME)
    prompts = prompts_of(name, game)
    turn = turn_of(game, position(game), SCAFFOLDS[name].view or "")
    memory = [Earlier("(the situation then)", "(the answer then)")] * prompts.scaffold.memory
    return shown(Questions(prompts, turn, tuple(memory)).asked())


def shown(messages: list[Message]) -> str:
    """Returns messages as text."""
    return "\n".join(f"<{message.role}>\n{message.text.rstrip()}" for message in messages) + "\n"


def main() -> None:
    """Writes all files."""
    FOLDER.mkdir(exist_ok=True)
    for name in (*SCAFFOLDS, *GENERAL):
        (FOLDER / f"{name}.txt").write_text(texts(name), encoding="utf-8")


if __name__ == "__main__":
    main()
