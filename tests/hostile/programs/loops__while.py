# Never ends.
# expect: wall_timeout
# process: none
# limit: 0.3
def attack(target):
    while True:
        pass
