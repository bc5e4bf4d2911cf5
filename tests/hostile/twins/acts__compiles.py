# Runs something at once, which needs executable memory.
# says: 
TABLE = jnp.arange(3) + 1
