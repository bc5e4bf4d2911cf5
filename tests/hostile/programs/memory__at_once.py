# Asks for more memory than any machine has.
# expect: memory_exceeded
# process: none
def attack(target):
    return len(b"x" * 10**15)
