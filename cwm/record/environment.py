"""Where a run ran: versions of Python and of the packages, and the checkout's revision."""

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

PACKAGES = ("code-world-models", "open_spiel", "numpy", "openai", "google-genai", "jinja2")


def package_versions() -> dict[str, str]:
    """Returns versions by name; a package that is not installed is left out."""
    versions = {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def git_revision() -> str | None:
    """Returns the checkout's commit, with `+` behind it if tracked files were changed; None outside a checkout."""
    folder = Path(__file__).resolve().parents[2]
    if not (folder / ".git").exists():
        return None
    revision = _git(folder, "rev-parse", "HEAD")
    if not revision:
        return None
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return revision + ("+" if changed else "")


def _git(folder: Path, *arguments: str) -> str | None:
    # A checkout's settings may name programs for git to run: they get no keys.
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = ["git", "-C", str(folder), *arguments]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False, env=environment)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout.strip() if run.returncode == 0 else None
