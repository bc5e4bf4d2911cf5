# Connects to a server.
# expect: model_error
# process: breach
import socket


def attack(target):
    socket.create_connection(("127.0.0.1", target["tcp"]), timeout=1)
