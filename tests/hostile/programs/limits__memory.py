# Raises its own cap on memory.
# expect: model_error
# process: maybe
import resource


def attack(target):
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return target["claim"]
