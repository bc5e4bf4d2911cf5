import json
from pathlib import Path
from typing import Any

import pytest

from arena.papers.cwm.published import games
from arena.papers.cwm.tables import syntheses
from arena.papers.cwm.tables.matches import Deals
from arena.papers.cwm.tables.places import Place
from arena.papers.cwm.tables.settings import Scale
from arena.runs import folder
from cwm.model.bundle import ModelBundle, describe
from games import registry
from games.api import state_to_json

SCALE = Scale(4, 1, 2, 30)
PROGRAM = Path(__file__).resolve().parents[4] / "data" / "hidden_programs" / "kuhn_poker.py"
GOOD = PROGRAM.read_text(encoding="utf-8").replace("last_is_terminal)", "last_is_terminal=False)")
CRASHING = GOOD.replace(
    '    over = betting in (["Pass", "Pass"]',
    '    assert betting[:2] != ["Pass", "Bet"]\n    over = betting in (["Pass", "Pass"]',
)
"""Fails after a pass and a bet."""


def ignore(done: int, total: int) -> None:
    pass


def places(root: Path, game: str, count: int) -> list[Place]:
    return [Place(root, game, "tree", seed) for seed in range(count)]


def test_nothing_is_rejected_where_nothing_is_hidden(tmp_path: Path) -> None:
    found = places(tmp_path, "tic_tac_toe", 5)
    assert syntheses.choose(found, SCALE, 0, 1, ignore) == found
    assert syntheses.work("tic_tac_toe", 5) == 0.0


def test_nothing_is_rejected_of_two(tmp_path: Path) -> None:
    found = places(tmp_path, "leduc_poker", 2)
    assert syntheses.choose(found, SCALE, 0, 1, ignore) == found


def test_stored_verdict_stands(tmp_path: Path) -> None:
    (tmp_path / "leduc_poker").mkdir()
    standings = [{"name": str(seed), "rejected": seed == 1} for seed in range(3)]
    path = tmp_path / "leduc_poker" / syntheses.RESULT_FILE.format(variant="tree")
    path.write_text(json.dumps({"standings": standings}), encoding="utf-8")
    found = syntheses.choose(places(tmp_path, "leduc_poker", 3), SCALE, 0, 1, ignore)
    assert [place.seed for place in found] == [0, 2]
    assert syntheses.rejected(tmp_path, "leduc_poker", "closed") is None


def synthesised(place: Place, source: str, accuracy: float) -> None:
    """Writes what a finished synthesis leaves behind, as far as it is looked at."""
    game = registry.make(place.game)
    initial = state_to_json(game, game.initial_state())
    ModelBundle(source, None, initial, describe(game.info), "rules").save(place.folder / "model")
    made: dict[str, Any] = dict.fromkeys(folder.RESULT_KEYS) | {"synthesis": {"accuracy": {"transition": accuracy}}}
    (place.folder / folder.RESULT_FILE).write_text(json.dumps(made), encoding="utf-8")


def test_model_that_breaks_is_rejected_once_and_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(games.BY_ID, "kuhn_poker", games.BY_ID["leduc_poker"])
    found = places(tmp_path, "kuhn_poker", 3)
    for place, source in zip(found, (GOOD, CRASHING, GOOD), strict=True):
        synthesised(place, source, 1.0 if source == GOOD else 0.8)
    chosen = syntheses.choose(found, Scale(10, 1, 8, 30), 0, 1, ignore)
    assert [place.seed for place in chosen] == [0, 2]
    again = syntheses.choose(found, SCALE, 0, 1, lambda done, total: pytest.fail("nothing is played again"))
    assert again == chosen


@pytest.mark.parametrize(("seed", "count"), [(0, 3), (1, 2), (4, 2)])
def test_deals_are_shared_among_syntheses(tmp_path: Path, seed: int, count: int) -> None:
    place = Place(tmp_path, "leduc_poker", "tree", seed)
    assert Deals.shared(7, [0, 1, 4], place, 0).count == count


def test_each_synthesis_meets_deals_of_its_own(tmp_path: Path) -> None:
    seeds = {Deals.shared(6, [0, 1], place, 0).seed for place in places(tmp_path, "leduc_poker", 2)}
    assert len(seeds) == 2


def test_every_synthesis_that_plays_has_a_deal(tmp_path: Path) -> None:
    assert Deals.shared(1, [0, 1], Place(tmp_path, "leduc_poker", "tree", 1), 0).count == 1
