# Raises an error whose text ends the process.
# expect: model_error
# process: none
class ExitingError(Exception):
    def __str__(self):
        raise SystemExit(0)


def attack(target):
    raise ExitingError
