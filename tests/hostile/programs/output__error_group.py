# Raises errors within errors.
# expect: model_error
# process: none
def attack(target):
    error = ValueError("innermost")
    for _ in range(50):
        error = BaseExceptionGroup("group", [error])
    raise error
