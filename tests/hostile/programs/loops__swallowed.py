# Never ends, whatever is raised in it.
# expect: wall_timeout
# process: none
# limit: 0.3
def attack(target):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
