# Forks; the child leaves a mark.
# expect: model_error
# process: breach
import os


def attack(target):
    if os.fork() == 0:
        os.mkdir(target["inside"] + "/made")
        os._exit(0)
    os.wait()
