# Has our code answer in another form.
# says: the form that was asked for
import sys

sys.modules["cwm.twins.tracing"].trace = lambda game, argument, rng: {"layout": [["on", "object", [-1]]], "init": "", "step": "", "look": ""}
