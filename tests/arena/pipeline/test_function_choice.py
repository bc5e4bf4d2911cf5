"""The functions beside a model, from the calls to the bundle that plays with them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from arena.agents.specs import AgentSpecError, parse
from arena.matches.model_tournament import ModelTournament
from arena.matches.seating import resolve
from arena.pages import run_page as page
from arena.pipeline import function_choice
from arena.pipeline.function_choice import Beside
from arena.pipeline.synthesis import Outcome, SynthesisRun
from arena.report import run_report
from arena.runs import inputs as run_inputs
from arena.runs import language_model
from arena.runs.folder import open_record
from arena.runs.settings import RunSettings
from cwm.functions.prior import PriorConfig
from cwm.functions.types import (
    WITH_PRIOR,
    WITH_UNIFORM,
    WITHOUT_PRIOR,
    Entrant,
    FunctionCandidate,
    FunctionConfig,
    FunctionReport,
    FunctionResult,
)
from cwm.llm import recordings
from cwm.llm.api import Completion, Request, Usage
from cwm.llm.caps import Caps
from cwm.llm.line import Line
from cwm.model.bundle import ModelBundle
from cwm.record.record import RunRecord
from cwm.synthesis.config import SynthesisConfig
from games import registry

GAME = "leduc_poker"
WORTH = "def value_function(state, player_id):\n    return 0.0\n"
HEAD = "def policy_prior(state, legal_actions, player_id):\n"
EVEN = HEAD + "    return [1 / len(legal_actions)] * len(legal_actions)\n"
OTHER = EVEN.replace("1 / len", "1.0 / len")
LEAK = HEAD + (
    "    own, other = (str(state['private_cards'][player]) for player in (player_id, 1 - player_id))\n"
    "    weights = [3.0 if index == 0 and other > own else 1.0 for index in range(len(legal_actions))]\n"
    "    return [weight / sum(weights) for weight in weights]\n"
)
"""Reads the other player's card."""


def fenced(source: str) -> str:
    return f"```python\n{source}```"


def model_answer() -> str:
    return recordings.load(GAME).records[0].completion.text


def script(path: Path, answers: Sequence[str]) -> str:
    path.write_text("".join(json.dumps(answer) + "\n" for answer in answers), encoding="utf-8")
    return f"scripted:{path}"


def settings(llm: str, priors: int, **changes: object) -> RunSettings:
    asked = RunSettings(
        game=GAME,
        registered=True,
        llm=llm,
        test_transitions=20,
        planner_games=0,
        synthesis=SynthesisConfig(),
        prior=PriorConfig(num_candidates=priors, games=10, points=40),
        tournament_deals=1,
    )
    return replace(asked, **changes)  # type: ignore[arg-type]


def synthesise(folder: Path, asked: RunSettings, caps: Caps = Caps()) -> tuple[Outcome, list[str]]:  # noqa: B008
    inputs = run_inputs.registered(GAME, asked.train_games, asked.seed)
    told: list[str] = []
    with open_record(folder, asked, inputs, caps) as record:
        run = SynthesisRun(record, asked, inputs, caps, 1, on_event=lambda event: told.append(event.kind))
        outcome = run.run()
        run_report.write_result(folder, outcome)
    return outcome, told


@pytest.fixture
def scores(monkeypatch: pytest.MonkeyPatch) -> dict[str | None, float]:
    """The tournament's scores by prior; "none" and "uniform" are the planners without one. Filled by each test."""
    table: dict[str | None, float] = {}

    def play(self: ModelTournament, entrants: Sequence[Entrant]) -> list[float]:
        assert [entrant.settings for entrant in entrants[:2]] == [WITHOUT_PRIOR, WITH_UNIFORM]
        assert all(entrant.settings == WITH_PRIOR for entrant in entrants[2:])
        return [table["none"], table["uniform"], *(table[entrant.prior] for entrant in entrants[2:])]

    monkeypatch.setattr(ModelTournament, "play", play)
    return table


