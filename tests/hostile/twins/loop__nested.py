# Loops in loops.
# says: 
def step(arrays, index):
    function = lambda x: x * 3 + 1
    for _ in range(6):
        inner = function
        function = lambda x, inner=inner: lax.fori_loop(0, 1000, lambda number, y: inner(y), x)
    return {"on": function(index)}
