# Loads a constant that the compiler would work out to gigabytes.
# expect: ok model_error memory_exceeded
# process: none
def attack(target):
    return len((0,) * 4096 * 4096 * 4)
