# Asks the kernel for the network's settings.
# expect: model_error
# process: breach
import socket


def attack(target):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    return target["claim"]
