# Walks from a running generator to the frames that called it.
# expect: ok
# process: none
def attack(target):
    def frames():
        yield own.gi_frame.f_back

    own = frames()
    frame = next(own)
    depth = 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth
