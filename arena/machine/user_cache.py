"""Where things are kept that can be made again, for all runs of a user."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Returns `$XDG_CACHE_HOME/cwm` or `~/.cache/cwm`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cwm"
