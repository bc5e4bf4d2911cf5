# Makes a number that fills the memory.
# expect: memory_exceeded
# process: none
def attack(target):
    return (1 << 10**11) & 1
