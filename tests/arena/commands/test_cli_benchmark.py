"""`cwm benchmark`: what each benchmark takes."""

from typing import Any

import pytest

from arena.commands.benchmark import BENCHMARKS, TAKES, Name

OPTIONS = {f"--{name}": 3 for name in ("games", "deals", "simulations", "minutes", "seed", "workers")}
OPTIONS |= {"--model": "m", "--game": "mnk", "--run": "r", "--beside": "pgx"}


@pytest.mark.parametrize("name", Name)
def test_options_that_a_benchmark_does_not_take_are_refused_before_anything_is_measured(
    name: Name, refused: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[Any] = []
    monkeypatch.setitem(BENCHMARKS, name, measured.append)
    for option, value in OPTIONS.items():
        if option.removeprefix("--") not in TAKES.get(name, ()):
            ran = refused("benchmark", name.value, option, value)
            assert ran.code == 2
            assert f"{option} has no effect on the benchmark {name.value}, which takes " in ran.err
    assert measured == []


@pytest.mark.parametrize("name", Name)
def test_options_that_a_benchmark_takes_reach_it(name: Name, cwm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[Any] = []
    monkeypatch.setitem(BENCHMARKS, name, measured.append)
    words = [word for option, value in OPTIONS.items() if option[2:] in TAKES.get(name, ()) for word in (option, value)]
    assert cwm("benchmark", name.value, *words, "--json").code == 0
    (given,) = measured
    assert given.as_json
    assert given.seed == (3 if "seed" in TAKES.get(name, ()) else 0)
    assert given.workers == (3 if "workers" in TAKES.get(name, ()) else 2)
    assert given.games == (3 if "games" in TAKES.get(name, ()) else None)


def test_a_default_that_is_spelled_out_is_refused_too(refused: Any) -> None:
    assert (
        "--seed has no effect on the benchmark games, which takes --json"
        in refused("benchmark", "games", "--seed", 0).err
    )
