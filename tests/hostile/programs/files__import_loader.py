# Reads a file with the loader of modules.
# expect: model_error
# process: breach
from importlib.machinery import SourceFileLoader


def attack(target):
    return SourceFileLoader("x", target["secret_file"]).get_data(target["secret_file"]).decode()
