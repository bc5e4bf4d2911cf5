# Starts a thread with the module underneath threading.
# expect: model_error
# process: breach
import _thread


def attack(target):
    _thread.start_new_thread(print, ())
    return target["claim"]
