# Holds a constant of many megabytes.
# says: 
def step(arrays, index):
    return {"on": jnp.asarray(np.arange(10**7, dtype=np.int32))[index]}
