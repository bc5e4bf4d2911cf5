# Prints without end.
# expect: wall_timeout
# process: none
# limit: 0.3
def attack(target):
    while True:
        print("x" * 1000)
