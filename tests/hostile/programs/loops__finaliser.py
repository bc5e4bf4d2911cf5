# Never ends while an object is thrown away.
# expect: wall_timeout
# process: none
# limit: 0.3
class Stubborn:
    def __del__(self):
        while True:
            pass


def attack(target):
    Stubborn()
