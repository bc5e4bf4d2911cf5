"""Observations as vectors at play, out of a stored model: by its schema, or by its functions in the sandbox."""

from dataclasses import replace
from pathlib import Path

import pytest

from cwm.model.bundle import SCHEMA_FILE, VECTORS_FILE, ModelBundle, ModelBundleError
from cwm.model.codec import MissingVectorsError, ProgramCodec, SchemaCodec, VectorProgramError, open_codec
from cwm.observations.schema import SchemaFormatError
from cwm.observations.values import ObservationVectorError, UnseenStructureError, VectorLengthError
from cwm.observations.vectors import infer
from cwm.sandbox.parent.host import Sandbox

INFO = {
    "id": "toy",
    "num_players": 2,
    "utility": "zero_sum",
    "min_utility": -1.0,
    "max_utility": 1.0,
    "perfect_information": True,
    "has_chance": False,
    "player_names": ["first", "second"],
}
FUNCTIONS = """
def observation_to_vector(observation, player_id):
    if observation["n"] == 7:
        return [0.5]
    return [float(player_id), observation["n"] / 8]


def vector_to_observation(vector, player_id):
    return {"n": round(vector[1] * 8)}
"""
PLAIN = ModelBundle("", None, {}, INFO, "0" * 64)
SCHEMA = infer([{"n": 0}, {"n": 8}])


def with_functions(width: int = 2) -> ModelBundle:
    return replace(PLAIN, vectors_source=FUNCTIONS, metadata={"vectors": {"width": width}})


def test_a_model_keeps_its_schema_and_writes_the_same_vectors(tmp_path: Path) -> None:
    bundle = replace(PLAIN, schema=SCHEMA.to_json())
    bundle.save(tmp_path)
    loaded = ModelBundle.load(tmp_path)
    assert loaded == bundle
    with open_codec(loaded, Sandbox()) as codec:
        assert isinstance(codec, SchemaCodec)
        assert (codec.width, codec.encode({"n": 2}, 1)) == (1, [0.25])
        assert codec.decode([0.25], 1) == {"n": 2}
        with pytest.raises(UnseenStructureError):
            codec.encode({"m": 2}, 1)


def test_a_model_keeps_its_functions_and_runs_them_in_the_sandbox(tmp_path: Path) -> None:
    bundle = with_functions()
    bundle.save(tmp_path)
    loaded = ModelBundle.load(tmp_path)
    assert loaded == bundle
    with open_codec(loaded, Sandbox()) as codec:
        assert isinstance(codec, ProgramCodec)
        assert (codec.width, codec.encode({"n": 2}, 1)) == (2, [1.0, 0.25])
        assert codec.decode([1.0, 0.25], 1) == {"n": 2}
        with pytest.raises(VectorProgramError, match="returned no list of 2 finite numbers"):
            codec.encode({"n": 7}, 0)
        with pytest.raises(VectorProgramError, match=r"observation_to_vector failed \(KeyError: 'n'\)"):
            codec.encode({}, 0)
        with pytest.raises(VectorLengthError, match="the vector has 1 numbers; these functions have 2"):
            codec.decode([0.5], 0)
        with pytest.raises(ObservationVectorError, match="not finite"):
            codec.decode([0.5, float("nan")], 0)


def test_a_model_without_vectors_says_why() -> None:
    with pytest.raises(MissingVectorsError, match="model of toy has no vectors of observations; synthesise it"):
        open_codec(PLAIN, Sandbox())
    tried = replace(PLAIN, metadata={"vectors": {"message": "nothing brings all back (.hand[3] is 'A')"}})
    with pytest.raises(MissingVectorsError, match=r"no vectors of observations: nothing brings all back \(\.hand\[3\]"):
        open_codec(tried, Sandbox())


def test_a_damaged_schema_or_changed_functions_are_noticed(tmp_path: Path) -> None:
    with pytest.raises(SchemaFormatError):
        open_codec(replace(PLAIN, schema={"version": 1}), Sandbox())
    for bundle, name in ((replace(PLAIN, schema=SCHEMA.to_json()), SCHEMA_FILE), (with_functions(), VECTORS_FILE)):
        bundle.save(tmp_path)
        path = tmp_path / name
        path.write_text(path.read_text().replace("8", "9").replace('"low": 0', '"low": 1'))
        with pytest.raises(ModelBundleError, match="one of them was changed"):
            ModelBundle.load(tmp_path)


def test_the_hash_of_a_model_without_vectors_is_as_it_was_and_files_of_others_go(tmp_path: Path) -> None:
    bundles = [PLAIN, replace(PLAIN, schema=SCHEMA.to_json()), with_functions()]
    assert len({bundle.hash for bundle in bundles}) == 3
    assert PLAIN.hash == "77a5f49cff832302c8901216daddface87fc2b9041b05cc710555e6877f0934c"
    for bundle in reversed(bundles):
        bundle.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "program.py"]
    assert '"vectors"' not in (tmp_path / "model.json").read_text()
