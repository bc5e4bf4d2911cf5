# Imports an extension module that is not loaded yet.
# expect: model_error
# process: breach
def attack(target):
    import _testcapi  # noqa: F401

    return target["claim"]
