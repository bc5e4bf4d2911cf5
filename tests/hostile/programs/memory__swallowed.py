# Takes ever more memory and goes on where there is none.
# expect: wall_timeout memory_exceeded
# process: none
# limit: 1
def attack(target):
    kept = []
    while True:
        try:
            kept.append(bytearray(1 << 20))
        except MemoryError:
            continue
