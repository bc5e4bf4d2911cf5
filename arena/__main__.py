"""Starts `cwm`: apart from `cli`, so that Ctrl-C is answered while the rest is still being loaded."""

import importlib
import sys


def main() -> None:
    """Runs the command of this process."""
    try:
        importlib.import_module("arena.cli").main()
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
