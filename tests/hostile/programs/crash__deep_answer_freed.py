# Builds a value so deep that freeing it recurses.
# expect: ok crashed
# process: none
# limit: 5
def attack(target):
    value = ()
    for _ in range(10**6):
        value = (value,)
    del value
    return "freed"
