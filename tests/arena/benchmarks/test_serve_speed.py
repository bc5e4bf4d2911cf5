"""The times of the pages are taken from a server that plays and shows games."""

import pytest

from arena.benchmarks import serve_speed


@pytest.mark.slow
@pytest.mark.extra("web")
def test_a_server_of_its_own_is_asked_for_moves_and_for_a_long_game(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    monkeypatch.setattr(serve_speed, "TABLES", (("tic_tac_toe", "random", 1),))
    found = {item.name: item for item in serve_speed.run()}
    assert set(found) == {
        "serve/tic_tac_toe/move/median",
        "serve/tic_tac_toe/move/95 %",
        "serve/10,000 moves/open",
        "serve/10,000 moves/jump to the end",
        "serve/10,000 moves/window/median",
        "serve/10,000 moves/window/95 %",
        "serve/10,000 moves/window/size",
    }
    assert all(item.value is not None and item.value > 0 for item in found.values())
    assert found["serve/tic_tac_toe/move/median"].note.endswith(" moves beside random")
