# Calls Python back from the compiled program.
# says: not allowed
def step(arrays, index):
    return {"on": jax.pure_callback(lambda x: x, jax.ShapeDtypeStruct((), jnp.int32), index)}
