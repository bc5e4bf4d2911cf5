# Puts something else in the place of our code, which then fails as if through a fault of ours.
# says:
import sys

sys.modules["cwm.twins.tracing"].tables = int
