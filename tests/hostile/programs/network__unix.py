# Connects to a socket in the file system.
# expect: model_error
# process: breach
import socket


def attack(target):
    socket.socket(socket.AF_UNIX).connect(target["unix"])
