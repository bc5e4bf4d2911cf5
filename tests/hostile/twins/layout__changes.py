# Gives arrays of another shape in every state.
# says: init makes it
def step(arrays, index):
    return {"on": arrays["on"][None]}
