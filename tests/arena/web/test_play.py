"""Games that are played in the browser: the server keeps the truth, the page is told what its seat may see."""

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from arena.matches import replay, store
from arena.matches.game_source import open_game
from games import registry
from tests.arena.web.pages import SCRIPT, Browser

pytestmark = pytest.mark.extra("web")


def first(told: Any) -> str:
    action: str = told["legal"][0]
    return action


def test_a_game_is_played_to_its_end_and_kept_as_one_of_the_terminal(browser: Browser) -> None:
    table = browser.sit("tic_tac_toe")
    end = browser.play_on(table, first)["end"]
    assert end["seed"] == 7
    assert [row["name"] for row in end["rows"]] == ["x (you)", "o (random)"]
    [record] = store.read(Path(end["folder"])).games.values()
    assert record.seats == ("human", "random")
    assert [[f"{'xo'[player]} ({('you', 'random')[player]})", done] for player, done in record.actions] == end[
        "actions"
    ]
    replay.verify(registry.make("tic_tac_toe"), record)


def test_the_same_seed_deals_the_same_game_and_again_deals_a_new_one(browser: Browser) -> None:
    ends = [browser.play_on(browser.sit("leduc_poker"), first)["end"] for _ in range(2)]
    assert ends[0]["actions"] == ends[1]["actions"]
    table = browser.sit("leduc_poker")
    again = browser.post(f"{table}/again", {})["table"]
    found = browser.lobby.table(again)
    assert found is not None
    assert found.wishes.seed != 7


def test_a_move_that_is_not_legal_now_is_refused_and_the_game_goes_on(browser: Browser) -> None:
    table = browser.sit("tic_tac_toe")
    told = browser.until(table, lambda now: bool(now["legal"]))
    for turn, action in ((told["turn"], "x(9,9)"), (told["turn"] + 1, told["legal"][0]), (0, told["legal"][0])):
        said = browser.post(f"{table}/move", {"turn": turn, "action": action}, 400)
        assert said["error"] == "This move is not legal now."
    assert browser.play_on(table, first)["phase"] == "over"


def told_of(game: str, browser: Browser, seat: int) -> tuple[list[Any], Any]:
    """Returns every answer during a game, and the last one."""
    table = browser.sit(game, seat=seat)
    during = []

    def choose(told: Any) -> str:
        during.append(told)
        return first(told)

    return during, browser.play_on(table, choose)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_page_is_told_the_observations_of_its_seat_alone(browser: Browser, seat: int) -> None:
    during, last = told_of("leduc_poker", browser, seat)
    [record] = store.read(Path(last["end"]["folder"])).games.values()
    with open_game("leduc_poker") as game:
        known = [game.observations(state)[seat] for state, _, _ in replay.states(game, record)]
    assert during
    for told in during:
        assert told["end"] is None
        for step in told["steps"]:
            assert step["observation"] in known
            assert step["told"] is None or step["told"]["seat"] == seat


def test_a_colour_of_yokai_is_told_while_its_observer_may_see_it(browser: Browser) -> None:
    during, last = told_of("yokai-9c-2p", browser, 0)
    [record] = store.read(Path(last["end"]["folder"])).games.values()
    dealt = [action.removeprefix("deal ") for _, action in record.actions if action.startswith("deal ")]
    for told in during:
        for step in told["steps"]:
            seen = [number for number, colour in enumerate(step["observation"]["colours"]) if colour is not None]
            log = step["observation"]["recent_actions"]
            assert len(seen) <= 2
            assert all(f"observe {number}" in log[-3:] for number in seen)
            drawn = re.findall(r'class="card".*?href="#([^"]+)"', step["drawing"]["body"])
            shown = [name for name in drawn if any(colour in name for colour in ("red", "green", "blue", "yellow"))]
            assert len(shown) == len(seen)
            assert not re.search('class="truth"', step["drawing"]["body"])
    assert len(dealt) == 9
    assert 'class="truth"' in last["end"]["drawing"]["body"]


def test_the_own_hand_of_hanabi_is_hidden_until_the_end_and_all_moves_are_told(browser: Browser) -> None:
    during, last = told_of("hanabi-2p", browser, 0)
    assert during
    for told in during:
        for step in told["steps"]:
            own, other = step["observation"]["hands"]
            assert all(slot["card"] is None for slot in own)
            assert all(slot["card"] is not None for slot in other)
            [row] = [line for line in step["rendering"].splitlines() if line.startswith("player_0")]
            assert row.count("??") == len(own)
    steps = [step for told in during for step in told["steps"]]
    moved = [step["told"] for step in steps if step["told"] is not None]
    assert {told["seat"] for told in moved} == {0, 1}
    assert all(re.search("tells|plays|discards", told["text"]) for told in moved)
    assert "??" not in last["end"]["rendering"]


def test_the_page_remembers_for_the_player_who_asks_for_it(browser: Browser) -> None:
    table = browser.sit("yokai-9c-2p", ("partner:never-end",), view="memory")

    def met(now: Any) -> bool:
        return bool(now["legal"]) and now["turn"] > 4

    for _ in range(4):
        told = browser.until(table, lambda now: bool(now["legal"]))
        browser.post(f"{table}/move", {"turn": told["turn"], "action": first(told)})
    told = browser.until(table, met)
    assert told["legal"][0].startswith("observe")
    assert sum(colour is not None for colour in told["steps"][-1]["observation"]["colours"]) == 2


