"""Unit tests of a program, made from recorded games: what they ask and what came out (the CWM paper, appendix G).

A test is data. A worker runs it (`cwm.sandbox.inside.runner`); the prompt shows it as text (`render`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cwm.sandbox.wire.api import Outcome, Reply
from cwm.suite import closed_deck, joint
from cwm.suite.several_histories import SeveralHistories, SeveralStates
from cwm.suite.types import Kind, UnitTest, UnitTestResult
from cwm.trajectories.recorded import Deck, Infers, Step, Trajectory
from games.api import CHANCE, TERMINAL, Json, ResamplesHistory
from games.posg.api import PosgInfo, PosgModel

RANDOM_PLAY_GAMES = 2


@dataclass(frozen=True)
class BuildOptions:
    """Which tests are made.

    Attributes:
        kinds: `transition` and `value` need recorded states; `inference` is hidden-history inference (G.3) in the open
            deck, unless `deck` or `infers` say otherwise.
        samples: histories drawn and replayed at each decision point.
        several_draws: where several histories are known to fit, at most so many are drawn until two differ. Large, so
            that a right program whose belief is concentrated does not fail by chance; it stops at the second.
        reference: draws histories on the true game, to know where several fit; recorded games are evidence too.
        random_plays: random-play tests (G.5), each with its own seed.
        max_length: a random game must end within so many actions, chance's included.
        deck: in the closed deck (G.5) the recorded states are not looked at, and of each game only what one player saw.
        infers: whether `inference` asks for the whole history or for the present state alone (G.4).
        return_draws: in the closed deck, histories of a whole game drawn at most until one pays what was paid.
        drawn: of chance's first outcomes no table is known: the one that happened must be among those that the program
            lists, whatever else is.
        joint: of a game of simultaneous moves whose program has a joint step: what is fixed about it. Then `kinds` are
            of those of `cwm.suite.joint`.
        rules: its true rules, None where nobody has them.
    """

    kinds: tuple[Kind, ...] = ("transition", "random_play")
    samples: int = 5
    several_draws: int = 300
    reference: ResamplesHistory | None = None
    random_plays: int = RANDOM_PLAY_GAMES
    max_length: int = 1000
    deck: Deck = "open"
    infers: Infers = "history"
    return_draws: int = 1000
    drawn: bool = False
    joint: PosgInfo | None = None
    rules: PosgModel | None = None


def build(trajectories: Sequence[Trajectory], options: BuildOptions = BuildOptions()) -> list[UnitTest]:
    """Makes the tests of some recorded games: one a transition, one a player's decision point, one a random game.

    Args:
        trajectories: recorded games. Steps without a state give no transition and no value tests, nor does any step in
            the closed deck.
        options: which tests.

    Returns:
        The tests, by kind in the order of `options.kinds`, then by game and step. Ids are unique within the list.
    """
    return list(stream(trajectories, options))


def stream(trajectories: Sequence[Trajectory], options: BuildOptions = BuildOptions()) -> Iterator[UnitTest]:
    """Yields the tests of `build`, in its order, one game at a time: they need much more memory than the games.

    Args:
        trajectories: recorded games; walked through several times.
        options: which tests.
    """
    for kind in _kinds(options):
        if kind == "transition":
            yield from (test for trajectory in trajectories for test in _transitions(trajectory, options.drawn))
        elif kind == "inference":
            yield from _inference(trajectories, options)
        elif kind == "value":
            yield from (test for trajectory in trajectories for test in _values(trajectory))
        elif kind in ("step", "distribution"):
            for trajectory in trajectories:
                yield from joint.tests_of(kind, trajectory, options.rules)
        elif kind == "joint_play" and options.joint is not None:
            yield from joint.random_plays(options.joint, options.random_plays)
        elif trajectories:
            yield from _random_plays(len(trajectories[0].player_names), options)


def count(trajectories: Sequence[Trajectory], options: BuildOptions = BuildOptions()) -> int:
    """Returns how many tests `build` makes, without making them."""
    kinds = _kinds(options)
    found = options.random_plays if trajectories and {"random_play", "joint_play"} & set(kinds) else 0
    for trajectory in trajectories:
        if "transition" in kinds:
            found += sum(_is_tested(trajectory, number, options.drawn) for number in range(len(trajectory.steps)))
        if "value" in kinds:
            found += sum(step.state is not None for step in trajectory.steps)
        if "inference" in kinds and options.deck == "closed":
            found += closed_deck.count(trajectory)
        elif "inference" in kinds:
            found += sum(step.player >= 0 for step in trajectory.steps)
        found += sum(joint.count(kind, trajectory) for kind in kinds if kind in ("step", "distribution"))
    return found


def _kinds(options: BuildOptions) -> list[Kind]:
    closed = options.deck == "closed"
    return [kind for kind in options.kinds if not (closed and kind in ("transition", "value"))]


def to_worker(test: UnitTest) -> Json:
    """Returns a test as `Worker.run_tests` takes it."""
    return {"id": test.id, "kind": test.kind, "data": test.data}


def parse_result(data: Mapping[str, Json]) -> UnitTestResult:
    """Returns a worker's result of one test."""
    status = data["status"]
    named = data.get("field") or ""
    default = Outcome.MODEL_ERROR if status == "error" else Outcome.OK
    return UnitTestResult(
        id=data["id"],
        kind=data["kind"],
        status=status,
        field=named,
        expected=data.get("expected"),
        got=data.get("got"),
        message=data.get("message") or "",
        output_tail="\n".join(data.get("output") or ()),
        path=data.get("path") or "",
        line=data.get("line"),
        traceback=data.get("traceback") or "",
        fields=dict(data.get("fields") or {}),
        outcome=Outcome(named) if named in set(Outcome) else default,
    )


