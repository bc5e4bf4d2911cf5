"""Loaded into workers before they lock themselves: what an attack needs, so that the attack itself is tested."""

import _posixshmem  # noqa: F401
import atexit  # noqa: F401
import concurrent.futures.thread  # noqa: F401
import ctypes  # noqa: F401
import fcntl  # noqa: F401
import gc  # noqa: F401
import importlib.machinery  # noqa: F401
import os  # noqa: F401
import pathlib  # noqa: F401
import platform
import resource  # noqa: F401
import signal  # noqa: F401
import socket  # noqa: F401
import subprocess  # noqa: F401
import tempfile  # noqa: F401
import threading  # noqa: F401
import time  # noqa: F401

# Asks the kernel, once.
platform.machine()
