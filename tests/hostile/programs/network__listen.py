# Waits for others to connect.
# expect: model_error
# process: breach
import socket


def attack(target):
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    return target["claim"]