def death_result(test: UnitTest, reply: Reply, per_test_s: float) -> UnitTestResult:
    """Returns the result of the test during which a worker was killed or died."""
    failure = reply.failure
    message = f"{failure.type}: {failure.message}" if failure else reply.outcome.value
    if reply.outcome is Outcome.WALL_TIMEOUT:
        message = f"no answer within {per_test_s:g} seconds"
    return UnitTestResult(
        id=test.id,
        kind=test.kind,
        status="error",
        field=reply.outcome.value,
        expected=None,
        got=None,
        message=message,
        output_tail="\n".join(reply.output_tail.splitlines()[-10:]),
        line=failure.line if failure else None,
        traceback=failure.traceback if failure else "",
        outcome=reply.outcome,
    )


def accuracy(results: Sequence[UnitTestResult]) -> dict[str, float]:
    """Returns the share of passed tests by kind, failures of ours left out; kinds without a result are absent."""
    scored = [result for result in results if not result.outcome.is_ours]
    kinds = dict.fromkeys(result.kind for result in scored)
    shares = {kind: [result.status == "pass" for result in scored if result.kind == kind] for kind in kinds}
    return {kind: sum(passed) / len(passed) for kind, passed in shares.items()}


def _transitions(trajectory: Trajectory, drawn: bool) -> list[UnitTest]:
    tests = []
    for number, step in enumerate(trajectory.steps):
        if not _is_tested(trajectory, number, drawn):
            continue
        following = trajectory.steps[number + 1].state if step.action is not None else None
        data = {
            "state": step.state,
            "player": step.player,
            "player_name": _name(trajectory, step.player),
            "rewards": list(step.rewards),
            "observations": list(step.observations),
            "legal_actions": list(step.legal_actions),
            "chance": [list(outcome) for outcome in step.chance],
            "action": step.action,
            "next_state": following,
        }
        if drawn and _is_deal(number, step):
            data |= {"legal_actions": [step.action], "chance": None}
        tests.append(_test("transition", data, trajectory, number))
    return tests


def _is_tested(trajectory: Trajectory, number: int, drawn: bool) -> bool:
    """Returns whether a step gives a test of a transition.

    A game on a model may begin with a deal that the true game does not have: then nothing is known of it.
    """
    step = trajectory.steps[number]
    return step.state is not None and not (drawn and _is_deal(number, step) and step.action is None)


def _is_deal(number: int, step: Step) -> bool:
    return number == 0 and step.player == CHANCE


def _name(trajectory: Trajectory, player: int) -> str:
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player) or trajectory.player_names[player]


def _inference(trajectories: Sequence[Trajectory], options: BuildOptions) -> Iterator[UnitTest]:
    if options.deck == "closed":
        draws = (options.samples, options.several_draws, options.return_draws)
        yield from closed_deck.inference_tests(trajectories, *draws)
        return
    evidence = SeveralStates if options.infers == "state" else SeveralHistories
    several = evidence(trajectories, options.reference)
    for trajectory in trajectories:
        yield from _inferences(trajectory, several, options)


def _inferences(trajectory: Trajectory, several: SeveralHistories, options: BuildOptions) -> Iterator[UnitTest]:
    for number, step in enumerate(trajectory.steps):
        if step.player < 0:
            continue
        history = trajectory.history(step.player, number)
        data = {
            "player": step.player,
            "history": [list(pair) for pair in history],
            "samples": options.samples,
            "several": several.fit(history, step.player),
            "draws": options.several_draws,
        }
        if options.infers == "state":
            data["legal_actions"] = list(step.legal_actions)
        yield _test("inference", data, trajectory, number)


def _values(trajectory: Trajectory) -> list[UnitTest]:
    return [
        _test("value", _value_data(step, len(trajectory.player_names)), trajectory, number)
        for number, step in enumerate(trajectory.steps)
        if step.state is not None
    ]


def _value_data(step: Step, players: int) -> dict[str, Json]:
    rewards = list(step.rewards) if step.player == TERMINAL else None
    return {"state": step.state, "rewards": rewards, "num_players": players}


def _random_plays(players: int, options: BuildOptions) -> list[UnitTest]:
    data = {"num_players": players, "max_length": options.max_length}
    return [
        UnitTest(f"random_play-{number}", "random_play", data, -1, number) for number in range(options.random_plays)
    ]


def _test(kind: Kind, data: dict[str, Json], trajectory: Trajectory, number: int) -> UnitTest:
    return UnitTest(f"{kind}-{trajectory.index}-{number}", kind, data, trajectory.index, number)
