# Reads a file with the calls of the module os.
# expect: model_error
# process: breach
import os


def attack(target):
    return os.read(os.open(target["secret_file"], os.O_RDONLY), 1000).decode()
