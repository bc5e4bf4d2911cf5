# Fills the memory and hands it over in an exception.
# expect: memory_exceeded model_error
# process: none
def attack(target):
    kept = []
    try:
        while True:
            kept.append(bytearray(1 << 20))
    except MemoryError:
        raise ValueError(kept) from None
