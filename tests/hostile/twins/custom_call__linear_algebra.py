# Calls LAPACK, which comes as a custom call.
# says: 
def step(arrays, index):
    return {"on": jnp.linalg.eigh(jnp.eye(3) * index)[0].sum().astype(jnp.int32)}
