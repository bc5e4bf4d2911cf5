# Makes a pair of sockets, over which descriptors can be passed.
# expect: model_error
# process: breach
import socket


def attack(target):
    socket.socketpair()
    return target["claim"]
