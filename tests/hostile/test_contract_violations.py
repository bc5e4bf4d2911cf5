"""Models that break the contract of a game: the verifier names each rule, with a state that shows it."""

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Limits, ProgramSource
from cwm.suite.contract import ContractOptions, ContractViolation, Pair, hidden_pairs, verify
from cwm.trajectories.recorded import Step, Trajectory
from games.api import GameInfo

PROGRAMS = Path(__file__).parent / "programs"
MODELS = sorted(PROGRAMS.glob("model__*.py"))
INITIAL = {"stones": {"stones": 60, "player": 0, "moves": 0}, "coin": {"coin": None, "said": [], "guess": None}}
INFOS = {
    "stones": GameInfo("stones", 2, "win_loss_draw", -1.0, 1.0, True, False, ("first", "second"), 60),
    "coin": GameInfo("coin", 2, "zero_sum", -1.0, 1.0, False, True, ("holder", "guesser"), 3),
}
# By the true rules the guesser cannot tell these apart.
COIN_PAIRS = [
    Pair(1, ("heads", "hum"), ("tails", "hum")),
    Pair(1, ("tails", "hum", "cough"), ("heads", "hum", "cough")),
]
WITHOUT_A_STATE = {"wall_timeout", "crashed", "memory_exceeded", "protocol_error"}


def header(path):
    return dict(re.findall(r"^# ([a-z_]+): (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE))


def violations(path):
    """Returns what the verifier says of one model."""
    about = header(path)
    base = about["base"]
    source = (PROGRAMS / f"base_{base}.py").read_text(encoding="utf-8") + path.read_text(encoding="utf-8")
    info = asdict(INFOS[base]) | {"utility": about.get("utility", INFOS[base].utility)}
    if about.get("max_length") == "none":
        info["max_length"] = None
    options = ContractOptions(games=4, wall_s=float(about.get("wall", 20.0)))
    program = ProgramSource(source, INITIAL[base], info)
    return verify(program, Sandbox(Limits(memory_mb=256)), options, COIN_PAIRS if base == "coin" else ())


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_the_verifier_names_the_broken_rule_and_shows_a_state(path):
    wanted = header(path)["violation"]
    found = {violation.rule: violation for violation in violations(path)}
    if wanted == "none":
        assert found == {}
        return
    assert wanted in found
    violation = found[wanted]
    assert violation.message
    assert violation.state is not None or wanted in WITHOUT_A_STATE
    assert ContractViolation.of(violation.to_json()) == violation


def test_the_state_shown_for_an_error_at_depth_37_lies_36_actions_deep():
    (found,) = violations(PROGRAMS / "model__depth_37.py")
    assert len(found.actions) == 36
    assert found.state["moves"] == 36
    assert "the thirty-seventh action" in found.message


def test_the_smallest_state_is_shown():
    found = {one.rule: one for one in violations(PROGRAMS / "model__three_rewards.py")}
    assert found["rewards"].state == INITIAL["stones"]
    assert found["rewards"].actions == ()


def test_a_timeout_names_the_line():
    (found,) = violations(PROGRAMS / "model__hangs.py")
    assert "in line" in found.message


def test_pairs_of_histories_come_from_the_true_game():
    class Reference:
        def resample_history(self, history, player, rng):
            return ["tails", *history[-1][0]["said"]]

    def step(player, action, said):
        return Step(None, player, ("hum",), (), (0.0, 0.0), ({"said": said}, {"said": said}), action)

    steps = (step(-1, "heads", []), step(0, "hum", []), step(1, "hum", ["hum"]), step(-4, None, ["hum", "hum"]))
    trajectory = Trajectory("coin", 0, 0, ("holder", "guesser"), steps)
    pairs = hidden_pairs([trajectory], Reference())
    assert set(pairs) == {Pair(0, ("heads",), ("tails",)), Pair(1, ("heads", "hum"), ("tails", "hum"))}
