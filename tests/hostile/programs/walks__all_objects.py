# Looks through every object of the process for something secret.
# expect: ok
# process: none
import gc


def attack(target):
    texts = [value for value in gc.get_objects() if isinstance(value, dict)]
    found = [text for space in texts for text in list(space.values()) if isinstance(text, (str, bytes))]
    return [str(text) for text in found if "CANARY" in str(text) and str(text) != target["claim"]][:20]
