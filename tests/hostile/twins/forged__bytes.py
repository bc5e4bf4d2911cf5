# Has our code give a text whose bytes are broken.
# says: half of a surrogate pair
import sys

sys.modules["cwm.twins.tracing"]._text = lambda function, kinds: "\x00\udcff module \ud800"
