# Raises an error whose text never ends.
# expect: wall_timeout
# process: none
# limit: 0.3
class EndlessError(Exception):
    def __str__(self):
        while True:
            pass


def attack(target):
    raise EndlessError
