# Starts a thread.
# expect: model_error
# process: breach
import threading


def attack(target):
    thread = threading.Thread(target=print)
    thread.start()
    thread.join()
    return target["claim"]
