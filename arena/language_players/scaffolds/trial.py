"""Tries a wording before anybody plays: every prompt is written once, so that no game breaks at a bad template."""

from dataclasses import replace
from typing import Final

from arena.agents.api import Turn
from arena.agents.llm_settings import PLAIN, LlmConfig, LlmConfigError
from arena.language_players.prompts import GamePrompts
from arena.language_players.scaffolds.found import offered
from arena.language_players.scaffolds.prompts import Earlier, Proposal, Report, ScaffoldPrompts
from cwm.interface.templates import WordingError
from games.api import CHANCE, Game, observe

_FAILURES: Final = ("illegal", "truncated", "two_moves")


def check(config: LlmConfig, game: Game, view: str) -> None:
    """Writes every prompt of the first decision of a game in the words of a wording; does nothing without one.

    Args:
        config: how a language model is asked, as `found.check` let it pass.
        game: what is played.
        view: what is shown.

    Raises:
        LlmConfigError: a template cannot be filled in; the message says which and why.
    """
    if config.wording is None:
        return
    short = replace(config, trajectories=min(config.trajectories, 1))
    turn = _first(game, view)
    try:
        if config.scaffold == PLAIN:
            prompts = GamePrompts(game, short, view)
            prompts.decision(turn.player, turn.history, turn.legal_actions)
            for kind in _FAILURES:
                prompts.retry(kind, "(a reason)")
        else:
            _write(ScaffoldPrompts(game.info, offered(short, game, view)), turn)
    except WordingError as error:
        raise LlmConfigError(str(error)) from None


def _write(prompts: ScaffoldPrompts, turn: Turn) -> None:
    questions = prompts.question(turn, [Earlier("(a situation)", "(an answer)")])
    questions.asked()
    for role in prompts.roles:
        questions.of_role(role)
    questions.of_chooser([Proposal(turn.legal_actions[0], 1, ("(a reason)",))], 2)
    questions.of_aggregator([Report("(a role)", "(a report)")])
    for kind in _FAILURES:
        prompts.retry(kind, "(a reason)")


def _first(game: Game, view: str) -> Turn:
    state = game.initial_state()
    while game.current_player(state) == CHANCE:
        state = game.apply_action(state, game.legal_actions(state)[0])
    player = game.current_player(state)
    history = ((observe(game, state, player, view), None),)
    return Turn(player, history, None, tuple(game.legal_actions(state)), None, seed=0)
