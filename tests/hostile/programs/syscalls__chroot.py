# Changes the root folder, the first step out of many a prison.
# expect: model_error
# process: maybe
import os


def attack(target):
    os.chroot(target["outside"])
    return target["claim"]
