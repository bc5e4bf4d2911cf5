# Reads a file while it is traced.
# says: PermissionError
def step(arrays, index):
    open("/etc/passwd").read()
    return {"on": index}
