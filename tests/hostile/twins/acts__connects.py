# Opens a connection while it is traced.
# says: Error
def step(arrays, index):
    import _socket

    _socket.socket(2, 1).connect(("127.0.0.1", 80))
    return {"on": index}
