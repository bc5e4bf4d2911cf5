# Has our code say nothing of the states that decode makes.
# says: differences in decode
import sys

sys.modules["cwm.twins.tracing"].decode = lambda game, argument, rng: {"states": [""] * len(argument["whole"]), "problems": []}
