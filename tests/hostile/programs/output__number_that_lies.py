# Answers with a number that shows itself as something else.
# expect: ok
# process: none
class Lying(int):
    def __repr__(self):
        return "NaN"

    __str__ = __repr__


def attack(target):
    return Lying(7)
