# Makes the parent the owner of a pipe and has the kernel signal it.
# expect: model_error
# process: breach
import fcntl
import os


def attack(target):
    try:
        reader, writer = os.pipe()
    except PermissionError:
        reader, writer = 3, 4
    fcntl.fcntl(reader, fcntl.F_SETOWN, target["pid"])
    fcntl.fcntl(reader, 10, 12)
    fcntl.fcntl(reader, fcntl.F_SETFL, fcntl.fcntl(reader, fcntl.F_GETFL) | os.O_ASYNC)
    os.write(writer, b"x")
