# Opens a socket below the network protocols.
# expect: model_error
# process: maybe
import socket


def attack(target):
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    return target["claim"]
