"""Good models with one thing changed at random: whatever comes of it has a name, and is never our fault."""

import ast
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from cwm.interface.answers import programs
from cwm.interface.program import TRANSITION_FUNCTIONS
from cwm.llm import recordings
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Limits, Outcome, ProgramSource, Reply
from cwm.suite.contract import PAYLOAD as CONTRACT
from games import registry
from games.api import GameInfo, state_to_json
from search import session
from search.api import PlannerConfig

TOYS = Path(__file__).parents[1] / "data" / "programs"
INFOS = {
    "tic_tac_toe": GameInfo("tic_tac_toe", 2, "win_loss_draw", -1.0, 1.0, True, False, ("x", "o"), 9),
    "high_card": GameInfo("high_card", 2, "zero_sum", -2.0, 2.0, False, True, ("first", "second"), 2),
}
INITIAL = {"tic_tac_toe": {"board": [None] * 9, "mark": "x"}, "high_card": {"cards": [], "moves": []}}
RECORDED = ["tic_tac_toe", "connect_four", "leduc_poker", "yokai-9c-2p"]
CLOSED_SET = set(Outcome) - {Outcome.INFRA_ERROR, Outcome.SANDBOX_UNAVAILABLE, Outcome.REFUSED_STATIC}
LIMITS = Limits(memory_mb=256, cpu_s=30, wall_s=0.4, reply_bytes=1_000_000)
RANDOM_PLAY = {"id": "r", "kind": "random_play", "data": {"num_players": 2, "max_length": 100}}
TRACE = {"games": 1, "max_actions": 50, "disturb": True}


class Mutation(ast.NodeTransformer):
    """Changes one node of a program, chosen at random."""

    def __init__(self, tree: ast.Module, rng: random.Random) -> None:
        self._rng = rng
        # What a formatted text is made of cannot be written down any more once it is changed.
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
        within = {id(part) for text in texts for part in ast.walk(text)}
        self._chosen = rng.choice([node for node in ast.walk(tree) if self._changes(node) and id(node) not in within])

    def visit(self, node: ast.AST) -> ast.AST | None:
        return self._changed(node) if node is self._chosen else self.generic_visit(node)

    def _changes(self, node: ast.AST) -> bool:
        kinds = (
            ast.Constant,
            ast.Compare,
            ast.BinOp,
            ast.Return,
            ast.If,
            ast.Subscript,
            ast.Assign,
            ast.Call,
            ast.Name,
        )
        return isinstance(node, kinds)

    def _changed(self, node: ast.AST) -> ast.AST | None:
        pick = self._rng.choice
        match node:
            case ast.Constant():
                return ast.Constant(pick([None, 0, -1, 10**9, "", "x", True, 0.5, 1e308, b"x"]))
            case ast.Compare():
                other = pick([ast.Eq, ast.NotEq, ast.Lt, ast.GtE, ast.In, ast.Is])()
                return ast.Compare(node.left, [other, *node.ops[1:]], node.comparators)
            case ast.BinOp():
                return ast.BinOp(
                    node.left, pick([ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.LShift, ast.Pow])(), node.right
                )
            case ast.Return():
                return pick([None, ast.Return(ast.Constant(None)), ast.Return(ast.Set([ast.Constant(1)]))])
            case ast.If():
                return ast.If(ast.Constant(pick([True, False])), node.body, node.orelse)
            case ast.Subscript():
                return ast.Subscript(node.value, ast.Constant(pick([0, -1, 7, "absent"])), node.ctx)
            case ast.Assign():
                return pick([None, ast.While(ast.Constant(True), [ast.Pass()], [])])
            case ast.Call():
                return pick([ast.Constant(None), ast.Call(node.func, node.args[1:], []), node.func])
            case _:
                return ast.Name(pick(["state", "action", "list", "None", "absent"]), getattr(node, "ctx", ast.Load()))


def mutated(source: str, rng: random.Random) -> str:
    """Returns a program with one to three nodes changed."""
    tree = ast.parse(source)
    for _ in range(rng.randint(1, 3)):
        tree = ast.fix_missing_locations(Mutation(tree, rng).visit(tree))
    return ast.unparse(tree)


def toy(name: str) -> ProgramSource:
    return ProgramSource((TOYS / f"{name}.py").read_text(encoding="utf-8"), INITIAL[name], asdict(INFOS[name]))


def recorded(name: str) -> ProgramSource:
    """Returns the first program of a recording, which is a right one."""
    answer = recordings.load(name).records[0].completion.text
    game = registry.make(name)
    state = state_to_json(game, game.initial_state())
    return ProgramSource(programs(answer, TRANSITION_FUNCTIONS, 1)[0], state, asdict(game.info))


def requests(worker: Worker, perfect: bool) -> list[Callable[[], Reply]]:
    """Returns what a model is put to: tests, a search, the contract, and a game that is compared with others."""
    algorithm = "mcts" if perfect else "ismcts"
    planner = PlannerConfig(algorithm, simulations=8, rollouts=1, max_rollout_actions=60, belief_size=4).to_json()
    play = {"games": 1, "max_actions": 30, "seats": [planner, "random"]}
    return [
        lambda: worker.run_tests([RANDOM_PLAY], seed=0, per_test_s=LIMITS.wall_s),
        lambda: worker.payload("search.session", "play", play, seed=0),
        lambda: worker.payload("games.contract.session", "check", {"games": 1, "seed": 0}, seed=0),
        lambda: worker.payload("games.contract.session", "trace", TRACE, seed=0),
    ]


def fuzz(program: ProgramSource, seeds: range) -> Counter[str]:
    """Returns how often each outcome came of mutants of a program, loaded, tested, searched and checked."""
    sandbox = Sandbox(LIMITS, "strong", (*session.PAYLOAD, *CONTRACT))
    seen: Counter[str] = Counter()
    for seed in seeds:
        mutant = replace(program, source=mutated(program.source, random.Random(f"mutant/{seed}")))
        for number in range(4):
            with sandbox.start(mutant) as worker:
                request = requests(worker, program.info["perfect_information"])[number]
                reply = request() if worker.loaded.outcome is Outcome.OK else worker.loaded
            assert reply.outcome in CLOSED_SET, (seed, number, reply, mutant.source)
            seen[reply.outcome] += 1
    return seen


@pytest.mark.parametrize("name", sorted(INFOS))
def test_mutants_of_toy_models_have_named_outcomes(name):
    assert fuzz(toy(name), range(8)).total() == 32


@pytest.mark.parametrize("name", RECORDED)
def test_mutants_of_recorded_models_have_named_outcomes(name):
    assert fuzz(recorded(name), range(3)).total() == 12


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("name", [*sorted(INFOS), *RECORDED])
def test_many_mutants_have_named_outcomes(name):
    program = toy(name) if name in INFOS else recorded(name)
    assert fuzz(program, range(1000, 1040)).total() == 160
