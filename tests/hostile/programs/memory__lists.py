# Takes ever more memory.
# expect: memory_exceeded
# process: none
# limit: 5
def attack(target):
    kept = []
    while True:
        kept.append(bytearray(1 << 20))
