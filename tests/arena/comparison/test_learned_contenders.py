import shutil
from itertools import combinations_with_replacement

from arena.checkpoints import on_game, places
from arena.comparison import comparison, contenders
from arena.comparison.comparison import ComparisonConfig


def test_the_first_seed_of_every_method_that_ships_plays_in_its_own_view(save_policy, tmp_path, monkeypatch):
    shipped = tmp_path / "checkpoints"
    for name, view in (("op-s10", "default"), ("op-s2", "memory"), ("op-rot-s0", "default"), ("he-final", "memory")):
        folder = save_policy(name, game="yokai-8c-2p", view=view)
        shutil.move(folder, shipped / "yokai-8c-2p" / name)
    for module in (places, on_game):
        monkeypatch.setattr(module, "SHIPPED", shipped)
    players = tuple(contenders.contenders("yokai-8c-2p", ["random", "he", "op", "op-rot"], 5))
    assert [(one.name, one.spec and one.spec.model, one.view) for one in players] == [
        ("random", None, "default"),
        ("he", None, None),
        ("op", "op-s2", "memory"),
        ("op-rot", "op-rot-s0", "default"),
    ]
    given = contenders.contenders("yokai-8c-2p", ["op"], 5, policies=shipped / "yokai-8c-2p")
    assert given[0].spec.identity() == players[2].spec.identity()
    assert given[0].title == players[2].title == "Other-Play, colours and rotations (op-s2)"
    found = comparison.run(ComparisonConfig("yokai-8c-2p", players, 2), None)
    assert found.views(("op", "random")) == "memory + default"
    lineups = combinations_with_replacement(["op", "op-rot", "random"], 2)
    assert {result.lineup: result.games for result in found.table.lineups} == dict.fromkeys(lineups, 2)


def test_further_methods_are_listed_where_they_were_trained(save_policy, tmp_path):
    save_policy("sa-s1", game="yokai-8c-2p")
    listed = {one.name: one for one in contenders.contenders("yokai-8c-2p", [], 5, policies=tmp_path)}
    assert listed["sa"].title == "state-augmented Self-Play (sa-s1)"
    assert listed["op"].absent == "not trained"
    assert not {"fcp", "obl2"} & listed.keys()
    (asked,) = contenders.contenders("yokai-8c-2p", ["fcp"], 5, policies=tmp_path)
    assert asked.absent == "not trained"
