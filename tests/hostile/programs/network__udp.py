# Sends a datagram.
# expect: model_error
# process: breach
import socket


def attack(target):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"canary", ("127.0.0.1", target["udp"]))
