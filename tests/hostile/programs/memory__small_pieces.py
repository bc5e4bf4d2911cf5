# Takes all memory in the smallest pieces.
# expect: memory_exceeded
# process: none
# limit: 10
def attack(target):
    kept = None
    while True:
        kept = [kept]
