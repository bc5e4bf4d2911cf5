from pathlib import Path

import pytest

from games import extras


def test_a_checkout_is_named_by_its_place_and_by_a_point_within_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = Path(extras.__file__).resolve().parents[1]
    monkeypatch.chdir(tmp_path)
    assert extras.install("learn") == f"pip install -e '{root}[learn]'"
    monkeypatch.chdir(root)
    assert extras.install("gpu,learn") == "pip install -e '.[gpu,learn]'"


def test_an_installed_package_is_named_by_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "site" / "games" / "extras.py"))
    assert extras.install("learn") == "pip install 'code-world-models[learn]'"
