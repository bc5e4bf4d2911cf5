# Compares values that go through more pairs than there are atoms.
# expect: wall_timeout
# process: none
# limit: 0.3
def attack(target):
    left, right = [], []
    for _ in range(60):
        left, right = [left, left], [right, right]
    return left == right
