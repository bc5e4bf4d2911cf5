# Opens a socket to the machine's host.
# expect: model_error
# process: maybe
import socket


def attack(target):
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    return target["claim"]
