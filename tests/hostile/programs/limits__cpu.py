# Raises its own cap on CPU time.
# expect: model_error
# process: maybe
import resource


def attack(target):
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return target["claim"]
