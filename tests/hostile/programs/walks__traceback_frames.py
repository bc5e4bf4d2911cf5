# Walks from a traceback to the frames of the worker itself, and takes what they hold.
# expect: ok
# process: none
def attack(target):
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame
    names = []
    while frame is not None:
        names += [f"{name}={value!r}"[:200] for name, value in frame.f_locals.items() if name != "target"]
        frame = frame.f_back
    return [name for name in names if target["claim"] not in name]
