# Answers with a list that never ends.
# expect: wall_timeout memory_exceeded
# process: none
# limit: 0.5
class Endless(list):
    def __iter__(self):
        while True:
            yield 0


def attack(target):
    return Endless()
