# Connects to a socket that lies in no file system.
# expect: model_error
# process: breach
import socket


def attack(target):
    socket.socket(socket.AF_UNIX).connect("\0" + target["abstract"])
