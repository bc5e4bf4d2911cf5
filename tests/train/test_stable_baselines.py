"""A model that a language model wrote, in Stable-Baselines3: one line makes the environment, one learns on it."""

from typing import Any

import pytest

import cwm

pytestmark = [pytest.mark.slow, pytest.mark.extra("train")]


def mean_return(env: Any, choose: Any) -> float:
    total = 0.0
    for seed in range(100):
        told, _ = env.reset(seed=seed)
        is_over = False
        while not is_over:
            told, paid, ended, cut, _ = env.step(choose(told))
            total, is_over = total + paid, ended or cut
    return total / 100


def test_ppo_learns_on_a_synthesised_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    baselines = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    run = cwm.open_recording("tic_tac_toe")
    env = cwm.gymnasium_env(f"cwm:{run.folder}", seat=0, opponents="random")
    env.action_space.seed(0)
    before = mean_return(env, lambda told: env.action_space.sample())
    learner = baselines.PPO("MlpPolicy", env, seed=0, n_steps=256, device="cpu").learn(4096)
    after = mean_return(env, lambda told: learner.predict(told, deterministic=True)[0])
    env.close()
    assert after > before + 0.1
