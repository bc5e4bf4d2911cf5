# Counts for ever in whole numbers.
# expect: wall_timeout memory_exceeded
# process: none
# limit: 0.3
def attack(target):
    return 7 ** (10**8) % 10
