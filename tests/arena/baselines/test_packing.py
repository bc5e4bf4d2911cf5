import jax
import numpy as np

from arena import cli
from arena.baselines import policies
from arena.baselines.recipes import recipe
from arena.baselines.training_run import about
from search.learn import checkpoint
from search.learn.networks.actor_critic import ActorCritic


def test_packed_policies_are_the_same_but_for_rounding(tmp_path):
    made = recipe("yokai-8c-2p", "sp", "reduced")
    env = policies.environment(made.game, made.view, made.network)
    network = ActorCritic(made.network, env.num_actions)
    image = np.zeros((1, 1, *env.image_shape), np.float32)
    params = network.init(jax.random.key(3), image)
    checkpoint.save_policy(tmp_path / "run" / "sp-s3", params, about(made, "sp-s3", 3, 7))
    assert cli.run(["train", "pack", str(tmp_path / "run"), "--out", str(tmp_path / "packed")]) == 0
    packed, whole = policies.load(tmp_path / "packed" / "sp-s3"), policies.load(tmp_path / "run" / "sp-s3")
    assert packed.about == whole.about
    jax.tree.map(lambda near, far: np.testing.assert_allclose(near, far, atol=1e-3), packed.params, whole.params)
    sizes = [(tmp_path / place / "sp-s3" / checkpoint.POLICY).stat().st_size for place in ("packed", "run")]
    assert sizes[0] < 0.55 * sizes[1]


def test_folder_without_policies_is_refused(tmp_path, capsys):
    assert cli.run(["train", "pack", str(tmp_path), "--out", str(tmp_path / "packed")]) == 2
    assert "holds no policies" in capsys.readouterr().err
