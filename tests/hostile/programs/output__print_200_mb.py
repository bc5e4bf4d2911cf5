# Prints without measure.
# expect: ok
# process: none
# limit: 20
def attack(target):
    line = "x" * (1 << 20)
    for _ in range(200):
        print(line)
    return "printed"
