"""What is told of a game of `cwm play` at its end."""

from collections.abc import Sequence
from itertools import groupby

from rich.text import Text

from arena.agents.human import describe
from arena.agents.specs import AgentSpec
from arena.matches import replay
from arena.matches.match import GameRecord
from arena.terminal import console
from arena.terminal.game_words import result, words_of
from games.api import Game, RendersText


def tell(game: Game, specs: Sequence[AgentSpec], record: GameRecord) -> None:
    """Prints the finished game as it truly was, chance's actions too, and what it came to in words."""
    hidden = "" if game.info.perfect_information else ", with what was hidden"
    console.out.print(f"\nThe whole game{hidden}:")
    *_, (state, _, _) = replay.states(game, record)
    for player, actions in groupby(record.actions, key=lambda item: item[0]):
        _print(f"{game.info.player_name(player)}: {', '.join(action for _, action in actions)}")
    words = words_of(game)
    if isinstance(game, RendersText):
        drawing = Text(words.drawing(game.render(state)))
        for pattern, style in words.colours.items():
            drawing.highlight_regex(pattern, style)
        console.out.print(drawing)
    elif isinstance(state, dict):
        console.out.print(Text(f"The last state:\n{describe(state)}"))
    won = None if record.outcome is None else bool(record.outcome["won"])
    for seat, spec in enumerate(specs):
        word = result(game.info, seat, record.returns, won)
        _print(f"{game.info.player_name(seat)} ({spec.name}): {word}, {record.returns[seat]:g}")
    if record.outcome is not None and words.breakdown is not None:
        _print(words.breakdown(record.outcome))
    if record.forfeit is not None:
        fault = record.forfeit
        _print(f"forfeited by seat {fault.seat}: {fault.kind}: {fault.detail}")


def _print(text: str) -> None:
    console.out.print(Text(text), no_wrap=False, overflow="fold", soft_wrap=False)