def test_a_player_may_leave(browser: Browser) -> None:
    table = browser.sit("tic_tac_toe")
    browser.until(table, lambda now: bool(now["legal"]))
    browser.post(f"{table}/leave", {})
    assert browser.until(table, lambda now: now["phase"] == "left")["end"] is None
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    "agent",
    [
        "exec:rm -rf x",
        "posg:ipomcp,types=uniform+runs/br-s0",
        "posg:ipomcp,types=own.json",
        "posg:combined,types=uniform,search=../br-s0",
        "posg:ipomcp,types=uniform,unknown=.1,unknown_as=softened:runs",
        "python:own.py:Game",
        "cwm:some/folder",
        "ippo:some/folder",
        "learned:here",
        "llm:spool:x",
        "llm:openai:x",
        "human",
    ],
)
def test_a_page_names_no_file_no_program_and_no_language_model(browser: Browser, agent: str) -> None:
    wanted = {"game": browser.key("tic_tac_toe"), "seat": 0, "agents": [agent], "view": "default"}
    said = browser.post("/api/tables", wanted, 400)["error"]
    assert said.endswith("such agents are given to the server when it starts, with the option `agent`.")


def test_planners_that_are_offered_can_play_games_of_simultaneous_moves(browser: Browser) -> None:
    [offered] = [
        one["agents"] for one in browser.get("/api/games") if one["key"] == browser.key("cooperative-reaching")
    ]
    planners = [agent for agent in offered if agent.startswith(("posg:", "ismcts:", "mcts:"))]
    assert planners == ["posg:pomcp,sims=200", *(f"posg:ipomcp,types={name},sims=200" for name in ("P0", "P1"))]
    assert browser.play_on(browser.sit("button-game", agents=(planners[0],)), first)["phase"] == "over"
    table = browser.sit("foraging", agents=("posg:ipomcp,types=P0+softened:H2,sims=2,particles=5",))
    assert browser.until(table, lambda now: bool(now["legal"]))["phase"] == "playing"


def test_what_was_given_at_the_start_may_be_played_with(browser: Browser, tmp_path: Path) -> None:
    program = "from arena.agents.api import RandomAgent\nclass Mine(RandomAgent):\n    pass\n"
    (tmp_path / "agent.py").write_text(program, encoding="utf-8")
    [suggested] = [one["agents"] for one in browser.get("/api/games") if one["key"] == browser.key("tic_tac_toe")]
    assert suggested[-1] == "python:agent.py:Mine"


@pytest.mark.parametrize(
    "change",
    [
        {"game": "no"},
        {"game": "../tic_tac_toe"},
        {"seat": 2},
        {"seat": -1},
        {"seat": True},
        {"seat": "0"},
        {"agents": []},
        {"agents": [1]},
        {"agents": "random"},
        {"agents": ["random"] * 2},
        {"agents": ["no such"]},
        {"agents": ["mcts:sims=" + "9" * 500]},
        {"view": "truth"},
        {"seed": "x"},
    ],
)
def test_wishes_that_fit_no_game_are_one_sentence(browser: Browser, change: dict[str, Any]) -> None:
    wanted = {"game": browser.key("tic_tac_toe"), "seat": 0, "agents": ["random"], "view": "default"}
    said = browser.post("/api/tables", wanted | change, 400)
    assert re.fullmatch(r"[^\n]+", said["error"])


def test_an_agent_that_does_not_fit_is_told_in_a_sentence(browser: Browser) -> None:
    table = browser.sit("tic_tac_toe", ("partner:nobody",))
    found = browser.lobby.table(table.rpartition("/")[2])
    assert found is not None
    found.wait(30)
    told = browser.get(table)
    assert (told["phase"], told["legal"]) == ("failed", [])
    assert "'nobody'" in told["error"]


def test_a_game_whose_every_word_is_markup_is_data_and_never_a_part_of_a_page(browser: Browser, own_game: str) -> None:
    table = browser.sit(own_game)
    told = browser.until(table, lambda now: bool(now["legal"]))
    assert SCRIPT in told["legal"]
    page = browser.client.get(table.replace("/api/tables", "/play"))
    assert page.headers["content-type"].startswith("text/html")
    assert "alert" not in page.text
    answer = browser.client.get(table)
    assert answer.headers["content-type"] == "application/json"
    assert browser.play_on(table, first)["end"]["rendering"] == SCRIPT * 3


def test_what_is_gone_is_one_sentence(browser: Browser) -> None:
    for path in ("/play/none", "/api/tables/none", "/api/games/none/rules"):
        answer = browser.client.get(path)
        assert answer.status_code == 404
        assert json.loads(answer.text)["error"].startswith("There is nothing at this address")


def test_rules_are_those_of_the_registry(browser: Browser) -> None:
    key = browser.key("tic_tac_toe")
    assert browser.get(f"/api/games/{key}/rules")["rules"] == registry.rule_book("tic_tac_toe")


def test_a_finished_game_keeps_what_its_planner_considered(browser: Browser) -> None:
    end = browser.play_on(browser.sit("tic_tac_toe", ("mcts:sims=9",)), first)["end"]
    [record] = store.read(Path(end["folder"])).games.values()
    planned = {str(number) for number, (player, _) in enumerate(record.actions) if player == 1}
    assert planned
    assert set(record.thoughts) == planned


SCRIPTS = {
    place.name: place.read_text(encoding="utf-8")
    for place in (resources.files("arena.web") / "static").iterdir()
    if place.name.endswith(".js")
}


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_no_script_makes_markup_of_data_or_asks_another_server(name: str) -> None:
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|https?://(?!www\.w3\.org/2000/svg)"
    assert re.findall(forbidden, SCRIPTS[name]) == []
    if name != "dom.js":
        assert "DOMParser" not in SCRIPTS[name]


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_every_script_finds_what_it_imports(name: str) -> None:
    for names, place in re.findall(r'import \{([^}]*)\} from "\./([^"]+)"', SCRIPTS[name]):
        for one in names.split(","):
            assert re.search(rf"export (async )?(const|function) {one.strip()}\b", SCRIPTS[place]), (place, one)
