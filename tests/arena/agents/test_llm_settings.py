from dataclasses import fields
from typing import Any

import pytest

from arena.agents.llm_settings import LlmConfig, LlmConfigError, value_of
from arena.agents.specs import AgentSpec, AgentSpecError, parse
from arena.commands.tournament import PLAYERS


def test_a_description_holds_the_model_and_its_options() -> None:
    spec = parse("llm:openai:gpt-x,show_legal=true,retries=2,votes=3,history=table,timeout=2.5,name=m,view=memory")
    assert (spec.kind, spec.model, spec.name, spec.view) == ("llm", "openai:gpt-x", "m", "memory")
    given = {"show_legal": True, "retries": 2, "votes": 3, "history": "table", "timeout": 2.5}
    assert spec.llm == given
    assert spec.llm_config() == LlmConfig(**given)
    assert AgentSpec.from_json(spec.to_json()) == spec


def test_an_address_may_hold_a_colon() -> None:
    spec = parse("llm:openai:m,base_url=http://localhost:8000/v1")
    assert spec.llm_config().base_url == "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("text", "name"),
    [("llm:openai:m", "llm:openai:m"), ("llm:spool:d,votes=3", "llm"), ("llm:replay:r.jsonl", "llm")],
)
def test_a_place_is_no_name(text: str, name: str) -> None:
    assert parse(text).name == name


def test_the_papers_setting_differs_from_the_default_in_retries_alone() -> None:
    assert LlmConfig() == LlmConfig(show_legal=False, retries=1, votes=1, history="json", trajectories=5)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("show_legal", "yes", "show_legal is true or false, not 'yes'."),
        ("history", "prose", "history is json or table, not 'prose'."),
        ("retries", "-1", "retries is a whole number from 0 to 20, not '-1'."),
        ("votes", "100", "votes is a whole number from 1 to 99, not '100'."),
        ("temperature", "nan", "temperature is a number from 0 to 2, not 'nan'."),
        ("timeout", "0", "timeout is a number from 0.001 to 1e+06, not '0'."),
        ("base_url", "localhost", "base_url is a web address like http://localhost:8000/v1, not 'localhost'."),
        ("vote", "3", "a language model takes no 'vote'; did you mean 'votes'?"),
    ],
)
def test_an_option_out_of_bounds_is_named(name: str, text: str, message: str) -> None:
    with pytest.raises(LlmConfigError) as caught:
        value_of(name, text)
    assert str(caught.value) == message
    with pytest.raises(AgentSpecError, match=r"^Agent 'llm:openai:m,"):
        parse(f"llm:openai:m,{name}={text}")


def test_options_of_a_newer_version_are_left_out() -> None:
    assert LlmConfig.from_json({"votes": 3, "thinking": "hard"}) == LlmConfig(votes=3)


def test_an_agent_of_another_kind_has_no_options_of_a_language_model() -> None:
    data: dict[str, Any] = parse("random").to_json()
    assert "llm" not in data
    assert parse("random").course() == parse("random").identity()


@pytest.mark.parametrize("name", [item.name for item in fields(LlmConfig)])
def test_the_help_explains_every_option_with_its_default(name: str) -> None:
    assert f"{name}=" in PLAYERS
