"""Lets `python -m cwm` be the command `cwm`."""

import importlib

if __name__ == "__main__":
    importlib.import_module("arena.__main__").main()
