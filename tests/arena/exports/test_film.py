"""`cwm games render`: where games come from, what is written, what is refused."""

import re
import struct
import sys
import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from arena.exports import film as rendering
from arena.exports import film_formats, film_sources
from arena.exports.film import Film
from arena.matches.match import Forfeit
from arena.usage import UsageError
from cwm.trajectories.recorded import collect, write
from games import registry

SVG = "{http://www.w3.org/2000/svg}"
PIXEL = bytes([0, 9, 9, 9, 255])
"""One row of one RGBA pixel, with its filter."""


def film(seed: int = 4, player: int | None = None, view: str | None = None) -> Film:
    game, record = film_sources.load("yokai-9c-2p", 0, seed)
    return rendering.film(game, record, player, view)


def frames_of(picture: str) -> list[ET.Element]:
    return [item for item in ET.fromstring(picture).iter(f"{SVG}g") if item.get("class") == "frame"]


def tiny_png(pixel: bytes = PIXEL, width: int = 1) -> bytes:
    head = struct.pack(">IIBBBBB", width, 1, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(pixel)), (b"IEND", b""))
    made = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(made)


@pytest.fixture
def painter(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Puts a library in place of resvg-py that keeps what it is given, and returns what it was given."""
    given: list[str] = []

    def svg_to_bytes(svg_string: str) -> bytes:
        given.append(svg_string)
        return tiny_png(PIXEL if "<text" in svg_string else bytes(5))

    module = ModuleType("resvg_py")
    module.svg_to_bytes = svg_to_bytes  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "resvg_py", module)
    return given


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -------------------------------------------------------------------------------- what is drawn


def test_a_film_has_a_frame_for_the_deal_and_one_for_each_action() -> None:
    game, record = film_sources.load("yokai-9c-2p", 0, 4)
    drawn = rendering.film(game, record)
    assert len(drawn.frames) == record.length + 1
    assert drawn.frames[0].caption == "The cards are dealt."
    assert drawn.frames[1].caption == f"player 0 {record.actions[13][1].replace('observe', 'observes card')}."


def test_a_random_game_is_that_of_the_same_series_as_recorded_ones() -> None:
    _, record = film_sources.load("yokai-9c-3p", 2, 7)
    recorded = collect(registry.make("yokai-9c-3p"), 3, 7)[2]
    assert [action for _, action in record.actions] == [step.action for step in recorded.steps[:-1]]


def test_the_view_below_follows_the_turn_unless_a_player_is_chosen() -> None:
    followed = [re.findall("What (player .) sees", frame.body)[0] for frame in film().frames]
    assert followed[:9] == ["player 0"] * 4 + ["player 1"] * 4 + ["player 0"]
    assert followed[-1] == followed[-2]
    assert {re.findall("What (player .) sees", frame.body)[0] for frame in film(player=1).frames} == {"player 1"}
    assert "every card it ever observed" in film(view="memory").frames[0].body


def test_a_forfeit_is_a_frame_of_its_own() -> None:
    game, record = film_sources.load("yokai-9c-2p", 0, 4)
    cut = replace(record, actions=record.actions[:15], seats=("ann", "bob"), forfeit=Forfeit(0, "illegal", "no"))
    frames = rendering.film(game, cut).frames
    assert len(frames) == 4
    assert frames[-1].caption == "player 0 (ann) forfeits: illegal."
    with pytest.raises(UsageError, match="stops before the cards are dealt"):
        rendering.film(game, replace(cut, actions=record.actions[:3]))


# -------------------------------------------------------------------------------- formats


def test_an_animated_svg_shows_every_frame_in_its_turn() -> None:
    drawn = film()
    picture = film_formats.animated_svg(drawn)
    frames = frames_of(picture)
    assert len(frames) == len(drawn.frames) == 14
    assert [frame.get("display") for frame in frames] == [None, *["none"] * 13]
    timings = [frame.find(f"{SVG}animate") for frame in frames]
    begins = [0.0 if number == 0 else float(t.get("keyTimes").split(";")[1]) for number, t in enumerate(timings)]  # type: ignore[union-attr]
    ends = [float(t.get("keyTimes").split(";")[-1]) for t in timings[:-1]]  # type: ignore[union-attr]
    assert ends == begins[1:]
    assert begins == sorted(begins)
    assert {t.get("dur") for t in timings} == {"19.6s"}  # type: ignore[union-attr]
    assert "<script" not in picture
    assert picture == film_formats.animated_svg(film())


def test_a_picture_within_a_page_names_no_namespace() -> None:
    assert "xmlns" not in film_formats.animated_svg(film(), standalone=False)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_page_needs_nothing_else_and_has_every_step() -> None:
    drawn = film()
    text = film_formats.page(drawn)
    page = _Page()
    page.feed(text)
    assert "http" not in text
    assert not [attrs for tag, attrs in page.found if "src" in attrs or tag == "link"]
    assert all((attrs["href"] or "").startswith("#yokai-") for _, attrs in page.found if "href" in attrs)
    classes = [attrs.get("class") for tag, attrs in page.found if tag == "g"]
    assert classes.count("frame shown") == 1
    assert classes.count("frame") == len(drawn.frames) - 1
    assert text.count("<li><button") == len(drawn.frames)
    ids = {attrs["id"] for _, attrs in page.found if "id" in attrs}
    assert set(re.findall(r'byId\("(\w+)"\)', text)) <= ids
    assert text == film_formats.page(film())


def test_a_page_has_the_view_of_every_seat_at_every_step() -> None:
    drawn = film()
    assert [len(views) for views in drawn.views] == [2] * len(drawn.frames)
    for frame, views in zip(drawn.frames, drawn.views, strict=True):
        turn = int(re.findall("What player (.) sees", frame.body)[0])
        assert views[turn].replace(f' data-seat="{turn}"', "") in frame.body
        assert [re.findall("What player (.) sees", view) for view in views] == [["0"], ["1"]]
    text = film_formats.page(drawn)
    assert text.count('data-seat="0"') == text.count('data-seat="1"') == len(drawn.frames)
    assert text.count('<option value="1">player 1') == 1
    assert '<option value="1" selected>player 1' in film_formats.page(film(player=1))


@pytest.mark.parametrize("seed", range(8))
def test_the_points_of_a_finished_game_add_up_to_its_return(seed: int) -> None:
    game, record = film_sources.load("yokai-9c-2p", 0, seed)
    score = rendering.film(game, record).score
    assert sum(points for _, points in score[:-1]) == score[-1][1] == record.returns[0]


def test_a_forfeited_game_has_no_points_to_explain() -> None:
    game, record = film_sources.load("yokai-9c-2p", 0, 4)
    cut = replace(record, actions=record.actions[:15], forfeit=Forfeit(0, "illegal", "no"))
    assert rendering.film(game, cut).score == ()


def test_names_in_the_page_stay_text() -> None:
    game, record = film_sources.load("yokai-9c-2p", 0, 4)
    evil = "<script>alert(1)</script>"
    drawn = rendering.film(game, replace(record, seats=(evil, "b")))
    for text in (film_formats.page(drawn), film_formats.animated_svg(drawn)):
        assert "alert(1)" in text
        assert "<script>alert" not in text


def test_png_files_are_joined_into_one_that_plays() -> None:
    frames = [tiny_png(bytes([0, shade, 0, 0, 255])) for shade in range(3)]
    joined = film_formats.apng(frames)
    chunks = list(film_formats._chunks(joined))
    assert [kind for kind, _ in chunks] == [
        *(b"IHDR", b"acTL", b"fcTL", b"IDAT", b"fcTL", b"fdAT", b"fcTL", b"fdAT", b"IEND")
    ]
    assert chunks[1][1] == struct.pack(">II", 3, 0)
    numbered = [struct.unpack(">I", data[:4])[0] for kind, data in chunks if kind in (b"fcTL", b"fdAT")]
    assert numbered == [0, 1, 2, 3, 4]
    delays = [struct.unpack(">HH", data[20:24]) for kind, data in chunks if kind == b"fcTL"]
    assert delays == [(1200, 1000), (1200, 1000), (4000, 1000)]
    pixels = [data[4:] if kind == b"fdAT" else data for kind, data in chunks if kind in (b"IDAT", b"fdAT")]
    assert [zlib.decompress(data)[1] for data in pixels] == [0, 1, 2]
    with pytest.raises(ValueError, match="one size and kind"):
        film_formats.apng([tiny_png(), tiny_png(width=2)])


@pytest.mark.extra("images")
def test_a_real_png_has_the_size_of_the_drawing() -> None:
    pytest.importorskip("resvg_py")
    drawn = film()
    made = film_formats.png(film_formats.svg(drawn, 3))
    assert struct.unpack(">II", made[16:24]) == (drawn.canvas.width, drawn.canvas.height)
    assert made != film_formats.png(film_formats.svg(drawn, 4))


# -------------------------------------------------------------------------------- the command


def test_a_random_game_becomes_a_page_named_after_it(cwm: Any, here: Path) -> None:
    ran = cwm("games", "render", "yokai-9c-2p", "--seed", 4)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "yokai-9c-2p, 14 frames, lost: return −4: yokai-9c-2p.html\n"
    assert (here / "yokai-9c-2p.html").read_text(encoding="utf-8") == film_formats.page(film())


def test_frames_are_files_in_a_folder_and_old_ones_go(cwm: Any, refused: Any, here: Path) -> None:
    folder = here / "frames"
    words = ("games", "render", "yokai-9c-2p", "--format", "svg", "-o", folder)
    assert cwm(*words, "--seed", 3).code == 0
    assert len(list(folder.iterdir())) == 33
    (folder / "mine.svg").write_text("kept")
    assert "holds frames already" in refused(*words, "--seed", 4).err
    assert len(list(folder.iterdir())) == 34
    assert cwm(*words, "--seed", 4, "--force").code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["mine.svg", *(f"step-{n:03}.svg" for n in range(14))]
    assert (folder / "step-005.svg").read_text(encoding="utf-8") == film_formats.svg(film(), 5)


def test_one_step_is_one_file(cwm: Any, here: Path) -> None:
    assert cwm("games", "render", "yokai-9c-2p", "--seed", 4, "--format", "svg", "--step", 5).code == 0
    assert (here / "yokai-9c-2p-005.svg").read_text(encoding="utf-8") == film_formats.svg(film(), 5)


def test_one_players_view_is_drawn(cwm: Any, here: Path) -> None:
    words = ("games", "render", "yokai-9c-2p", "--seed", 4, "--format", "animated-svg")
    assert cwm(*words, "--player", 1, "--view", "memory").code == 0
    drawn = (here / "yokai-9c-2p.svg").read_text(encoding="utf-8")
    assert drawn == film_formats.animated_svg(film(player=1, view="memory"))


def test_a_game_of_a_file_is_drawn(cwm: Any, refused: Any, here: Path) -> None:
    write(here / "games.jsonl", collect(registry.make("yokai-9c-2p"), 3, 4))
    words = ("games", "render", "games.jsonl", "--format", "animated-svg")
    assert cwm(*words, "-o", "a.svg").code == 0
    assert (here / "a.svg").read_text(encoding="utf-8") == film_formats.animated_svg(film())
    assert cwm(*words, "-o", "b.svg", "--game-index", 2).code == 0
    assert (here / "a.svg").read_bytes() != (here / "b.svg").read_bytes()
    ran = refused(*words, "--game-index", 3)
    assert (ran.code, "games.jsonl holds games 0 to 2, not game 3" in ran.err) == (2, True)


def test_a_file_whose_actions_break_the_rules_is_refused(refused: Any, here: Path) -> None:
    file = here / "games.jsonl"
    write(file, collect(registry.make("yokai-9c-2p"), 1, 4))
    file.write_text(re.sub(r"observe (\d)", "watch \\1", file.read_text(encoding="utf-8")), encoding="utf-8")
    ran = refused("games", "render", file)
    assert ran.code == 2
    assert "Game 0 of " in ran.err
    assert "cannot be played again: action 13 of yokai-9c-2p, 'watch " in ran.err


def test_a_stored_match_is_drawn_with_the_names_of_its_players(cwm: Any, refused: Any, here: Path) -> None:
    agents = ("--agent", "random:name=ann", "--agent", "random:name=bob")
    ran = cwm("arena", "yokai-9c-2p", *agents, "--deals", 1, "--workers", 1, "--run", "cup")
    assert ran.code == 0
    assert cwm("games", "render", "cup", "--game-index", 1).code == 0
    text = (here / "yokai-9c-2p.html").read_text(encoding="utf-8")
    assert {"player 0 (ann)", "player 0 (bob)"} & set(re.findall(r"player 0 \(\w+\)", text))
    ran = refused("games", "render", "cup", "--game-index", 99)
    assert (ran.code, "cup holds games 0 to " in ran.err) == (2, True)


def test_png_files_are_written_where_the_library_is(cwm: Any, here: Path, painter: list[str]) -> None:
    assert cwm("games", "render", "yokai-9c-2p", "--seed", 4, "--format", "png", "--step", 2).code == 0
    assert (here / "yokai-9c-2p-002.png").read_bytes() == tiny_png()
    assert painter[-1] == film_formats.svg(film(), 2)
    assert cwm("games", "render", "yokai-9c-2p", "--seed", 4, "--format", "apng").code == 0
    assert (here / "yokai-9c-2p.png").read_bytes() == film_formats.apng([tiny_png()] * 14)


@pytest.mark.parametrize("form", ["png", "apng"])
def test_a_missing_library_is_named_and_nothing_is_written(
    refused: Any, here: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    ran = refused("games", "render", "yokai-9c-2p", "--format", form)
    assert ran.code == 2
    assert "pip install -e '" in ran.err
    assert "[images]'" in ran.err
    assert list(here.iterdir()) == []


def test_a_machine_without_fonts_is_told(refused: Any, here: Path, painter: list[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(sys.modules["resvg_py"], "svg_to_bytes", lambda svg_string: tiny_png())
    assert "PNG files need a font" in refused("games", "render", "yokai-9c-2p", "--format", "png").err


def test_what_is_there_is_left_alone_unless_forced(cwm: Any, refused: Any, here: Path) -> None:
    words = ("games", "render", "yokai-9c-2p")
    file = here / "yokai-9c-2p.html"
    file.write_text("mine")
    ran = refused(*words)
    assert (ran.code, "yokai-9c-2p.html is there already" in ran.err) == (2, True)
    assert file.read_text() == "mine"
    assert cwm(*words, "--force").code == 0
    assert file.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nope"], 2, "There is no game 'nope'."),
        (["nope.jsonl"], 2, "nope.jsonl cannot be read"),
        (["."], 4, "holds no games"),
        (["kuhn_poker"], 2, "kuhn_poker has no drawing (yokai-9c-2p, yokai-9c-3p, "),
        (["kuhn_poker"], 2, "`cwm games show kuhn_poker` prints a game as text."),
        (["yokai-9c-2p", "--player", "2"], 2, "yokai-9c-2p has players 0 to 1, not 2."),
        (["yokai-9c-2p", "--player", "-1"], 2, "yokai-9c-2p has players 0 to 1, not -1."),
        (["yokai-9c-2p", "--view", "dark"], 2, "yokai-9c-2p has the views default, memory, not 'dark'."),
        (["yokai-9c-2p", "--seed", "4", "--format", "svg", "--step", "14"], 2, "has steps 0 to 13, not 14."),
        (["yokai-9c-2p", "--step", "1"], 2, "--step draws one frame, but html holds the whole game"),
        (["yokai-9c-2p", "--out", "a.png"], 2, "a.png ends in .png, but the format html writes .html or .htm files."),
        (["yokai-9c-2p", "--format", "gif"], 2, "'gif' is not one of 'html', 'svg', 'animated-svg', 'png', 'apng'"),
        (["yokai-9c-2p", "--out", "no/such/a.html"], 4, "no/such/a.html cannot be used"),
        (["yokai-9c-2p", "--out", "folder.html"], 2, "folder.html is a folder, but a file is to be written"),
        (["yokai-9c-2p", "--format", "svg", "--out", "file"], 2, "file is a file, but a folder is to be written"),
    ],
)
def test_what_cannot_be_drawn_is_refused(refused: Any, here: Path, words: list[str], code: int, said: str) -> None:
    (here / "folder.html").mkdir()
    (here / "file").write_text("mine")
    ran = refused("games", "render", *words)
    assert said in ran.err
    assert ran.code == code
    assert sorted(path.name for path in here.iterdir()) == ["file", "folder.html"]
