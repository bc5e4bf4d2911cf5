# Makes a temporary file, wherever there is room.
# expect: model_error
# process: none
import tempfile


def attack(target):
    tempfile.TemporaryDirectory()
    return target["claim"]
