"""Lets `python -m cwm` be the command `cwm`."""

import importlib

import cwm

if __name__ == "__main__":
    cwm.put_ours_first()
    importlib.import_module("arena.__main__").main()
