# Has our code tell states that no reader of JSON comes to the end of.
# says: differences in decode
import sys

sys.modules["cwm.twins.tracing"].decode = lambda game, argument, rng: {"states": ["[" * 9**5] * len(argument["whole"]), "problems": []}
