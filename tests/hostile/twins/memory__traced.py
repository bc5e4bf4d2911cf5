# Takes all memory while it is traced.
# says: 
def step(arrays, index):
    kept = []
    while True:
        kept.append(np.ones(10**7))
