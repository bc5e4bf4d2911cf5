# Calls that double thirty times.
# says: 
def doubled(function):
    return jax.jit(lambda x: function(function(x) + 1))


def step(arrays, index):
    function = lambda x: x + 1
    for _ in range(30):
        function = doubled(function)
    return {"on": function(index)}
