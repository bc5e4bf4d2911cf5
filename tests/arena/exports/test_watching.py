import re
from dataclasses import replace

import pytest

from arena.exports import film_sources, watching
from arena.exports.film import film
from arena.matches.match import GameRecord
from cwm.trajectories.recorded import game_seed, play, random_policy
from games import registry

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"


def poker(number: int) -> GameRecord:
    game = registry.make("leduc_poker")
    return film_sources._as_record(play(game, [random_policy] * 2, game_seed(3, number), number))


def test_every_drawn_position_is_packed_as_the_film_has_it() -> None:
    game, record = film_sources.load("yokai-9c-2p", 0, 3)
    found = watching.of(game, [record, replace(record, deal_seed=5)])
    assert found is not None
    assert found.kind == "drawing"
    drawn = film(game, record)
    for one in found.games:
        steps = watching.unpack(one.packed)
        assert [said for said, _ in steps] == [f"{frame.caption}\n{frame.title}" for frame in drawn.frames]
        assert [body for _, body in steps] == [
            frame.body + "".join(views) for frame, views in zip(drawn.frames, drawn.views, strict=True)
        ]
    assert found.seats == 2
    assert [one.title.partition(",")[0] for one in found.games] == ["deal 1", "deal 2"]


def test_another_game_is_told_as_text_with_its_state() -> None:
    game, record = registry.make("leduc_poker"), poker(0)
    found = watching.of(game, [record])
    assert found is not None
    assert (found.kind, found.canvas) == ("text", None)
    steps = watching.unpack(found.games[0].packed)
    assert len(steps) == len(record.actions) + 1
    assert steps[0][0] == "The start."
    assert [said for said, _ in steps[1:]][-1].endswith(f": {record.actions[-1][1]}")
    assert all(re.search(r"^\w+: ", table, re.MULTILINE) for _, table in steps)


def test_a_game_against_the_rules_and_one_too_many_are_counted_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    game = registry.make("leduc_poker")
    broken = replace(poker(1), actions=((0, EVIL),))
    found = watching.of(game, [poker(0), broken])
    assert found is not None
    assert (len(found.games), found.refused, found.left_out) == (1, 1, 0)
    monkeypatch.setattr(watching, "MOST_GAMES", 1)
    found = watching.of(game, [poker(0), replace(poker(0), deal_seed=7)])
    assert found is not None
    assert (len(found.games), found.left_out) == (1, 1)


def test_nothing_to_watch_without_games_or_without_the_game() -> None:
    assert watching.of(None, [poker(0)]) is None
    assert watching.of(registry.make("leduc_poker"), []) is None


def test_names_of_players_cannot_leave_the_data() -> None:
    record = replace(poker(0), seats=(EVIL, "b"))
    found = watching.of(registry.make("leduc_poker"), [record])
    assert found is not None
    assert "<" not in found.data()
    assert EVIL in found.games[0].group


def test_the_script_makes_no_request_and_no_markup_of_texts() -> None:
    assert not re.search(r"fetch|XMLHttp|import\(|eval|https?:", watching.SCRIPT)
    assert re.findall(r"(.*)innerHTML", watching.SCRIPT) == ["      body."]
    assert watching.script_source().startswith("'sha256-")
