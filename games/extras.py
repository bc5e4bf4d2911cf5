"""How optional packages are installed, in the words that fit where this code lies."""

from pathlib import Path


def install(extras: str) -> str:
    """Returns the command that installs extras, e.g. `learn` or `gpu,learn`: from a checkout, into that checkout."""
    root = Path(__file__).resolve().parents[1]
    if (root / "pyproject.toml").is_file():
        place = "." if root == Path.cwd() else str(root)
        return f"pip install -e '{place}[{extras}]'"
    return f"pip install 'code-world-models[{extras}]'"
