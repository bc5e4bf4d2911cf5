# Sends itself a signal that ends it.
# expect: crashed model_error
# process: none
import signal


def attack(target):
    signal.raise_signal(signal.SIGTERM)