def test_run_repairs_a_leak_chooses_a_prior_and_plays_with_it(tmp_path: Path, scores: dict[str | None, float]) -> None:
    scores |= {"none": 0.0, "uniform": 0.1, EVEN: 0.2, OTHER: 0.5}
    llm = script(tmp_path / "answers", [model_answer(), *map(fenced, (LEAK, EVEN, OTHER))])
    outcome, told = synthesise(tmp_path / "run", settings(llm, 2))
    assert told.count("prior_tested") == 3
    assert told[-1] == "prior_chosen"
    bundle = ModelBundle.load(tmp_path / "run")
    assert bundle.prior_source == OTHER
    assert bundle.plays_with == {"leaf": "rollout", **WITH_PRIOR}
    assert bundle.metadata["priors"] == {"chosen": 1, "scores": {"none": 0.0, "uniform": 0.1, "0": 0.2, "1": 0.5}}
    assert outcome.tally["prior"]["calls"] == 3
    with RunRecord.open(tmp_path / "run") as record:
        kinds = [program.kind for program in record.programs()]
        report = run_report.build(record, settings(llm, 2), (), ())
    assert sorted(kinds) == ["model", "prior", "prior", "prior"]
    rows = [(row.kind, row.name, row.status, row.score, row.chosen) for row in report.functions]
    assert rows == [
        ("policy prior", "none", "baseline", 0.0, False),
        ("policy prior", "uniform", "baseline", 0.1, False),
        ("policy prior", "0", "checked", 0.2, False),
        ("policy prior", "1", "checked", 0.5, True),
    ]
    told = "candidate 1 won the tournament (none: 0.00; uniform: 0.10; 0: 0.20, 1: 0.50)"
    assert ("policy prior", told) in report.summary
    assert [program.title for program in report.programs] == ["model", "policy prior"]
    html = page.render(report)
    assert "Functions beside the model" in html
    assert "Policy prior 1, chosen: checked" in html
    resolved = resolve(parse(f"cwm:{tmp_path / 'run'},sims=20"), registry.make(GAME))
    assert (resolved.planner["selection"], resolved.planner["prior"]) == ("puct", "policy")


class Together:
    """A provider that answers by purpose and number; functions only once all of their questions are under way."""

    name = "openai:m"

    def __init__(self, at_once: int) -> None:
        self.barrier = Barrier(at_once)
        self.answered: list[tuple[str, int | None]] = []

    def complete(self, request: Request) -> Completion:
        if request.purpose in ("value", "prior"):
            self.barrier.wait(30)
        text = {"value": fenced(WORTH), "prior": fenced((EVEN, OTHER)[request.occurrence or 0])}
        self.answered.append((request.purpose, request.occurrence))
        return Completion(text.get(request.purpose, model_answer()), "ok", "m-1", Usage(10, 5))


def test_functions_of_several_kinds_are_asked_for_at_once_and_chosen_as_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelTournament, "play", lambda self, entrants: [float(n) for n in range(len(entrants))])
    asked = settings(Together.name, 2, base_url="http://localhost:9/v1", value=FunctionConfig(num_candidates=2))
    found = {}
    for parallel in (1, 4):
        provider = Together(parallel)
        monkeypatch.setattr(language_model.factory, "make", lambda *_, provider=provider, **__: provider)
        outcome, told = synthesise(tmp_path / str(parallel), asked, Caps(line=Line(parallel=parallel)))
        assert len(provider.answered) == len(set(provider.answered)) == 5
        with RunRecord.read(tmp_path / str(parallel)) as record:
            calls = sorted((call.key, call.occurrence) for call in record.calls.calls())
        assert outcome.bundle is not None
        found[parallel] = (calls, outcome.bundle.hash, outcome.tally, told)
    assert found[1] == found[4]


def test_killed_run_goes_on_where_it_was(tmp_path: Path, scores: dict[str | None, float]) -> None:
    scores |= {"none": 0.0, "uniform": 0.1, EVEN: 0.2, OTHER: 0.5}
    answers = [model_answer(), fenced(EVEN)]
    llm = script(tmp_path / "answers", answers)
    with pytest.raises(Exception, match="wants one more"):
        synthesise(tmp_path / "run", settings(llm, 2))
    script(tmp_path / "answers", [*answers, fenced(OTHER)])
    outcome, _ = synthesise(tmp_path / "run", settings(llm, 2))
    assert outcome.bundle is not None
    assert outcome.bundle.prior_source == OTHER
    assert outcome.tally["prior"]["calls"] == 2
    again, _ = synthesise(tmp_path / "run", settings(llm, 2))
    assert again.bundle == outcome.bundle


