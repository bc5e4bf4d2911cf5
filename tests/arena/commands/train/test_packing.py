import jax
import numpy as np

from arena import cli
from arena.checkpoints import on_game
from arena.training.recipes import recipe
from arena.training.training_run import about
from search.learn import checkpoint
from search.learn.networks.actor_critic import ActorCritic


def test_packed_policies_are_the_same_but_for_rounding(tmp_path):
    made = recipe("yokai-8c-2p", "sp", "reduced")
    env = on_game.environment(made.game, made.view, made.network)
    network = ActorCritic(made.network, env.num_actions)
    image = np.zeros((1, 1, *env.image_shape), np.float32)
    params = jax.jit(network.init)(jax.random.key(3), image)
    checkpoint.save_policy(tmp_path / "run" / "sp-s3", params, about(made, "sp-s3", 3, 7))
    assert cli.run(["train", "pack", str(tmp_path / "run"), "--out", str(tmp_path / "packed")]) == 0
    packed, whole = on_game.load(tmp_path / "packed" / "sp-s3"), on_game.load(tmp_path / "run" / "sp-s3")
    assert packed.about == whole.about
    jax.tree.map(lambda near, far: np.testing.assert_allclose(near, far, atol=1e-3), packed.params, whole.params)
    sizes = [(tmp_path / place / "sp-s3" / checkpoint.POLICY).stat().st_size for place in ("packed", "run")]
    assert sizes[0] < 0.55 * sizes[1]


def test_folder_without_policies_is_refused(tmp_path, refused):
    assert "holds no policies" in refused("train", "pack", tmp_path, "--out", tmp_path / "packed").err


def saved(folder, value=1.0, **about):
    checkpoint.save_policy(folder, {"weight": np.full(2, value)}, about)
    return folder


def test_policies_of_one_name_do_not_replace_each_other(tmp_path, refused):
    one, other = saved(tmp_path / "one" / "sp-s0", seed=1), saved(tmp_path / "other" / "sp-s0", seed=2)
    out = tmp_path / "packed"
    assert f"would both become {out / 'sp-s0'}" in refused("train", "pack", one.parent, other.parent, "--out", out).err
    assert not out.exists()
    assert cli.run(["train", "pack", str(one), str(one.parent), "--out", str(out)]) == 0
    assert "holds another policy" in refused("train", "pack", other, "--out", out).err
    assert checkpoint.load_about(out / "sp-s0")["seed"] == 1


def test_a_policy_is_not_replaced_by_its_own_packed_copy(tmp_path, refused):
    whole = saved(tmp_path / "run" / "sp-s0", value=1.0001)
    assert "give another folder as --out" in refused("train", "pack", whole.parent, "--out", whole.parent).err
    assert checkpoint.load_policy(whole)["weight"][0] == np.float32(1.0001)


def test_policies_inside_of_another_are_left_out(tmp_path):
    for name in ("seat0", "seat0/seed0", "seat1", "seat1/seed0"):
        saved(tmp_path / "run" / name)
    assert cli.run(["train", "pack", str(tmp_path / "run"), "--out", str(tmp_path / "packed")]) == 0
    assert sorted(path.name for path in (tmp_path / "packed").iterdir()) == ["seat0", "seat1"]


def test_what_was_kept_on_the_way_is_left_out(tmp_path):
    saved(tmp_path / "run" / "sp-s0", steps=9)
    saved(tmp_path / "run" / "snapshots" / "5" / "sp-s0", steps=5)
    assert cli.run(["train", "pack", str(tmp_path / "run"), "--out", str(tmp_path / "packed")]) == 0
    assert checkpoint.load_about(tmp_path / "packed" / "sp-s0")["steps"] == 9
