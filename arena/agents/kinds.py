"""The kinds of agents: what each is, and what the rest of the arena has to know of it. One row a kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class AgentKind:
    """A kind of agents.

    Attributes:
        name: what a description begins with.
        help: how it is written and what it is, for people.
        model: what has to stand after the name, and how to write it; None if nothing does.
        searches: whether it is a planner and takes a planner's settings.
        sandboxed: whether it plays on a synthesised model, which nobody trusts, in worker processes; such an agent may
            have several of them, and may learn between games.
        asks: whether a language model is asked for its moves.
        guides: whether its policy may guide a search of the true game, of which `simulations` alone is set.
        trained: whether it plays a trained policy, which has its own view, and draws actions or takes the likeliest.
        terminal: whether a person plays, in the terminal.
        own: whether it is a class that is not ours, whose options are keyword arguments of it.
        program: whether it is a program of the user's, which is started for every game and seat.
        simultaneous: whether it is a planner for games of simultaneous moves, with settings of its own.
    """

    name: str
    help: str
    model: str | None = None
    searches: bool = False
    sandboxed: bool = False
    asks: bool = False
    guides: bool = False
    trained: bool = False
    terminal: bool = False
    own: bool = False
    program: bool = False
    simultaneous: bool = False


KINDS: Final[Mapping[str, AgentKind]] = {
    kind.name: kind
    for kind in (
        AgentKind("random", "random"),
        AgentKind("mcts", "mcts:sims=1000 or mcts:time=5 (seconds a move)", searches=True),
        AgentKind("ismcts", "ismcts:sims=1000,leaf=value (planners on the true game)", searches=True),
        AgentKind(
            "blueprint",
            "blueprint:sims=200,candidates=4,margin=0.05 (one ply over the game's policy prior, on the true game; "
            "candidates=1 plays the prior's likeliest action)",
            searches=True,
        ),
        AgentKind(
            "posg",
            "posg:ipomcp,types=H1+H2,sims=1200 or posg:pomcp,… (planners on the true game of simultaneous moves)",
            model="method: write posg:pomcp or posg:intmcp, or posg:ipomcp or posg:potmmcp with types=NAME+NAME",
            simultaneous=True,
        ),
        AgentKind(
            "cwm",
            "cwm:RUN,sims=… (a planner on a synthesised model; cwm:recorded: on that of the recording that ships for "
            "the game; of simultaneous moves cwm:RUN,method=pomcp,…)",
            model="model: write cwm:FOLDER, a run or a bundle",
            searches=True,
            sandboxed=True,
        ),
        AgentKind(
            "partner",
            "partner:NAME (a hand-written player of the game)",
            model="partner: write partner:NAME",
        ),
        AgentKind(
            "llm",
            "llm:PROVIDER:MODEL (a language model, asked for each move)",
            model="language model: write llm:PROVIDER:MODEL, e.g. llm:openai:MODEL or llm:spool:DIR",
            asks=True,
        ),
        AgentKind("human", "human (you, in the terminal)", terminal=True),
        AgentKind(
            "ippo",
            "ippo:NAME_OR_FOLDER (a policy that was trained on a batched game; greedy=true takes its likeliest action)",
            model="trained policy: write ippo:NAME, one that ships for the game, or ippo:FOLDER",
            trained=True,
        ),
        AgentKind(
            "learned",
            "learned:FOLDER (a policy that was trained on a model; sims=100 lets it guide a search of the true game)",
            model="training: write learned:FOLDER, that of `cwm train ppo`, or learned:recorded for one that ships",
            guides=True,
            trained=True,
        ),
        AgentKind(
            "python",
            "python:FILE:CLASS,OPTION=VALUE (a class of your own)",
            model="class: write python:FILE:CLASS, e.g. python:mine.py:Greedy",
            own=True,
        ),
        AgentKind(
            "exec",
            "exec:COMMAND (a program of your own in any language)",
            model="program: write exec:COMMAND, e.g. exec:./mine",
            program=True,
        ),
    )
}
"""By name; `arena.matches.seating` says how each is built."""

AT_A_TABLE: Final = ", ".join(kind.help for kind in KINDS.values() if not kind.terminal)
"""How agents of a tournament are written, for people."""
ANYBODY: Final = ", ".join(kind.help for kind in KINDS.values())
"""The same of one game in the terminal."""
