"""Which games AlphaZero takes; no search is made, so that mctx need not be installed."""

import importlib
import importlib.util
import sys
from types import ModuleType, SimpleNamespace

import pytest

from arena.usage import UsageError

PACKAGE = "arena.training_on_twins"


@pytest.fixture(scope="module")
def check():
    """Returns the check, beside an empty mctx where there is none; what was imported with that is forgotten."""
    if importlib.util.find_spec("mctx"):
        yield importlib.import_module(f"{PACKAGE}.zero_course").check
        return
    sys.modules["mctx"] = ModuleType("mctx")
    yield importlib.import_module(f"{PACKAGE}.zero_course").check
    for name in ("mctx", f"{PACKAGE}.zero", f"{PACKAGE}.zero_course"):
        del sys.modules[name]


def given(**changes):
    info = {"id": "g", "num_players": 2, "utility": "zero_sum", "perfect_information": True, "outcomes": (), **changes}
    form = SimpleNamespace(outcomes=info.pop("outcomes"))
    return SimpleNamespace(game_info=SimpleNamespace(**info)), SimpleNamespace(traced=SimpleNamespace(form=form))


@pytest.mark.parametrize("utility", ["zero_sum", "win_loss_draw"])
def test_games_of_opposed_interests_are_taken(check, utility):
    check(*given(utility=utility))


@pytest.mark.parametrize(
    "changes",
    [
        {"utility": "general_sum"},
        {"utility": "identical"},
        {"num_players": 3},
        {"perfect_information": False},
        {"outcomes": ("heads", "tails")},
    ],
)
def test_other_games_are_refused_in_one_sentence(check, changes):
    with pytest.raises(UsageError, match=r"g is none: take `cwm train ppo`"):
        check(*given(**changes))
