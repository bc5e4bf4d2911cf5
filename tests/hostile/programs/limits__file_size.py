# Raises its own cap on the size of files.
# expect: model_error
# process: maybe
import resource


def attack(target):
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    return target["claim"]
