# Raises an error with a text of ten megabytes.
# expect: model_error
# process: none
def attack(target):
    raise ValueError("x" * 10_000_000)
