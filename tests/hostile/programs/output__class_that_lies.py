# Answers with an object that says it is a list and ends the process when it is looked at.
# expect: model_error bad_value
# process: none
class Lying:
    @property
    def __class__(self):
        raise SystemExit(0)


def attack(target):
    return Lying()
