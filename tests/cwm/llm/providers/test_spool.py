"""The spool: requests and answers as files, safe against half-written ones and interrupts."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cwm.llm.api import Completion, ConfigurationError, LanguageModelError, Message, Request
from cwm.llm.providers.spool import Spool
from cwm.llm.providers.wishes import Polling
from cwm.llm.requests import request_key

REQUEST = Request((Message("user", "What now?"),), "transition", 100)
STEM = f"0001-{request_key(REQUEST)[:12]}"


class FakeTime:
    """A clock whose every sleep runs the next step of a script."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.now = 0.0
        self.steps = list(steps)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.steps:
            self.steps.pop(0)()


def ask(folder: Path, *steps: Callable[[], object], timeout_s: float = 50.0, request: Request = REQUEST) -> Completion:
    fake = FakeTime(*steps)
    spool = Spool(folder, Polling(1.0, 2.0, timeout_s), clock=lambda: fake.now, sleep=fake.sleep)
    return spool.complete(request)


def put(path: Path, text: str) -> Callable[[], object]:
    return lambda: path.write_text(text)


def nothing() -> None:
    pass


def test_a_thread_that_answers_files_is_a_language_model(tmp_path: Path) -> None:
    def serve() -> None:
        question = tmp_path / "requests" / f"{STEM}.md"
        while not question.exists():
            time.sleep(0.005)
        temporary = tmp_path / "answers" / f"{STEM}.md.tmp"
        temporary.write_text(f"You asked: {question.read_text()}")
        temporary.rename(temporary.with_suffix(""))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    answer = Spool(tmp_path, Polling(0.01, 0.02, 20.0)).complete(REQUEST)
    thread.join()
    assert (answer.text, answer.outcome, answer.model) == ("You asked: What now?\n", "ok", "unnamed")
    assert answer.usage.estimated


def test_the_request_is_there_for_programs_and_for_people(tmp_path: Path) -> None:
    request = Request((Message("system", "Rules."), Message("user", "What now?\n")), "transition", 100)
    with pytest.raises(LanguageModelError, match="No whole answer came"):
        ask(tmp_path, timeout_s=3.0, request=request)
    stem = f"0001-{request_key(request)[:12]}"
    data = json.loads((tmp_path / "requests" / f"{stem}.json").read_text())
    assert data["key"] == request_key(request)
    assert (data["occurrence"], data["purpose"], data["max_output_tokens"]) == (0, "transition", 100)
    assert (tmp_path / "requests" / f"{stem}.md").read_text() == (
        "===== message 1 of 2: system =====\n\nRules.\n\n===== message 2 of 2: user =====\n\nWhat now?\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.txt", "answers", "requests"]


def test_an_interrupted_run_finds_its_files_again(tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path, interrupt)
    (tmp_path / "answers" / f"{STEM}.md").write_text("hi\n")
    assert ask(tmp_path).text == "hi\n"
    assert len(list((tmp_path / "requests").glob("*.json"))) == 1


def test_equal_requests_have_files_of_their_own(tmp_path: Path) -> None:
    for number, text in ((1, "a\n"), (2, "b\n")):
        (tmp_path / "answers").mkdir(exist_ok=True)
        (tmp_path / "answers" / f"{number:04d}-{STEM[5:]}.md").write_text(text)
    for _ in range(2):
        fake = FakeTime()
        spool = Spool(tmp_path, Polling(1.0, 2.0, 50.0), clock=lambda fake=fake: fake.now, sleep=fake.sleep)
        assert [spool.complete(REQUEST).text for _ in range(2)] == ["a\n", "b\n"]
    assert len(list((tmp_path / "requests").glob("*.json"))) == 2


def test_other_requests_get_the_next_number(tmp_path: Path) -> None:
    other = Request((Message("user", "And then?"),), "transition", 100)
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / f"{STEM}.md").write_text("a\n")
    (tmp_path / "answers" / f"0002-{request_key(other)[:12]}.md").write_text("b\n")
    assert ask(tmp_path).text == "a\n"
    assert ask(tmp_path, request=other).text == "b\n"


def test_an_answer_that_still_grows_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "answers" / f"{STEM}.md"
    steps = [put(path, "one\n"), nothing, put(path, "one\ntwo\n"), nothing, put(path, "one\ntwo\nthree\n")]
    assert ask(tmp_path, *steps).text == "one\ntwo\nthree\n"


def test_an_answer_without_its_last_newline_is_not_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "answers" / f"{STEM}.md"
    steps = [put(path, "one\ntwo"), *[nothing] * 20, put(path, "one\ntwo\n")]
    assert ask(tmp_path, *steps).text == "one\ntwo\n"
    assert caplog.text.count("it is not read yet") == 1


def test_a_temporary_file_is_not_read(tmp_path: Path) -> None:
    steps = [put(tmp_path / "answers" / f"{STEM}.md.tmp", "one\n"), put(tmp_path / "answers" / f"{STEM}.tmp", "one\n")]
    with pytest.raises(LanguageModelError, match="No whole answer came"):
        ask(tmp_path, *steps)


def test_a_json_answer_that_is_cut_off_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "answers" / f"{STEM}.json"
    steps = [put(path, '{"text": "x'), *[nothing] * 10, put(path, '{"text": "xy"}')]
    assert ask(tmp_path, *steps).text == "xy"


@pytest.mark.parametrize("outcome", ["truncated", "refused", "empty"])
def test_an_answer_brings_its_own_outcome_model_and_usage(tmp_path: Path, outcome: str) -> None:
    data = {"text": "x", "model": "m-1", "date": "2026-01-02", "outcome": outcome}
    (tmp_path / "answers").mkdir()
    path = tmp_path / "answers" / f"{STEM}.json"
    path.write_text(json.dumps({**data, "usage": {"input_tokens": 3, "output_tokens": 4}}))
    answer = ask(tmp_path)
    assert (answer.outcome, answer.model, answer.metadata["date"]) == (outcome, "m-1", "2026-01-02")
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.estimated) == (3, 4, False)


def test_model_json_names_the_model_of_bare_answers(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / f"{STEM}.md").write_text("x\n")
    (tmp_path / "model.json").write_text('{"model": "m-1", "date": "2026-01-02"}')
    answer = ask(tmp_path)
    assert (answer.model, answer.metadata["date"]) == ("m-1", "2026-01-02")


def test_a_blank_answer_is_empty(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / f"{STEM}.md").write_text("\n")
    assert ask(tmp_path).outcome == "empty"


@pytest.mark.parametrize("data", ["[]", "{}", '{"text": 3}', '{"text": "x", "outcome": "fine"}'])
def test_an_answer_of_another_shape_is_named(tmp_path: Path, data: str) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / f"{STEM}.json").write_text(data)
    with pytest.raises(LanguageModelError, match=f"{STEM}.json"):
        ask(tmp_path)


def test_a_folder_that_cannot_be_made_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        Spool(tmp_path / "file" / "spool")
