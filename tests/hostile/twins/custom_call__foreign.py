# Calls a function of a library by name.
# says: not allowed
def step(arrays, index):
    return {"on": jax.ffi.ffi_call("system", jax.ShapeDtypeStruct((), jnp.int32))(index)}
