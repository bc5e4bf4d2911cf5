import pytest

from arena.papers.yokai.published import rows
from arena.papers.yokai.published.results import TABLES
from arena.papers.yokai.published.rows import COLUMNS, TableError
from arena.training.environments import training_env
from arena.training.recipes import RecipeError, recipe
from games.batched.other_play import OtherPlay
from games.batched.yokai.graph import YokaiGraphEnv

EVERY = [(table, row) for table in TABLES for row in rows.rows(table)]


@pytest.mark.parametrize(("table", "row"), EVERY, ids=lambda part: getattr(part, "folder", str(part)))
def test_every_row_has_all_figures_and_a_recipe_that_can_be_built(table, row):
    assert len(row.self_play) == len(COLUMNS)
    assert len(row.cross_play) == (0 if table == 5 else len(COLUMNS))
    made = row.recipe()
    assert made.ppo.total_steps == 1_000_000_000
    assert made.memory == row.memory
    if row.method != "obl":
        env = training_env(made)
        assert isinstance(env, OtherPlay) == row.method.startswith("op")
        assert isinstance(env, YokaiGraphEnv) == (row.network.get("encoder") in ("gatv2", "gcn", "relation"))


def test_rows_of_different_trainings_have_different_folders():
    folders = {}
    for _, row in EVERY:
        folders.setdefault(row.folder, []).append(row.recipe())
    assert all(made == group[0] for group in folders.values() for made in group)
    assert len(folders) == len({str(group[0]) for group in folders.values()})


@pytest.mark.parametrize(
    ("method", "players", "entropy", "decay", "environments"),
    [
        ("sp", 2, 0.05, 0.95, 1024),
        ("op", 2, 0.05, 0.95, 1024),
        ("he", 2, 0.07, 0.85, 1024),
        ("obl", 2, 0.05, 0.95, 256),
        ("sp", 3, 0.01, 0.95, 1024),
        ("op", 4, 0.01, 0.95, 1024),
    ],
)
def test_settings_are_those_that_the_tables_of_the_paper_used(method, players, entropy, decay, environments):
    ppo = recipe(f"yokai-9c-{players}p", method).ppo
    assert (ppo.entropy, ppo.gae_decay, ppo.environments) == (entropy, decay, environments)
    assert (ppo.learning_rate, ppo.max_grad_norm, ppo.discount, ppo.steps) == (3e-4, 0.5, 0.99, 128)
    assert (ppo.epochs, ppo.minibatches, ppo.value_coefficient, ppo.value_clip) == (4, 4, 0.5, 0.2)
    assert ppo.anneal_learning_rate


def test_unknown_tables_methods_scales_and_levels_are_refused():
    with pytest.raises(TableError, match="not 7"):
        rows.rows(7)
    with pytest.raises(RecipeError, match="method 'qmix'"):
        recipe("yokai-9c-2p", "qmix")
    with pytest.raises(RecipeError, match="scale 'tiny'"):
        recipe("yokai-9c-2p", "sp", "tiny")
    with pytest.raises(RecipeError, match="levels 1 to 5, not 6"):
        recipe("yokai-9c-2p", "obl", level=6)
