# Connects with the module underneath socket.
# expect: model_error
# process: breach
import _socket


def attack(target):
    _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM).connect(("127.0.0.1", target["tcp"]))
