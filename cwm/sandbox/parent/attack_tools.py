"""What the attacks of `cwm.sandbox.parent.attacks` use, loaded into their workers before these lock themselves.

A worker that is locked can import nothing more: an attack would end there, and show nothing of the system call.
"""

import _thread  # noqa: F401
import ctypes  # noqa: F401
import resource  # noqa: F401
import socket
import subprocess  # noqa: F401

# Encodings and parts of the module that are found at the first use.
socket.getaddrinfo("127.0.0.1", 0)