def test_cap_leaves_the_choice_among_the_priors_that_are_there_and_a_higher_one_goes_on(
    tmp_path: Path, scores: dict[str | None, float]
) -> None:
    scores |= {"none": 0.0, "uniform": 0.1, EVEN: 0.2, OTHER: 0.5}
    llm = script(tmp_path / "answers", [model_answer(), fenced(EVEN), fenced(OTHER)])
    outcome, _ = synthesise(tmp_path / "run", settings(llm, 2), Caps(calls=2))
    assert outcome.bundle is not None
    assert outcome.bundle.prior_source == EVEN
    outcome, _ = synthesise(tmp_path / "run", settings(llm, 2), Caps(calls=3))
    assert outcome.bundle is not None
    assert outcome.bundle.prior_source == OTHER


@pytest.mark.parametrize(
    ("none", "uniform", "plays_with"), [(1.0, 0.0, WITHOUT_PRIOR), (0.0, 1.0, WITH_UNIFORM)], ids=["none", "uniform"]
)
def test_baseline_that_wins_is_what_the_model_plays_with(
    tmp_path: Path, scores: dict[str | None, float], none: float, uniform: float, plays_with: dict[str, object]
) -> None:
    scores |= {"none": none, "uniform": uniform, EVEN: 0.2}
    llm = script(tmp_path / "answers", [model_answer(), fenced(EVEN)])
    outcome, _ = synthesise(tmp_path / "run", settings(llm, 1))
    assert outcome.bundle is not None
    assert outcome.bundle.prior_source is None
    assert outcome.bundle.plays_with == {"leaf": "rollout", **plays_with}
    resolve(parse(f"cwm:{tmp_path / 'run'}"), registry.make(GAME))


def test_real_tournament_plays_uniform_and_a_prior_on_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function_choice, "TOURNAMENT_SIMULATIONS", 10)
    llm = script(tmp_path / "answers", [model_answer(), fenced(EVEN)])
    outcome, _ = synthesise(tmp_path / "run", settings(llm, 1))
    priors = outcome.beside.chosen["prior"].asked
    assert priors.none_score is not None
    prior_scores = [item.score for item in priors.candidates]
    total = priors.none_score + sum(priors.baselines.values()) + sum(filter(None, prior_scores))
    assert total == pytest.approx(0.0)


def test_tournament_that_stops_in_time_is_told_everywhere(
    cwm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function_choice, "TOURNAMENT_SIMULATIONS", 5)
    rows: list[tuple[list[int], bool]] = []

    def play_deals(
        self: ModelTournament, entrants: Sequence[Entrant], deals: Sequence[int], apart: bool = False
    ) -> list[list[float] | None]:
        rows.append((list(deals), apart))
        # The first prior gains 1 on every deal; what a deal brings is the same for all.
        return [[1.0 * (entrant.prior == EVEN) + deal % 2 for entrant in entrants] for deal in deals]

    monkeypatch.setattr(ModelTournament, "play_deals", play_deals)
    llm = script(tmp_path / "answers", [model_answer(), fenced(EVEN), fenced(OTHER)])
    run = tmp_path / "run"
    asked = settings(llm, 2, further_games=0).with_budget(60.0, 12)
    outcome, _ = synthesise(run, asked)
    assert rows == [([20], False), ([0, 1, 2, 3], False), (list(range(12, 20)), True)]
    assert outcome.bundle is not None
    assert outcome.bundle.prior_source == EVEN
    told = outcome.bundle.metadata["priors"]["tournament"]
    assert (told["kept"], told["deals"], told["stopped"], told["not_told_apart_from"]) == ("0", 4, "told apart", [])
    words = (
        "candidate 0 told apart after 4 deals; on 8 fresh deals 1.50 ± 0.19, the planner without 0.50 ± 0.19, "
        "difference 1.00 ± 0.00"
    )
    assert told["words"] == words
    shown = cwm("report", run, "--json").json["priors"]["tournament"]
    assert shown == told
    with RunRecord.read(run) as record:
        report = run_report.build(record, asked, (), ())
    assert (
        f"candidate 0 is used (none: 0.50; uniform: 0.50; 0: 1.50, 1: 0.50): {words}" in dict(report.summary).values()
    )
    strengths = {row.name: row.strength for row in report.functions}
    assert strengths == {"none": "0.50 ± 0.19 (8 deals)", "uniform": "", "0": "1.50 ± 0.19 (8 deals)", "1": ""}
    assert "1.50 ± 0.19 (8 deals)" in page.render(report)


