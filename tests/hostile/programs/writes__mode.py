# Opens a file of the user to everybody.
# expect: model_error
# process: breach
import os


def attack(target):
    os.chmod(target["inside"] + "/kept", 0o777)
