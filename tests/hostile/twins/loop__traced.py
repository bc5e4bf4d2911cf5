# Never ends while it is traced.
# says: Timeout
def step(arrays, index):
    while True:
        pass