@pytest.mark.slow
def test_real_tournament_that_stops_in_time_may_tell_nobody_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function_choice, "TOURNAMENT_SIMULATIONS", 3)
    llm = script(tmp_path / "answers", [model_answer(), fenced(EVEN)])
    outcome, _ = synthesise(tmp_path / "run", settings(llm, 1).with_budget(0.001, 8))
    priors = outcome.beside.chosen["prior"].asked
    assert priors.decided is not None
    assert priors.decided.deals == 4
    assert priors.decided.stopped in ("told apart", "seconds")
    assert (priors.chosen is None) == (priors.decided.kept == 0)
    assert (priors.decided.fresh is None) == (priors.decided.kept == 0)
    total = (priors.none_score or 0.0) + priors.baselines["uniform"] + (priors.candidates[0].score or 0.0)
    assert total == pytest.approx(0.0)


def test_user_who_says_how_to_search_is_obeyed(tmp_path: Path, scores: dict[str | None, float]) -> None:
    scores |= {"none": 0.0, "uniform": 0.1, EVEN: 0.2}
    llm = script(tmp_path / "answers", [model_answer(), fenced(EVEN)])
    outcome, _ = synthesise(tmp_path / "run", settings(llm, 1))
    assert outcome.bundle is not None
    game = registry.make(GAME)
    plain = resolve(parse(f"cwm:{tmp_path / 'run'},selection=ucb"), game)
    assert plain.planner.get("belief_temper", 0.0) == 0.0
    tempered = resolve(parse(f"cwm:{tmp_path / 'run'},belief_temper=0.5"), game)
    assert (tempered.planner["selection"], tempered.planner["belief_temper"]) == ("puct", 0.5)
    replace(outcome.bundle, prior_source=None, metadata={}).save(tmp_path / "bare")
    assert "selection" not in resolve(parse(f"cwm:{tmp_path / 'bare'}"), game).planner
    with pytest.raises(AgentSpecError, match="its model has no policy prior"):
        resolve(parse(f"cwm:{tmp_path / 'bare'},belief_temper=0.5"), game)


def test_prior_that_never_played_says_nothing_of_how_to_play() -> None:
    failed = FunctionCandidate(0, "", "", "no_program", FunctionReport(("nothing",)))
    beside = Beside({"prior": FunctionResult(None, (failed,), None, 1, 2, 3, "none passed")})
    assert beside.metadata() == {"priors": {"chosen": "none", "scores": {"none": None}}}
    assert Beside().metadata() == {}


def test_settings_without_priors_are_those_of_older_runs() -> None:
    plain = settings("scripted:x", 1, prior=None, tournament_deals=6)
    assert {"prior", "tournament_deals"} & plain.to_json().keys() == set()
    assert RunSettings.from_record(plain.to_json()) == plain
    asked = settings("scripted:x", 2)
    assert RunSettings.from_record(json.loads(json.dumps(asked.to_json()))) == asked


def test_priors_are_asked_for_on_the_command_line(cwm: Any, own_game: Any, tmp_path: Path) -> None:
    llm = script(tmp_path / "answers", [fenced(own_game.program), "no code", fenced(EVEN)])
    words = ["synthesize", "--rules", own_game.rules, "--trajectories", own_game.trajectories, "--llm", llm]
    words += ["--priors", 2, "--tournament-deals", 1, "--run", tmp_path / "run", "--workers", 1]
    made = cwm(*words)
    assert made.code == 0, made.err
    assert "policy prior 0: no_program: no program in the answer" in made.err
    assert "prior tournament (none: " in made.err
    result = cwm("report", tmp_path / "run", "--json").json
    assert [item["status"] for item in result["priors"]["candidates"]] == ["no_program", "checked"]
    assert set(result["priors"]["baselines"]) == {"uniform"}
    assert "Functions beside the model" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
