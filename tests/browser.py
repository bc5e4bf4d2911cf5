"""Where the browser of the tests is; loads nothing that an extra brings."""

import shutil
from typing import Final

import pytest

CHROMIUM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
"""Its program; None where there is none. `.ci/browser` looks for the same names."""
MISSING: Final = "no Chromium on this machine: apt-get install chromium"


def needed() -> str:
    """Returns the browser's program; a test is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip(MISSING)
    return CHROMIUM
