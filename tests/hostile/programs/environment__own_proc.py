# Reads the environment that the kernel remembers of its own process.
# expect: model_error
# process: none
def attack(target):
    return open("/proc/self/environ").read()
