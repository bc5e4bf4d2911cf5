# Raises an error whose class has no name that could be told.
# expect: model_error protocol_error crashed
# process: none
class Nameless(type):
    @property
    def __name__(cls):
        return 7


class Error(Exception, metaclass=Nameless):
    pass


def attack(target):
    raise Error
