# Calls Python back in order.
# says: 
def step(arrays, index):
    from jax.experimental import io_callback

    return {"on": io_callback(lambda x: x, jax.ShapeDtypeStruct((), jnp.int32), index, ordered=True)}
