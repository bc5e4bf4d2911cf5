# Fills the memory while it is loaded.
# expect: memory_exceeded
# process: none
KEPT = [0] * 10**10
